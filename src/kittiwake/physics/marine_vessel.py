"""A vessel with all six motions, in calm water and in waves.

Equations of motion after Fossen (2021), "Handbook of Marine Craft Hydrodynamics and Motion
Control", 2nd edition, equation 6.1 with 10.1 for a current::

    M nu' + C_RB(nu) nu + C_A(nu_r) nu_r + D(nu_r) nu_r + g(eta) = tau + M_A nu_w'

nu: velocity and body rates; nu_w: velocity of the water, current and orbital motion together;
nu_r = nu - nu_w. M = M_RB + M_A: mass and diagonal added mass, which the place of the center of
mass couples (``mass_matrix.py``); C nu: the turning of the momenta (Kirchhoff), which does no work,
with the Munk moment in it. D: linear damping of each motion, quadratic damping of yaw, and
cross-flow drag (``cross_flow.py``). g: ``hydrostatics.py``. tau: two propellers (``propeller.py``),
the air with ``X = -k_x u_a |u_a|``, ``Y = -k_y v_a |v_a|`` at the center of mass, and a payload.
The wind is that at the height of the deck over the water, wherever waves have lifted the hull.

In waves the hull lies on the surface under it: g takes height and slopes relative to it, nu_w has
the water's orbital velocity, roll and pitch are damped relative to the surface's turning, and the
undisturbed pressure pushes with the displaced mass times the water's acceleration
(Froude-Krylov), at the center of mass. The slopes' couple is in g.

The body's origin is Fossen's: midships on the centreline in the waterline, not the center of mass.
The water at rest is at the world's zero. Fossen's numbers are in NED and FRD. Here body axes are
FLU: y and z, the moments about them and yaw change their signs, so that all diagonal derivatives
stay as they are, places change y and z, and products of inertia xy and xz change theirs. To the
left is port: the left propeller pushes the bow to the right.

Out of the water, by the buoyancy that is left, nothing of the water acts and none moves along.

Valid for small heels at moderate speeds. Neglected: radiation memory, diffraction, planing, flow of
one hull at the other, what changes with the draft under a payload other than sinkage and trim.
"""

import math
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion, box_of
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.commands import PropellerSpeeds
from kittiwake.core.errors import ScenarioError
from kittiwake.core.fusion_barrier import fusion_barrier
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.limit import Limit
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.physics.cross_flow import CrossFlow
from kittiwake.physics.flight import FlightState, Outside, advanced, begun, pushed
from kittiwake.physics.hydrostatics import Afloat, Hydrostatics
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, Phase
from kittiwake.physics.mass_matrix import MassMatrix, MovedMass, Rows
from kittiwake.physics.propeller import Propeller
from kittiwake.physics.rigid_body import Pose, Twist, pose_rate
from kittiwake.world.surroundings import Surroundings

UPRIGHT = Bounds(low=0.0, high=math.pi / 2.0, open_below=True)
# of a lag's time, at most; all integrators are stable below
LAG_OF_A_STEP = 2.0

Shafts = tuple[Real, Real]


class MarineMotion(eqx.Module):
    """How the vessel moves and how fast its shafts turn, left and right."""

    twist: Twist
    speeds_radps: Shafts


class MarineVesselState(eqx.Module):
    """A vessel at a tick."""

    flight: FlightState


class Damping(eqx.Module):
    """Forces and moments against the motion through the water, each by its own velocity.

    Surge, sway and heave; roll, pitch and yaw; and the moment by the square of the yaw rate.
    """

    linear_body_kgps: Annotated[Vec3, NOT_NEGATIVE]
    angular_body_nms: Annotated[Vec3, NOT_NEGATIVE]
    yaw_nms2: Annotated[Real, NOT_NEGATIVE] = 0.0

    def wrench(self, velocity_body_mps: Vec3, omega: Vec3) -> Wrench:
        """About the body's origin."""
        torque = omega.scaled(self.angular_body_nms)
        more = self.yaw_nms2 * jnp.abs(omega.z) * omega.z
        return Wrench(
            -velocity_body_mps.scaled(self.linear_body_kgps),
            Vec3(-torque.x, -torque.y, -torque.z - more),
        )


class Stream(eqx.Module):
    """The water around a vessel, in body axes: its velocity, acceleration and turning."""

    velocity_body_mps: Vec3
    acceleration_body_mps2: Vec3
    angular_velocity_body_radps: Vec3


class MarineVessel(AbstractDynamics):
    """A hull with mass, added mass, damping, restoring, and a propeller at either side.

    ``payload_kg`` is a point mass on top of ``mass_kg``, under which the hull sinks and trims.
    """

    command_type: ClassVar[type] = PropellerSpeeds
    floats: ClassVar[bool] = True

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
    integrator: IntegratorName = eqx.field(static=True, default="rk4")

    def __check_init__(self) -> None:
        """Refuses a payload that turns the vessel over."""
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
                f"payload_body_m: {self.payload_kg:g} kg at {height:g} m over the waterline turn "
                f"the vessel over; must be below {highest / self.payload_kg:.3g} m"
            )
            raise ValueError(message)

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> dict[str, Any]:
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
        stiffness = self.water_density_kgpm3 * gravity_mps2 * self.hydrostatics.waterplane_area_m2
        swing_radps = math.sqrt(float(stiffness) / float(self._matrix().masses_kg.z))
        lags = [float(propeller.lag_s) for propeller in self._propellers]
        slowest_hz = max(swing_radps, 1.0 / (LAG_OF_A_STEP * min(lags)))
        if float(rate_hz) < slowest_hz:
            message = (
                f"time.rate_hz: {float(rate_hz):g} is too low for a vessel that heaves with "
                f"{swing_radps:.3g} rad/s and whose shafts lag by {min(lags):g} s; must be at "
                f"least {slowest_hz:.3g}"
            )
            raise ScenarioError(message)

    @override
    def check_start(self, start: Start) -> None:
        for name in ("roll_rad", "pitch_rad"):
            angle = float(getattr(start, name))
            if abs(angle) > float(self.max_tilt_rad):
                message = (
                    f"{name}: {angle:.3g} is beyond max_tilt_rad, {float(self.max_tilt_rad):.3g}, "
                    "where the vessel counts as capsized; begin with less"
                )
                raise ScenarioError(message)

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> MarineVesselState:
        pose, twist = begun(start)
        zero = jnp.zeros_like(jnp.asarray(pose.position_world_m.x, float))
        motion = MarineMotion(twist, (zero, zero))
        rate = self._twist_rate(pose, motion, surroundings).velocity_world_mps
        felt = rate + Vec3(0.0, 0.0, surroundings.gravity_mps2)
        force = pose.q_world_from_body.inverse().rotate(felt)
        return MarineVesselState(FlightState(Phase(pose, motion), force, None))

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
        began = state.flight.phase

        def derivative(
            phase: Phase[Pose, MarineMotion], elapsed_s: Real
        ) -> Phase[Pose, MarineMotion]:
            del elapsed_s
            return self.derivative(phase, command, surroundings)

        phase = INTEGRATORS[self.integrator].step(derivative, began, dt_s)
        outside = Outside(surroundings, None)
        before, after = began.motion.twist, phase.motion.twist
        return MarineVesselState(advanced(phase, before, after, outside, dt_s))

    def derivative(
        self,
        phase: Phase[Pose, MarineMotion],
        command: PropellerSpeeds,
        surroundings: Surroundings,
    ) -> Phase[Pose, MarineMotion]:
        """Rates of change of pose and motion."""
        pose, motion = phase.configuration, phase.motion
        left, right = motion.speeds_radps
        rates = (
            self.left_propeller.speed_rate_radps2(left, command.left_radps),
            self.right_propeller.speed_rate_radps2(right, command.right_radps),
        )
        twist_rate = fusion_barrier(self._twist_rate, pose, motion, surroundings)
        return Phase(pose_rate(pose, motion.twist), MarineMotion(twist_rate, rates))

    @override
    def kinematics(self, state: MarineVesselState) -> Kinematics:
        return state.flight.kinematics(state.flight.phase.motion.twist)

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
            meets="all but the ground",
            center_of_mass_body_m=(float(center[0]), float(center[1]), float(center[2])),
            added=(level_kg, level_kg, *map(float, (added.z, about.x, about.y, about.z))),
        )

    def _with_payload(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, center of mass and inertia about that, as plain numbers."""
        parts = [(float(self.mass_kg), self.center_of_mass_body_m, self.inertia_kgm2.matrix)]
        parts += [(float(self.payload_kg), self.payload_body_m, np.zeros((3, 3)))]
        mass_kg = sum(mass for mass, _, _ in parts)
        places = [np.array([place.x, place.y, place.z], float) for _, place, _ in parts]
        center = sum(m * p for (m, _, _), p in zip(parts, places, strict=True)) / mass_kg
        ways = [place - center for place in places]
        inertia = sum(
            own + mass * (way @ way * np.eye(3) - np.outer(way, way))
            for (mass, _, own), way in zip(parts, ways, strict=True)
        )
        return mass_kg, np.asarray(center), np.asarray(inertia)

    @override
    def apply_contact(self, state: MarineVesselState, carried: ContactMotion) -> MarineVesselState:
        pose, motion = state.flight.phase.configuration, state.flight.phase.motion
        q, half_s = pose.q_world_from_body, 0.5 * carried.dt_s
        along = q.inverse().rotate(carried.impulse_world_ns)
        slope, turning = self._matrix().rates(Wrench(along, carried.impulse_body_nms))
        gained = q.rotate(slope)
        # as by a force that is the same all over the step
        moved = Pose(
            pose.position_world_m + gained * half_s,
            (q * Quaternion.from_rotation_vector(turning * half_s)).normalized(),
        )
        twist = Twist(
            motion.twist.velocity_world_mps + gained,
            motion.twist.angular_velocity_body_radps + turning,
        )
        force = carried.motion.specific_force_body_mps2
        later = Phase(moved, MarineMotion(twist, motion.speeds_radps))
        return MarineVesselState(FlightState(later, force, None))

    @override
    def actuators(self, state: MarineVesselState) -> dict[str, Real]:
        left, right = state.flight.phase.motion.speeds_radps
        return {"left_radps": left, "right_radps": right}

    @override
    def limits(self, state: MarineVesselState) -> tuple[Limit, ...]:
        euler = state.flight.phase.configuration.q_world_from_body.to_euler()
        key, largest = "parameters.max_tilt_rad", self.max_tilt_rad
        return (
            Limit("roll_rad", key, euler.roll_rad, -largest, largest),
            Limit("pitch_rad", key, euler.pitch_rad, -largest, largest),
        )

    @property
    def _propellers(self) -> tuple[Propeller, Propeller]:
        return self.left_propeller, self.right_propeller

    @property
    def _solid(self) -> tuple[MovedMass, MovedMass]:
        """The bare vessel and its payload."""
        i, m, mp = self.inertia_kgm2, self.mass_kg, self.payload_kg
        rows = Rows(Vec3(i.xx, i.xy, i.xz), Vec3(i.xy, i.yy, i.yz), Vec3(i.xz, i.yz, i.zz))
        point = Rows.diagonal(Vec3.zero())
        return (
            MovedMass(Vec3(m, m, m), self.center_of_mass_body_m, rows),
            MovedMass(Vec3(mp, mp, mp), self.payload_body_m, point),
        )

    def _added(self, wet: Real) -> MovedMass:
        """The water that moves along."""
        turning = Rows.diagonal(self.added_inertia_body_kgm2 * wet)
        return MovedMass(self.added_mass_body_kg * wet, Vec3.zero(), turning)

    def _matrix(self, wet: Real = 1.0) -> MassMatrix:
        return MassMatrix.of((*self._solid, self._added(wet)))

    def _twist_rate(self, pose: Pose, motion: MarineMotion, surroundings: Surroundings) -> Twist:
        q, twist = pose.q_world_from_body, motion.twist
        inverse = q.inverse()
        v, omega = inverse.rotate(twist.velocity_world_mps), twist.angular_velocity_body_radps
        stream, afloat = _stream(inverse, surroundings), self._afloat(pose, inverse, surroundings)
        wrench = (
            self._inertia(v, omega, stream, afloat.wet)
            + self._in_water(v, omega, motion.speeds_radps, stream, afloat.wet)
            + self._restoring(afloat, surroundings.gravity_mps2)
            + self._outside(pose, v - inverse.rotate(surroundings.wind_world_mps), surroundings)
        )
        slope, turning = self._matrix(afloat.wet).rates(wrench)
        rate = Twist(q.rotate(slope + omega.cross(v)), turning)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), rate)

    def _inertia(self, v: Vec3, omega: Vec3, stream: Stream, wet: Real) -> Wrench:
        """What turns the momenta along, and what the water's own acceleration does."""
        hull, payload = (part.reaction(v, omega) for part in self._solid)
        added = self._added(wet)
        # of the water's velocity in the axes that turn with the body
        rate = stream.acceleration_body_mps2 - omega.cross(stream.velocity_body_mps)
        drawn = Wrench(rate.scaled(added.masses_kg), Vec3.zero())
        displaced_kg = (self.mass_kg + self.payload_kg) * wet
        pressure = Wrench(stream.acceleration_body_mps2 * displaced_kg, Vec3.zero())
        relative = added.reaction(v - stream.velocity_body_mps, omega)
        return hull + payload + relative + drawn + pressure.at(self.center_of_mass_body_m)

    def _in_water(
        self, v: Vec3, omega: Vec3, speeds_radps: Shafts, stream: Stream, wet: Real
    ) -> Wrench:
        """Drag and thrust."""
        through = v - stream.velocity_body_mps
        whole = self.damping.wrench(through, omega - stream.angular_velocity_body_radps)
        for propeller, speed in zip(self._propellers, speeds_radps, strict=True):
            whole = whole + propeller.wrench(speed)
        if self.cross_flow is not None:
            density = self.water_density_kgpm3
            force, moment = self.cross_flow.force_and_moment(through.y, omega.z, density)
            whole = whole + Wrench(Vec3(0.0, force, 0.0), Vec3(0.0, 0.0, moment))
        return Wrench(whole.force_body_n * wet, whole.torque_body_nm * wet)

    def _restoring(self, afloat: Afloat, gravity_mps2: Real) -> Wrench:
        """Of buoyancy and weight, and of the payload's weight."""
        weight_n, center = self.mass_kg * gravity_mps2, self.center_of_mass_body_m
        load = Wrench(afloat.up_body * (-self.payload_kg * gravity_mps2), Vec3.zero())
        hull = self.hydrostatics.wrench(afloat, weight_n, center)
        return hull + load.at(self.payload_body_m)

    def _outside(self, pose: Pose, airspeed_body_mps: Vec3, surroundings: Surroundings) -> Wrench:
        """Of the air, and of what pushes."""
        u, v = airspeed_body_mps.x, airspeed_body_mps.y
        force = Vec3(
            -self.air_drag_surge_kgpm * u * jnp.abs(u),
            -self.air_drag_sway_kgpm * v * jnp.abs(v),
            0.0,
        )
        whole = Wrench(force, Vec3.zero()) + pushed(pose, surroundings)
        return whole.at(self.center_of_mass_body_m)

    def _afloat(self, pose: Pose, inverse: Quaternion, surroundings: Surroundings) -> Afloat:
        water, gravity = surroundings.water, surroundings.gravity_mps2
        up = inverse.rotate(Vec3(0.0, 0.0, 1.0))
        height, out = pose.position_world_m.z, up
        if water is not None:
            height = height - water.height_world_m
            out = inverse.rotate(Vec3(-water.slope_east, -water.slope_north, 1.0))
        pressure = self.water_density_kgpm3 * gravity
        return self.hydrostatics.afloat(height, out, up, self.mass_kg * gravity, pressure)


def _stream(inverse: Quaternion, surroundings: Surroundings) -> Stream:
    """The current, and the motion of the waves on top of it."""
    water = surroundings.water
    current = surroundings.current_world_mps
    if water is None:
        return Stream(inverse.rotate(current), Vec3.zero(), Vec3.zero())
    # a surface that rises faster in the east turns about the south
    turning = Vec3(water.slope_north_rate_ps, -water.slope_east_rate_ps, 0.0)
    return Stream(
        inverse.rotate(current + water.velocity_world_mps),
        inverse.rotate(water.acceleration_world_mps2),
        inverse.rotate(turning),
    )


def _plain(tree: Any) -> bool:
    """Whether all numbers are known when the vessel is built."""
    return all(isinstance(leaf, int | float) for leaf in jax.tree.leaves(tree))
