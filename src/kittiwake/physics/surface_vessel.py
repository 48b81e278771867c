"""Surface vessel: surge, sway and yaw, with seakeeping in waves.

Maneuvering equations after Fossen (2011), "Handbook of Marine Craft Hydrodynamics and Motion
Control", sections 6.3-6.5 and 8.3, with the origin in the center of mass::

    M nu_r' + C(nu_r) nu_r + D(nu_r) nu_r = tau,    nu_r = nu - nu_c
    x' = u cos psi - v sin psi,   y' = u sin psi + v cos psi,   psi' = r

nu = (u, v, r): velocity over ground to the front and to the left, yaw rate; nu_c: the current in
body axes, whose components change within a step only by the rotation of the body. M: mass and added
mass; C: Coriolis and centripetal terms (Kirchhoff), which do no work. D: linear derivatives of each
hull and quadratic resistance in surge. tau: propeller, rudder, and the air with
``X = -k_x u_a |u_a|``, ``Y = -k_y v_a |v_a|`` of the velocity relative to the wind. All derivatives
keep their signs when y and z change sign, so that textbook values for y to the right and z down
apply to the FLU body unchanged.

In waves the velocity of the water at the surface is added to the current, and its acceleration a_w
to that of the vessel: M a_w is the force by the pressure of the undisturbed wave (Froude-Krylov:
m a_w, which is the weight times the slope) and by the added mass. Heave, roll and pitch follow the
water under the hulls as in ``seakeeping``; u, v and r remain horizontal. On calm water the vessel
is level at its height.

Valid at slowly changing speeds near the one for which the linear derivatives are given. Neglected:
yaw moments by waves, second-order drift, effects of tilt and heave on the horizontal motion, flow
of one hull at another, propeller wash at the rudder, shallow water. Derivatives from slender-body
theory already contain the destabilizing moment of added mass: specify one of the two.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import Collider, ContactMotion, box_of
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.core.commands import RudderThrust
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import LEVEL_BODY, ContinuousState, StateRates
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.physics.hull import AddedMass, HullDerivatives
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.physics.rudder import Rudder
from kittiwake.physics.seakeeping import Seakeeping, SeakeepingState
from kittiwake.pytree import Module, field
from kittiwake.world.surroundings import Surroundings

AT_LEAST_ONE = Bounds(low=1.0)
# motions, along world axes and about body axes, that contact cannot change
AFLOAT = (False, False, True, True, True, False)


class VesselPose(Module):
    """Horizontal position and yaw, which is not wrapped."""

    x_world_m: Real
    y_world_m: Real
    yaw_rad: Real


class VesselVelocities(Module):
    """Velocity over ground forward and to the left, yaw rate, and rudder angle."""

    surge_mps: Real
    sway_mps: Real
    yaw_rate_radps: Real
    rudder_rad: Real


class SurfaceVesselState(Module):
    """State at a tick; thrust and specific force are those of the last step.

    ``height_world_m`` is the height on calm water; ``seakeeping`` is None on calm water.
    """

    mechanical_state: MechanicalState[VesselPose, VesselVelocities]
    height_world_m: Real
    thrust_n: Real
    specific_force_body_mps2: Vec3
    seakeeping: SeakeepingState | None = None


class SurfaceVessel(AbstractDynamics[SurfaceVesselState, RudderThrust]):
    """Maneuvering vessel with one rudder and thrust along its axis.

    It floats at its initial height; in waves this is relative to the water surface.

    Attributes:
        mass_kg: mass.
        yaw_inertia_kgm2: moment of inertia in yaw.
        max_thrust_n: largest thrust, ahead and astern.
        air_drag_surge_kgpm: k_x.
        air_drag_sway_kgpm: k_y.
        water_density_kgpm3: density of the water.
        hulls: number of hulls, by which the derivatives are multiplied.
        integrator: integrator of the motion.
    """

    command_type: ClassVar[type] = RudderThrust
    is_vessel: ClassVar[bool] = True
    body_states: ClassVar[tuple[str, ...]] = LEVEL_BODY

    mass_kg: Annotated[Real, POSITIVE]
    yaw_inertia_kgm2: Annotated[Real, POSITIVE]
    hull: HullDerivatives
    rudder: Rudder
    max_thrust_n: Annotated[Real, POSITIVE]
    added_mass: AddedMass = AddedMass()
    air_drag_surge_kgpm: Annotated[Real, NOT_NEGATIVE] = 0.0
    air_drag_sway_kgpm: Annotated[Real, NOT_NEGATIVE] = 0.0
    water_density_kgpm3: Annotated[Real, POSITIVE] = 998.0
    hulls: Annotated[Integer, AT_LEAST_ONE] = field(static=True, default=1)
    deck: Deck | None = None
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    integrator: IntegratorName = field(static=True, default="rk4")
    ride: Seakeeping = Seakeeping()

    def __post_init__(self) -> None:
        """Raise ValueError if added mass makes the mass matrix of sway and yaw indefinite."""
        numbers = self._lateral_mass()
        if all(isinstance(number, int | float) for number in numbers):
            sway, coupling, yaw = numbers
            if not sway * yaw > coupling * coupling:
                message = (
                    f"added_mass.sway_yaw_kgm: {coupling:g} is not allowed; its square must be "
                    f"below {sway * yaw:g}, mass times inertia with added mass"
                )
                raise ValueError(message)

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        return {
            **super().vehicle_parameters(gravity_mps2),
            "max_rudder_rad": self.rudder.max_angle_rad,
            "max_thrust_n": self.max_thrust_n,
        }

    @property
    @override
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        angle, thrust = self.rudder.max_angle_rad, self.max_thrust_n
        return {"rudder_rad": (-angle, angle), "thrust_n": (-thrust, thrust)}

    @override
    def check_start(self, start: Start) -> None:
        check_level(start)

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> SurfaceVesselState:
        position, velocity = start.position_world_m, start.velocity_world_mps
        yaw = start.euler_world_from_body.yaw_rad
        surge, sway = _in_body(velocity, yaw)
        rate = start.angular_velocity_body_radps.z
        zero = jnp.zeros_like(surge)
        mechanical_state = MechanicalState(
            VesselPose(position.x, position.y, yaw), VesselVelocities(surge, sway, rate, zero)
        )
        rates = self.derivative(mechanical_state, zero, zero, surroundings).velocities
        specific_force = Vec3(
            rates.surge_mps - rate * sway,
            rates.sway_mps + rate * surge,
            surroundings.gravity_mps2,
        )
        if surroundings.water is None:
            return SurfaceVesselState(mechanical_state, position.z, zero, specific_force)
        seakeeping = self.ride.init(surroundings.water, yaw, _velocity_world(mechanical_state))
        specific_force = _tilted(specific_force, seakeeping)
        return SurfaceVesselState(mechanical_state, position.z, zero, specific_force, seakeeping)

    @override
    def step(
        self,
        state: SurfaceVesselState,
        command: RudderThrust,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> SurfaceVesselState:
        del key
        began = state.mechanical_state
        angle, rate = self.rudder.start_and_rate(
            began.velocities.rudder_rad, command.rudder_rad, dt_s
        )
        steered = replace(began, velocities=replace(began.velocities, rudder_rad=angle))

        def derivative(
            mechanical_state: MechanicalState[VesselPose, VesselVelocities], elapsed_s: Real
        ) -> MechanicalState[VesselPose, VesselVelocities]:
            del elapsed_s
            return self.derivative(mechanical_state, rate, command.thrust_n, surroundings)

        ended = INTEGRATORS[self.integrator].step(derivative, steered, dt_s)
        gained = _velocity_world(ended) - _velocity_world(began)
        forward, left = _in_body(gained / dt_s, ended.configuration.yaw_rad)
        specific_force = Vec3(forward, left, surroundings.gravity_mps2)
        later = SurfaceVesselState(ended, state.height_world_m, command.thrust_n, specific_force)
        if state.seakeeping is None or surroundings.water is None:
            return later
        yaw = began.configuration.yaw_rad
        seakeeping = self.ride.next(state.seakeeping, surroundings.water, yaw, dt_s)
        rising = (seakeeping.heave.rate - state.seakeeping.heave.rate) / dt_s
        specific_force = _tilted(replace(specific_force, z=specific_force.z + rising), seakeeping)
        return replace(later, specific_force_body_mps2=specific_force, seakeeping=seakeeping)

    @override
    def states_without_rates(self) -> dict[str, str]:
        return {
            "rudder_rad": "follows its command within a step, as small changes do",
            "seakeeping": "on calm water",
        }

    @override
    def rates(
        self, state: ContinuousState, command: RudderThrust, surroundings: Surroundings
    ) -> StateRates:
        # small changes of the rudder angle take less than a step: it is the commanded one
        motion, rudder_rad = state.motion, command.rudder_rad
        velocity, rate = motion.velocity_body_mps, motion.angular_velocity_body_radps.z
        place, yaw = motion.position_world_m, motion.euler_world_from_body.yaw_rad
        mechanical_state = MechanicalState(
            VesselPose(place.x, place.y, yaw),
            VesselVelocities(velocity.x, velocity.y, rate, rudder_rad),
        )
        later = self.derivative(mechanical_state, 0.0, command.thrust_n, surroundings).velocities
        return StateRates(
            turning_body_radps=Vec3(0.0, 0.0, rate),
            velocity_rate_body_mps2=Vec3(later.surge_mps, later.sway_mps, 0.0),
            angular_acceleration_body_radps2=Vec3(0.0, 0.0, later.yaw_rate_radps),
            actuators={},
        )

    def derivative(
        self,
        mechanical_state: MechanicalState[VesselPose, VesselVelocities],
        rudder_rate_radps: Real,
        thrust_n: Real,
        surroundings: Surroundings,
    ) -> MechanicalState[VesselPose, VesselVelocities]:
        """Return the rates of change of pose and velocities."""
        yaw, velocities = mechanical_state.configuration.yaw_rad, mechanical_state.velocities
        r = velocities.yaw_rate_radps
        current_u, current_v = _in_body(_flow(surroundings), yaw)
        u, v = velocities.surge_mps - current_u, velocities.sway_mps - current_v
        x, y, n = self._water_forces(u, v, r, velocities.rudder_rad)
        air_x, air_y = self._air_forces(velocities, yaw, surroundings.wind_world_mps)
        # momenta: M nu_r; they give the term C(nu_r) nu_r
        sway_mass, coupling, yaw_inertia = self._lateral_mass()
        p_u = (self.mass_kg + self.added_mass.surge_kg) * u
        p_v = sway_mass * v + coupling * r
        external_x, external_y, external_n = _external_forces(surroundings, yaw)
        surge_force = x + air_x + external_x + thrust_n + r * p_v
        sway_force = y + air_y + external_y - r * p_u
        yaw_moment = n + external_n + v * p_u - u * p_v
        determinant = sway_mass * yaw_inertia - coupling * coupling
        velocity = _velocity_world(mechanical_state)
        # last terms: rate of change of a constant current in the rotating body axes
        surge_gain = surge_force / (self.mass_kg + self.added_mass.surge_kg) + r * current_v
        sway_gain = (yaw_inertia * sway_force - coupling * yaw_moment) / determinant - r * current_u
        if surroundings.water is not None:
            wave_u, wave_v = _in_body(surroundings.water.acceleration_world_mps2, yaw)
            surge_gain, sway_gain = surge_gain + wave_u, sway_gain + wave_v
        return MechanicalState(
            VesselPose(velocity.x, velocity.y, r),
            VesselVelocities(
                surge_gain,
                sway_gain,
                (sway_mass * yaw_moment - coupling * sway_force) / determinant,
                rudder_rate_radps,
            ),
        )

    @override
    def kinematics(self, state: SurfaceVesselState) -> Kinematics:
        pose, velocities = state.mechanical_state.configuration, state.mechanical_state.velocities
        if state.seakeeping is not None:
            return self._kinematics_in_waves(state, state.seakeeping)
        level = jnp.zeros_like(jnp.asarray(pose.yaw_rad))
        euler = EulerZYX(level, level, pose.yaw_rad)
        return Kinematics(
            position_world_m=Vec3(pose.x_world_m, pose.y_world_m, state.height_world_m),
            q_world_from_body=Quaternion.from_euler(euler),
            euler_world_from_body=euler,
            velocity_world_mps=_velocity_world(state.mechanical_state),
            velocity_body_mps=Vec3(velocities.surge_mps, velocities.sway_mps, level),
            angular_velocity_body_radps=Vec3(level, level, velocities.yaw_rate_radps),
            specific_force_body_mps2=state.specific_force_body_mps2,
        )

    def _kinematics_in_waves(
        self, state: SurfaceVesselState, seakeeping: SeakeepingState
    ) -> Kinematics:
        """Return the motion in waves."""
        pose, level = state.mechanical_state.configuration, _velocity_world(state.mechanical_state)
        euler = EulerZYX(*seakeeping.angles_rad, pose.yaw_rad)
        rotation = RotationZYX.of(euler)
        velocity = Vec3(level.x, level.y, seakeeping.heave.rate)
        turning = Vec3(
            seakeeping.roll.rate,
            seakeeping.pitch.rate,
            state.mechanical_state.velocities.yaw_rate_radps,
        )
        height = state.height_world_m + seakeeping.heave.displacement
        return Kinematics(
            position_world_m=Vec3(pose.x_world_m, pose.y_world_m, height),
            q_world_from_body=Quaternion.from_euler(euler),
            euler_world_from_body=euler,
            velocity_world_mps=velocity,
            velocity_body_mps=rotation.body_from_reference(velocity),
            angular_velocity_body_radps=rotation.body_rates(turning),
            specific_force_body_mps2=state.specific_force_body_mps2,
        )

    @override
    def collider(self) -> Collider:
        added = self.added_mass
        level_kg = 0.5 * float(added.surge_kg + added.sway_kg)
        return Collider(
            mass_kg=float(self.mass_kg),
            inertia_kgm2=float(self.yaw_inertia_kgm2) * np.eye(3),
            solids=box_of(self.size_body_m),
            deck=None if self.deck is None else self.deck.solid(),
            locked=AFLOAT,
            collides_with="all but the ground",
            added=(level_kg, level_kg, 0.0, 0.0, 0.0, float(added.yaw_kgm2)),
        )

    @override
    def apply_contact(
        self, state: SurfaceVesselState, contact: ContactMotion
    ) -> SurfaceVesselState:
        pose, velocities = state.mechanical_state.configuration, state.mechanical_state.velocities
        x_ns, y_ns = _in_body(contact.impulse_world_ns, pose.yaw_rad)
        n_nms = contact.impulse_body_nms.z
        sway_mass, coupling, yaw_inertia = self._lateral_mass()
        determinant = sway_mass * yaw_inertia - coupling * coupling
        u = x_ns / (self.mass_kg + self.added_mass.surge_kg)
        v = (yaw_inertia * y_ns - coupling * n_nms) / determinant
        r = (sway_mass * n_nms - coupling * y_ns) / determinant
        gained = MechanicalState(pose, VesselVelocities(u, v, r, velocities.rudder_rad))
        drift, half_s = _velocity_world(gained), 0.5 * contact.dt_s
        moved = VesselVelocities(
            velocities.surge_mps + u,
            velocities.sway_mps + v,
            velocities.yaw_rate_radps + r,
            velocities.rudder_rad,
        )
        # as for a force that is constant over the step
        place = VesselPose(
            pose.x_world_m + half_s * drift.x,
            pose.y_world_m + half_s * drift.y,
            pose.yaw_rad + half_s * r,
        )
        return replace(
            state,
            mechanical_state=MechanicalState(place, moved),
            specific_force_body_mps2=contact.motion.specific_force_body_mps2,
        )

    @override
    def actuators(self, state: SurfaceVesselState) -> dict[str, Real]:
        return {
            "rudder_rad": state.mechanical_state.velocities.rudder_rad,
            "thrust_n": state.thrust_n,
        }

    def _lateral_mass(self) -> tuple[Real, Real, Real]:
        """Return the entries of M for sway, sway-yaw coupling and yaw."""
        added = self.added_mass
        return (
            self.mass_kg + added.sway_kg,
            added.sway_yaw_kgm,
            self.yaw_inertia_kgm2 + added.yaw_kgm2,
        )

    def _water_forces(self, u: Real, v: Real, r: Real, rudder_rad: Real) -> tuple[Real, Real, Real]:
        """Return force and moment of hulls and rudder, by the velocities through the water."""
        hull, hulls = self.hull, float(self.hulls)
        rudder_x, rudder_y = self.rudder.force(u, v, r, rudder_rad, self.water_density_kgpm3)
        return (
            hulls * (hull.x_u_kgps * u + hull.x_uu_kgpm * u * jnp.abs(u)) + rudder_x,
            hulls * (hull.y_v_kgps * v + hull.y_r_kgmps * r) + rudder_y,
            hulls * (hull.n_v_kgmps * v + hull.n_r_kgm2ps * r) + self.rudder.x_body_m * rudder_y,
        )

    def _air_forces(self, velocities: VesselVelocities, yaw: Real, wind: Vec3) -> tuple[Real, Real]:
        wind_u, wind_v = _in_body(wind, yaw)
        u, v = velocities.surge_mps - wind_u, velocities.sway_mps - wind_v
        return (
            -self.air_drag_surge_kgpm * u * jnp.abs(u),
            -self.air_drag_sway_kgpm * v * jnp.abs(v),
        )


def check_level(start: Start) -> None:
    """Check that a start has no tilt and no motion that a surface vessel cannot have.

    Raises:
        ScenarioError: if it does; lists everything that would be ignored.
    """
    velocity, rates = start.velocity_world_mps, start.angular_velocity_body_radps
    ignored = {
        "roll_rad": start.roll_rad,
        "pitch_rad": start.pitch_rad,
        "velocity_world_mps upwards": velocity.z,
        "angular_velocity_body_radps in roll": rates.x,
        "angular_velocity_body_radps in pitch": rates.y,
    }
    given = [f"{name} {value:g}" for name, value in ignored.items() if value != 0.0]
    if given:
        message = (
            f"{', '.join(given)}: not possible, because a surface vessel starts level, or in "
            "waves as the water lies; write 0"
        )
        raise ScenarioError(message)


def _external_forces(surroundings: Surroundings, yaw_rad: Real) -> tuple[Real, Real, Real]:
    """Return the external forces forward and to the left, and the external moment."""
    wrench = surroundings.external_wrench
    if wrench is None:
        return 0.0, 0.0, 0.0
    return *_in_body(wrench.force_world_n, yaw_rad), wrench.torque_world_nm.z


def _flow(surroundings: Surroundings) -> Vec3:
    """Return the velocity of the water: current and waves."""
    if surroundings.water is None:
        return surroundings.current_world_mps
    return surroundings.current_world_mps + surroundings.water.velocity_world_mps


def _tilted(specific_force: Vec3, seakeeping: SeakeepingState) -> Vec3:
    """Return a specific force in body axes, given in heading axes (forward, left, up)."""
    attitude = RotationZYX.of(EulerZYX(*seakeeping.angles_rad, jnp.zeros_like(specific_force.z)))
    return attitude.body_from_reference(specific_force)


def _in_body(v: Vec3, yaw_rad: Real) -> tuple[Real, Real]:
    """Return the horizontal components of a world vector, forward and to the left."""
    sine, cosine = sin_cos(yaw_rad)
    return cosine * v.x + sine * v.y, cosine * v.y - sine * v.x


def _velocity_world(mechanical_state: MechanicalState[VesselPose, VesselVelocities]) -> Vec3:
    sine, cosine = sin_cos(mechanical_state.configuration.yaw_rad)
    u, v = mechanical_state.velocities.surge_mps, mechanical_state.velocities.sway_mps
    return Vec3(cosine * u - sine * v, sine * u + cosine * v, jnp.zeros_like(jnp.asarray(u)))
