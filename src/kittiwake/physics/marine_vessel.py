"""Vessel with six degrees of freedom, in calm water and in waves.

Equations of motion after Fossen (2021), "Handbook of Marine Craft Hydrodynamics and Motion
Control", 2nd edition, equation 6.1 with 10.1 for a current::

    M nu' + C_RB(nu) nu + C_A(nu_r) nu_r + D(nu_r) nu_r + g(eta) = tau + M_A nu_w'

nu: velocity and body rates; nu_w: velocity of the water, the sum of current and orbital motion;
nu_r = nu - nu_w. M = M_RB + M_A: mass and diagonal added mass, coupled by the position of the
center of mass (``mass_matrix.py``). C nu: Coriolis and centripetal terms (Kirchhoff), which do no
work and include the Munk moment. D: linear damping of each motion, quadratic damping of yaw, and
cross-flow drag (``cross_flow.py``). g: ``hydrostatics.py``. tau: two propellers (``propeller.py``),
the air with ``X = -k_x u_a |u_a|``, ``Y = -k_y v_a |v_a|`` at the center of mass, and a payload.
The wind is that at the height of the deck above calm water, also where waves have lifted the hull.

In waves the hull follows the water surface below it: g uses height and slopes relative to it, nu_w
includes the orbital velocity of the water, roll and pitch are damped relative to the rotation of
the surface, and the pressure of the undisturbed wave gives the displaced mass times the water's
acceleration (Froude-Krylov), at the center of mass. The moment of the slopes is in g.

The body's origin is Fossen's: midships on the centerline in the waterline, not the center of mass.
The calm water surface is at zero height in the world. Fossen's parameters are in NED and FRD. Here
body axes are FLU: y and z, the moments about them and yaw change their signs. Thus all diagonal
derivatives stay the same, positions change the signs of y and z, and products of inertia those of
xy and xz. The left propeller (port) turns the bow to the right.

Hydrodynamic forces and added mass vanish as the hull leaves the water, with its buoyancy.

Valid for small heels at moderate speeds. Neglected: radiation memory, diffraction, planing, flow of
one hull at the other, effects of the payload's draft other than sinkage and trim.
"""

import math
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion, box_of
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.commands import PropellerSpeeds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.fusion_barrier import fusion_barrier
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.limit import Limit
from kittiwake.core.parameters import Parameters
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import ContinuousState, StateRates, in_body_axes
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.time_constant import TimeConstant
from kittiwake.physics.cross_flow import CrossFlow
from kittiwake.physics.hydrostatics import Flotation, Hydrostatics
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.physics.mass_matrix import MassMatrix, Matrix3, OffsetMass
from kittiwake.physics.propeller import Propeller
from kittiwake.physics.rigid_body import Pose, Twist, pose_rate
from kittiwake.physics.rigid_body_dynamics import (
    ExternalForces,
    RigidBodyState,
    next_rigid_body_state,
    pose_and_twist,
    region_wrench,
)
from kittiwake.physics.simulated_time_constant import simulated_time_constant
from kittiwake.pytree import Module, field
from kittiwake.world.surroundings import Surroundings

UPRIGHT = Bounds(low=0.0, high=math.pi / 2.0, open_below=True)
# largest step in time constants of the shafts' lag; all integrators are stable below
LAG_OF_A_STEP = 2.0

Shafts = tuple[Real, Real]


class MarineVelocities(Module):
    """Twist of the vessel, and shaft speeds, left and right."""

    twist: Twist
    speeds_radps: Shafts


class MarineVesselState(Module):
    """State of the vessel at a tick."""

    rigid_body: RigidBodyState


class Damping(Module):
    """Damping of the motion through the water, diagonal.

    Attributes:
        linear_body_kgps: linear damping of surge, sway and heave.
        angular_body_nms: linear damping of roll, pitch and yaw.
        yaw_nms2: quadratic damping of yaw.
    """

    linear_body_kgps: Annotated[Vec3, NOT_NEGATIVE]
    angular_body_nms: Annotated[Vec3, NOT_NEGATIVE]
    yaw_nms2: Annotated[Real, NOT_NEGATIVE] = 0.0

    def wrench(self, velocity_body_mps: Vec3, omega: Vec3) -> Wrench:
        """Return the damping wrench about the body's origin."""
        torque = omega.scaled(self.angular_body_nms)
        more = self.yaw_nms2 * jnp.abs(omega.z) * omega.z
        return Wrench(
            -velocity_body_mps.scaled(self.linear_body_kgps),
            Vec3(-torque.x, -torque.y, -torque.z - more),
        )


class WaterFlow(Module):
    """Velocity, acceleration and rotation of the water around a vessel, in body axes."""

    velocity_body_mps: Vec3
    acceleration_body_mps2: Vec3
    angular_velocity_body_radps: Vec3


class MarineVessel(AbstractDynamics[MarineVesselState, PropellerSpeeds]):
    """Vessel with added mass, damping, hydrostatics and a propeller on either side.

    ``payload_kg`` is a point mass in addition to ``mass_kg``; it changes sinkage and trim.

    Attributes:
        mass_kg: mass without the payload.
        center_of_mass_body_m: center of mass from the origin.
        inertia_kgm2: inertia about the center of mass.
        added_mass_body_kg: added mass along each axis.
        added_inertia_body_kgm2: added inertia about each axis.
        payload_kg: mass of the payload.
        payload_body_m: position of the payload.
        air_drag_surge_kgpm: k_x.
        air_drag_sway_kgpm: k_y.
        water_density_kgpm3: density of the water.
        max_tilt_rad: roll or pitch beyond which it is lost.
        integrator: integrator of the motion.
    """

    command_type: ClassVar[type] = PropellerSpeeds
    is_vessel: ClassVar[bool] = True

    mass_kg: Annotated[Real, POSITIVE]
    center_of_mass_body_m: Vec3
    inertia_kgm2: Inertia
    added_mass_body_kg: Annotated[Vec3, NOT_NEGATIVE]
    added_inertia_body_kgm2: Annotated[Vec3, NOT_NEGATIVE]
    hydrostatics: Hydrostatics
    damping: Damping
    left_propeller: Propeller
    right_propeller: Propeller
    cross_flow: CrossFlow | None = None
    payload_kg: Annotated[Real, NOT_NEGATIVE] = 0.0
    payload_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    air_drag_surge_kgpm: Annotated[Real, NOT_NEGATIVE] = 0.0
    air_drag_sway_kgpm: Annotated[Real, NOT_NEGATIVE] = 0.0
    water_density_kgpm3: Annotated[Real, POSITIVE] = 1025.0
    max_tilt_rad: Annotated[Real, UPRIGHT] = math.pi / 3.0
    deck: Deck | None = None
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    integrator: IntegratorName = field(static=True, default="rk4")

    def __post_init__(self) -> None:
        """Raise ValueError for a payload with which the vessel is unstable."""
        hydrostatics, height = self.hydrostatics, self.payload_body_m.z
        heights = (
            hydrostatics.transverse_metacentric_height_m,
            hydrostatics.longitudinal_metacentric_height_m,
        )
        if not _plain((self.mass_kg, self.payload_kg, height, heights)):
            return
        highest = self.mass_kg * min(heights)
        if not self.payload_kg * height < highest:
            message = (
                f"payload_body_m: {self.payload_kg:g} kg at {height:g} m over the waterline "
                f"capsize the vessel; must be below {highest / self.payload_kg:.3g} m"
            )
            raise ValueError(message)

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        damping, left = self.damping, self.left_propeller
        return {
            **super().vehicle_parameters(gravity_mps2),
            "mass_kg": self.mass_kg,
            "surge_mass_kg": self._matrix().masses_kg.x,
            "yaw_inertia_kgm2": self._matrix().inertia_kgm2.z.z,
            "surge_damping_kgps": damping.linear_body_kgps.x,
            "yaw_damping_nms": damping.angular_body_nms.z,
            "yaw_damping_nms2": damping.yaw_nms2,
            "propeller_arm_m": 0.5 * (left.place_body_m.y - self.right_propeller.place_body_m.y),
            "ahead_ns2": left.ahead_ns2,
            "astern_ns2": left.astern_ns2,
            "max_ahead_radps": left.max_ahead_radps,
            "max_astern_radps": left.max_astern_radps,
        }

    @property
    @override
    def air_height_m(self) -> Real:
        return 0.5 * self.size_body_m.z if self.deck is None else self.deck.center_body_m.z

    @property
    @override
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        return {
            "left_radps": self.left_propeller.speed_range_radps,
            "right_radps": self.right_propeller.speed_range_radps,
        }

    @override
    def check_rate(self, rate_hz: Real, gravity_mps2: Real) -> None:
        heave_radps = self._heave_radps(gravity_mps2)
        lags = [float(propeller.lag_s) for propeller in self._propellers]
        slowest_hz = max(heave_radps, 1.0 / (LAG_OF_A_STEP * min(lags)))
        if float(rate_hz) < slowest_hz:
            message = (
                f"time.rate_hz: {float(rate_hz):g} is too low for a heave frequency of "
                f"{heave_radps:.3g} rad/s and shafts with a lag of {min(lags):g} s; must be at "
                f"least {slowest_hz:.3g}"
            )
            raise ScenarioError(message)

    @override
    def time_constants(self, rate_hz: Real, gravity_mps2: Real) -> dict[str, TimeConstant]:
        shortest_s = {
            "shafts": min(float(propeller.lag_s) for propeller in self._propellers),
            "heave": 1.0 / self._heave_radps(gravity_mps2),
        }
        return {
            part: simulated_time_constant(self.integrator, own_s, rate_hz)
            for part, own_s in shortest_s.items()
        }

    def _heave_radps(self, gravity_mps2: Real) -> float:
        stiffness = self.water_density_kgpm3 * gravity_mps2 * self.hydrostatics.waterplane_area_m2
        return math.sqrt(float(stiffness) / float(self._matrix().masses_kg.z))

    @override
    def check_start(self, start: Start) -> None:
        for name in ("roll_rad", "pitch_rad"):
            angle = float(getattr(start, name))
            if abs(angle) > float(self.max_tilt_rad):
                message = (
                    f"{name}: {angle:.3g} is beyond max_tilt_rad, {float(self.max_tilt_rad):.3g}, "
                    "where the vessel counts as capsized; write a smaller angle"
                )
                raise ScenarioError(message)

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> MarineVesselState:
        pose, twist = pose_and_twist(start)
        zero = jnp.zeros_like(jnp.asarray(pose.position_world_m.x, float))
        velocities = MarineVelocities(twist, (zero, zero))
        rate = self._twist_rate(pose, velocities, surroundings).velocity_world_mps
        specific_force_world = rate + Vec3(0.0, 0.0, surroundings.gravity_mps2)
        force = pose.q_world_from_body.inverse().rotate(specific_force_world)
        return MarineVesselState(RigidBodyState(MechanicalState(pose, velocities), force, None))

    @override
    def step(
        self,
        state: MarineVesselState,
        command: PropellerSpeeds,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> MarineVesselState:
        del key
        began = state.rigid_body.mechanical_state

        def derivative(
            mechanical_state: MechanicalState[Pose, MarineVelocities], elapsed_s: Real
        ) -> MechanicalState[Pose, MarineVelocities]:
            del elapsed_s
            return self.derivative(mechanical_state, command, surroundings)

        mechanical_state = INTEGRATORS[self.integrator].step(derivative, began, dt_s)
        external = ExternalForces(surroundings, None)
        before, after = began.velocities.twist, mechanical_state.velocities.twist
        return MarineVesselState(
            next_rigid_body_state(mechanical_state, before, after, external, dt_s)
        )

    @override
    def steady_actuators(self, command: PropellerSpeeds) -> dict[str, Real]:
        return {"left_radps": command.left_radps, "right_radps": command.right_radps}

    @override
    def rates(
        self, state: ContinuousState, command: PropellerSpeeds, surroundings: Surroundings
    ) -> StateRates:
        pose, twist = pose_and_twist(state.motion)
        shafts = (state.actuators["left_radps"], state.actuators["right_radps"])
        mechanical_state = MechanicalState(pose, MarineVelocities(twist, shafts))
        later = self.derivative(mechanical_state, command, surroundings).velocities
        return StateRates(
            turning_body_radps=twist.angular_velocity_body_radps,
            velocity_rate_body_mps2=in_body_axes(later.twist.velocity_world_mps, state.motion),
            angular_acceleration_body_radps2=later.twist.angular_velocity_body_radps,
            actuators=dict(zip(state.actuators, later.speeds_radps, strict=True)),
        )

    def derivative(
        self,
        mechanical_state: MechanicalState[Pose, MarineVelocities],
        command: PropellerSpeeds,
        surroundings: Surroundings,
    ) -> MechanicalState[Pose, MarineVelocities]:
        """Return the rates of change of pose and velocities."""
        pose, velocities = mechanical_state.configuration, mechanical_state.velocities
        left, right = velocities.speeds_radps
        rates = (
            self.left_propeller.speed_rate_radps2(left, command.left_radps),
            self.right_propeller.speed_rate_radps2(right, command.right_radps),
        )
        twist_rate = fusion_barrier(self._twist_rate, pose, velocities, surroundings)
        return MechanicalState(
            pose_rate(pose, velocities.twist), MarineVelocities(twist_rate, rates)
        )

    @override
    def kinematics(self, state: MarineVesselState) -> Kinematics:
        return state.rigid_body.kinematics(state.rigid_body.mechanical_state.velocities.twist)

    @override
    def collider(self) -> Collider:
        added, about = self.added_mass_body_kg, self.added_inertia_body_kgm2
        level_kg = 0.5 * float(added.x + added.y)
        mass_kg, center, inertia = self._with_payload()
        return Collider(
            mass_kg=mass_kg,
            inertia_kgm2=inertia,
            solids=box_of(self.size_body_m),
            deck=None if self.deck is None else self.deck.solid(),
            collides_with="all but the ground",
            center_of_mass_body_m=(float(center[0]), float(center[1]), float(center[2])),
            added=(level_kg, level_kg, *map(float, (added.z, about.x, about.y, about.z))),
        )

    def _with_payload(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Return mass, center of mass and inertia about it with the payload, as plain numbers."""
        parts = [(float(self.mass_kg), self.center_of_mass_body_m, self.inertia_kgm2.matrix)]
        parts += [(float(self.payload_kg), self.payload_body_m, np.zeros((3, 3)))]
        mass_kg = sum(mass for mass, _, _ in parts)
        places = [np.array([place.x, place.y, place.z], float) for _, place, _ in parts]
        center = sum(m * p for (m, _, _), p in zip(parts, places, strict=True)) / mass_kg
        offsets = [place - center for place in places]
        inertia = sum(
            own + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
            for (mass, _, own), offset in zip(parts, offsets, strict=True)
        )
        return mass_kg, np.asarray(center), np.asarray(inertia)

    @override
    def apply_contact(self, state: MarineVesselState, contact: ContactMotion) -> MarineVesselState:
        pose, velocities = (
            state.rigid_body.mechanical_state.configuration,
            state.rigid_body.mechanical_state.velocities,
        )
        q, half_s = pose.q_world_from_body, 0.5 * contact.dt_s
        along = q.inverse().rotate(contact.impulse_world_ns)
        slope, turning = self._matrix().rates(Wrench(along, contact.impulse_body_nms))
        gained = q.rotate(slope)
        # as for a force that is constant over the step
        moved = Pose(
            pose.position_world_m + gained * half_s,
            (q * Quaternion.from_rotation_vector(turning * half_s)).normalized(),
        )
        twist = Twist(
            velocities.twist.velocity_world_mps + gained,
            velocities.twist.angular_velocity_body_radps + turning,
        )
        force = contact.motion.specific_force_body_mps2
        later = MechanicalState(moved, MarineVelocities(twist, velocities.speeds_radps))
        return MarineVesselState(RigidBodyState(later, force, None))

    @override
    def actuators(self, state: MarineVesselState) -> dict[str, Real]:
        left, right = state.rigid_body.mechanical_state.velocities.speeds_radps
        return {"left_radps": left, "right_radps": right}

    @override
    def limits(self, state: MarineVesselState) -> tuple[Limit, ...]:
        euler = state.rigid_body.mechanical_state.configuration.q_world_from_body.to_euler()
        key, largest = "parameters.max_tilt_rad", self.max_tilt_rad
        return (
            Limit("roll_rad", key, euler.roll_rad, -largest, largest),
            Limit("pitch_rad", key, euler.pitch_rad, -largest, largest),
        )

    @property
    def _propellers(self) -> tuple[Propeller, Propeller]:
        return self.left_propeller, self.right_propeller

    @property
    def _solid(self) -> tuple[OffsetMass, OffsetMass]:
        """Masses of the bare vessel and of its payload."""
        i, m, mp = self.inertia_kgm2, self.mass_kg, self.payload_kg
        rows = Matrix3(Vec3(i.xx, i.xy, i.xz), Vec3(i.xy, i.yy, i.yz), Vec3(i.xz, i.yz, i.zz))
        point = Matrix3.diagonal(Vec3.zero())
        return (
            OffsetMass(Vec3(m, m, m), self.center_of_mass_body_m, rows),
            OffsetMass(Vec3(mp, mp, mp), self.payload_body_m, point),
        )

    def _added(self, wet: Real) -> OffsetMass:
        """Return the added mass of the water."""
        turning = Matrix3.diagonal(self.added_inertia_body_kgm2 * wet)
        return OffsetMass(self.added_mass_body_kg * wet, Vec3.zero(), turning)

    def _matrix(self, wet: Real = 1.0) -> MassMatrix:
        return MassMatrix.of((*self._solid, self._added(wet)))

    def _twist_rate(
        self, pose: Pose, velocities: MarineVelocities, surroundings: Surroundings
    ) -> Twist:
        q, twist = pose.q_world_from_body, velocities.twist
        inverse = q.inverse()
        v, omega = inverse.rotate(twist.velocity_world_mps), twist.angular_velocity_body_radps
        water = _water_flow(inverse, surroundings)
        flotation = self._flotation(pose, inverse, surroundings)
        wrench = (
            self._inertia(v, omega, water, flotation.wet)
            + self._hydrodynamics(v, omega, velocities.speeds_radps, water, flotation.wet)
            + self._restoring(flotation, surroundings.gravity_mps2)
            + self._external(pose, v - inverse.rotate(surroundings.wind_world_mps), surroundings)
        )
        slope, turning = self._matrix(flotation.wet).rates(wrench)
        rate = Twist(q.rotate(slope + omega.cross(v)), turning)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), rate)

    def _inertia(self, v: Vec3, omega: Vec3, water: WaterFlow, wet: Real) -> Wrench:
        """Return the Coriolis and centripetal wrench, and that of the water's acceleration."""
        hull, payload = (part.reaction(v, omega) for part in self._solid)
        added = self._added(wet)
        # rate of change of the water's velocity in the rotating body axes
        rate = water.acceleration_body_mps2 - omega.cross(water.velocity_body_mps)
        added_inertia = Wrench(rate.scaled(added.masses_kg), Vec3.zero())
        displaced_kg = (self.mass_kg + self.payload_kg) * wet
        pressure = Wrench(water.acceleration_body_mps2 * displaced_kg, Vec3.zero())
        relative = added.reaction(v - water.velocity_body_mps, omega)
        return hull + payload + relative + added_inertia + pressure.at(self.center_of_mass_body_m)

    def _hydrodynamics(
        self, v: Vec3, omega: Vec3, speeds_radps: Shafts, water: WaterFlow, wet: Real
    ) -> Wrench:
        """Return the wrench of damping, cross-flow drag and propellers."""
        through = v - water.velocity_body_mps
        whole = self.damping.wrench(through, omega - water.angular_velocity_body_radps)
        for propeller, speed in zip(self._propellers, speeds_radps, strict=True):
            whole = whole + propeller.wrench(speed)
        if self.cross_flow is not None:
            density = self.water_density_kgpm3
            force, moment = self.cross_flow.force_and_moment(through.y, omega.z, density)
            whole = whole + Wrench(Vec3(0.0, force, 0.0), Vec3(0.0, 0.0, moment))
        return Wrench(whole.force_body_n * wet, whole.torque_body_nm * wet)

    def _restoring(self, flotation: Flotation, gravity_mps2: Real) -> Wrench:
        """Return the wrench of buoyancy and weight, including the payload."""
        weight_n, center = self.mass_kg * gravity_mps2, self.center_of_mass_body_m
        load = Wrench(flotation.up_body * (-self.payload_kg * gravity_mps2), Vec3.zero())
        hull = self.hydrostatics.wrench(flotation, weight_n, center)
        return hull + load.at(self.payload_body_m)

    def _external(self, pose: Pose, airspeed_body_mps: Vec3, surroundings: Surroundings) -> Wrench:
        """Return the wrench of air drag and of external forces."""
        u, v = airspeed_body_mps.x, airspeed_body_mps.y
        force = Vec3(
            -self.air_drag_surge_kgpm * u * jnp.abs(u),
            -self.air_drag_sway_kgpm * v * jnp.abs(v),
            0.0,
        )
        whole = Wrench(force, Vec3.zero()) + region_wrench(pose, surroundings)
        return whole.at(self.center_of_mass_body_m)

    def _flotation(self, pose: Pose, inverse: Quaternion, surroundings: Surroundings) -> Flotation:
        water, gravity = surroundings.water, surroundings.gravity_mps2
        up = inverse.rotate(Vec3(0.0, 0.0, 1.0))
        height, out = pose.position_world_m.z, up
        if water is not None:
            height = height - water.height_world_m
            out = inverse.rotate(Vec3(-water.slope_east, -water.slope_north, 1.0))
        pressure = self.water_density_kgpm3 * gravity
        return self.hydrostatics.flotation(height, out, up, self.mass_kg * gravity, pressure)


def _water_flow(inverse: Quaternion, surroundings: Surroundings) -> WaterFlow:
    """Return the flow of current and waves in body axes."""
    water = surroundings.water
    current = surroundings.current_world_mps
    if water is None:
        return WaterFlow(inverse.rotate(current), Vec3.zero(), Vec3.zero())
    # a surface that rises faster in the east rotates about the south
    turning = Vec3(water.slope_north_rate_ps, -water.slope_east_rate_ps, 0.0)
    return WaterFlow(
        inverse.rotate(current + water.velocity_world_mps),
        inverse.rotate(water.acceleration_world_mps2),
        inverse.rotate(turning),
    )


def _plain(tree: ArrayTree) -> bool:
    """Return True if all numbers are known when the vessel is built."""
    return all(isinstance(leaf, int | float) for leaf in jax.tree.leaves(tree))
