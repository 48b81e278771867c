"""A drone whose angles follow their commands like first-order lags, and its velocity.

The drone of a public Matlab simulator for ultrasonic sensors (R. Coronel Loza, its chapter 5): an
"angle model" stands for the autopilot, an "angle-speed model" for the flight. In its axes (world
NED, body FRD; phi, theta, psi roll, pitch, yaw; u, v, w the velocity and p, q, r the rates in body
axes; T_c the thrust beyond that of hovering)::

    a[k] = a[k-1] + 0.1 (a_ref - a[k-1])    each 5 ms, a = phi, theta, psi         (5-1)
    u' = -g sin(theta)          - C_x (u - u_w)       + r v - q w                  (5-2)
    v' =  g sin(phi) cos(theta) - C_y (v - v_w)       + p w - r u                  (5-3)
    w' = -T_c / m               - C_z (w - w_w)       + q u - p v                  (5-4)

(5-1) samples a' = (a_ref - a) / tau with exp(-5 ms / tau) = 0.9, tau = 47.46 ms. Here it is solved
exactly at any step: at the rate limit first while the gap is above tau times that limit, then
exponentially; the yaw error is taken the short way round. (5-2) to (5-4) are the body axes of

    v_world' = R f + (0, 0, -g),   f = (thrust / m) e_z - C (R^T (v_world - wind))     (FLU, ENU)

with thrust = F - m g (1 - cos(phi) cos(theta)), F = m g + T_c the command: (5-4) has the weight
without its cosines, as if the autopilot took as much thrust off. A thrust of m g at a tilt alpha
thus sinks with g sin^2(alpha), a real one with g (1 - cos(alpha)). The velocity is integrated in
the world, where turning leaves it alone, by Heun's rule unless another is asked for; the source
takes Euler's and turns the body's derivative into the world without the term that undoes its turn.

Rate limits: the source cuts p and q above 100 deg/s on one side only, and discards what it cuts r
to, 500 deg/s. Yaw has the latter limit. Roll and pitch have none unless it is given: 100 deg/s both
ways contradicts the step of -35 deg in 0.2 s that (5-1) was compared with (its figure 5-4). The
limits hold for the rates of the angles. The wind's vertical part, which the source leaves out, acts
like the others. Valid for tilts below 90 deg and speeds up to about 15 m/s (its figure 5-6);
neglected: the autopilot's and the rotors' own dynamics, quadratic drag, ground effect.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.contact.deck import Deck
from kittiwake.contact.engine import NO_TURNING, Collider, ContactMotion, box_of
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.limit import Limit
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, Phase
from kittiwake.world.surroundings import Surroundings


class AngleVelocityState(eqx.Module):
    """The state at a tick.

    The rates are those of the angles' own motion; at the start they are as given and move nothing.
    The specific force is the mean over the step that led here.
    """

    position_world_m: Vec3
    euler_world_from_body: EulerZYX
    velocity_world_mps: Vec3
    angular_velocity_body_radps: Vec3
    specific_force_body_mps2: Vec3
    thrust_n: Real


class AngleVelocityMotion(eqx.Module):
    """What is integrated beside the position; the angles are known by the time since the tick."""

    velocity_world_mps: Vec3
    specific_impulse_body_mps: Vec3


class AngleVelocity(AbstractDynamics):
    """Angles that lag behind their commands, and the velocity that follows from them."""

    command_type: ClassVar[type] = ThrustAttitude

    mass_kg: Annotated[Real, POSITIVE]
    angle_time_constant_s: Annotated[Real, POSITIVE]
    drag_forward_per_s: Annotated[Real, NOT_NEGATIVE]
    drag_sideways_per_s: Annotated[Real, NOT_NEGATIVE]
    drag_vertical_per_s: Annotated[Real, NOT_NEGATIVE]
    max_yaw_rate_radps: Annotated[Real, POSITIVE]
    max_thrust_n: Annotated[Real, POSITIVE]
    max_angle_rad: Annotated[Real, POSITIVE]
    max_speed_mps: Annotated[Real, POSITIVE]
    max_tilt_rate_radps: Annotated[Real | None, POSITIVE] = None
    deck: Deck | None = None
    size_body_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    integrator: IntegratorName = eqx.field(static=True, default="heun")

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> dict[str, Any]:
        given = {"mass_kg": self.mass_kg, "max_thrust_n": self.max_thrust_n}
        return super().vehicle_parameters(gravity_mps2) | given

    @property
    @override
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        return {"thrust_n": (0.0, self.max_thrust_n)}

    @override
    def init(self, start: Kinematics, surroundings: Surroundings) -> AngleVelocityState:
        thrust_n = self.mass_kg * surroundings.gravity_mps2
        rotation = RotationZYX.of(start.euler_world_from_body)
        return AngleVelocityState(
            position_world_m=start.position_world_m,
            euler_world_from_body=start.euler_world_from_body,
            velocity_world_mps=start.velocity_world_mps,
            angular_velocity_body_radps=start.angular_velocity_body_radps,
            specific_force_body_mps2=self.specific_force_body_mps2(
                rotation, start.velocity_world_mps, thrust_n, surroundings
            ),
            thrust_n=thrust_n,
        )

    @override
    def step(
        self,
        state: AngleVelocityState,
        command: ThrustAttitude,
        surroundings: Surroundings,
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> AngleVelocityState:
        del key
        wanted = command.q_world_from_body.to_euler()
        angles = state.euler_world_from_body

        def derivative(
            phase: Phase[Vec3, AngleVelocityMotion], elapsed_s: Real
        ) -> Phase[Vec3, AngleVelocityMotion]:
            velocity = phase.motion.velocity_world_mps
            rotation = RotationZYX.of(self.followed(angles, wanted, elapsed_s))
            force = self.specific_force_body_mps2(
                rotation, velocity, command.thrust_n, surroundings
            )
            gravity = Vec3(0.0, 0.0, -surroundings.gravity_mps2)
            acceleration = rotation.reference_from_body(force) + gravity
            return Phase(velocity, AngleVelocityMotion(acceleration, force))

        began = Phase(
            state.position_world_m, AngleVelocityMotion(state.velocity_world_mps, Vec3.zero())
        )
        ended = INTEGRATORS[self.integrator].step(derivative, began, dt_s)
        reached = self.followed(angles, wanted, dt_s)
        return AngleVelocityState(
            position_world_m=ended.configuration,
            euler_world_from_body=reached,
            velocity_world_mps=ended.motion.velocity_world_mps,
            angular_velocity_body_radps=_body_rates(
                RotationZYX.of(reached), self._angle_rates(reached, wanted)
            ),
            specific_force_body_mps2=ended.motion.specific_impulse_body_mps / dt_s,
            thrust_n=command.thrust_n,
        )

    def followed(self, angles: EulerZYX, wanted: EulerZYX, elapsed_s: Real) -> EulerZYX:
        """The angles some time later, with the wanted ones held."""

        def later(angle: Real, error: Real, limit: Real | None) -> Real:
            return angle + error - _remaining(error, elapsed_s, self.angle_time_constant_s, limit)

        gap = _gap(angles, wanted)
        tilt_limit = self.max_tilt_rate_radps
        return EulerZYX(
            roll_rad=later(angles.roll_rad, gap.roll_rad, tilt_limit),
            pitch_rad=later(angles.pitch_rad, gap.pitch_rad, tilt_limit),
            yaw_rad=later(angles.yaw_rad, gap.yaw_rad, self.max_yaw_rate_radps),
        )

    def specific_force_body_mps2(
        self,
        rotation: RotationZYX,
        velocity_world_mps: Vec3,
        thrust_n: Real,
        surroundings: Surroundings,
    ) -> Vec3:
        """Thrust, drag and what pushes from outside, over mass; nothing turns held angles."""
        air = rotation.body_from_reference(velocity_world_mps - surroundings.wind_world_mps)
        lost = surroundings.gravity_mps2 * (1.0 - rotation.cos_roll * rotation.cos_pitch)
        drag_and_thrust = Vec3(
            -self.drag_forward_per_s * air.x,
            -self.drag_sideways_per_s * air.y,
            thrust_n / self.mass_kg - lost - self.drag_vertical_per_s * air.z,
        )
        push = surroundings.push
        if push is None:
            return drag_and_thrust
        return drag_and_thrust + rotation.body_from_reference(push.force_world_n) / self.mass_kg

    @override
    def kinematics(self, state: AngleVelocityState) -> Kinematics:
        euler = state.euler_world_from_body
        return Kinematics(
            position_world_m=state.position_world_m,
            q_world_from_body=Quaternion.from_euler(euler),
            euler_world_from_body=euler,
            velocity_world_mps=state.velocity_world_mps,
            velocity_body_mps=RotationZYX.of(euler).body_from_reference(state.velocity_world_mps),
            angular_velocity_body_radps=state.angular_velocity_body_radps,
            specific_force_body_mps2=state.specific_force_body_mps2,
        )

    @override
    def collider(self) -> Collider:
        solids = box_of(self.size_body_m)
        return Collider(float(self.mass_kg), np.eye(3), solids, held=NO_TURNING)

    @override
    def apply_contact(
        self, state: AngleVelocityState, carried: ContactMotion
    ) -> AngleVelocityState:
        motion = carried.motion
        return replace(
            state,
            position_world_m=motion.position_world_m,
            velocity_world_mps=motion.velocity_world_mps,
            specific_force_body_mps2=motion.specific_force_body_mps2,
        )

    @override
    def actuators(self, state: AngleVelocityState) -> dict[str, Real]:
        return {"thrust_n": state.thrust_n}

    @override
    def limits(self, state: AngleVelocityState) -> tuple[Limit, ...]:
        euler, largest = state.euler_world_from_body, self.max_angle_rad
        key = "parameters.max_angle_rad"
        speed = state.velocity_world_mps.norm()
        return (
            Limit("roll_rad", key, euler.roll_rad, -largest, largest),
            Limit("pitch_rad", key, euler.pitch_rad, -largest, largest),
            Limit("speed_mps", "parameters.max_speed_mps", speed, 0.0, self.max_speed_mps),
        )

    def _angle_rates(self, angles: EulerZYX, wanted: EulerZYX) -> EulerZYX:
        def rate(error: Real, limit: Real | None) -> Real:
            free = error / self.angle_time_constant_s
            return free if limit is None else jnp.clip(free, -limit, limit)

        gap = _gap(angles, wanted)
        tilt_limit = self.max_tilt_rate_radps
        return EulerZYX(
            rate(gap.roll_rad, tilt_limit),
            rate(gap.pitch_rad, tilt_limit),
            rate(gap.yaw_rad, self.max_yaw_rate_radps),
        )


def _gap(angles: EulerZYX, wanted: EulerZYX) -> EulerZYX:
    """Wanted minus actual angles, yaw the short way round."""
    return EulerZYX(
        wanted.roll_rad - angles.roll_rad,
        wanted.pitch_rad - angles.pitch_rad,
        wrap_angle(wanted.yaw_rad - angles.yaw_rad),
    )


def _remaining(error: Real, elapsed_s: Real, time_constant_s: Real, limit: Real | None) -> Real:
    """What is left of an error that closes with error / time constant, at most at the limit."""
    if limit is None:
        return error * jnp.exp(-elapsed_s / time_constant_s)
    straight_s = jnp.maximum(jnp.abs(error) / limit - time_constant_s, 0.0)
    # written with the sign outside, so that the slope at no error is that of the exponential
    bent = error - jnp.sign(error) * limit * jnp.minimum(elapsed_s, straight_s)
    return bent * jnp.exp(-jnp.maximum(elapsed_s - straight_s, 0.0) / time_constant_s)


def _body_rates(rotation: RotationZYX, rates: EulerZYX) -> Vec3:
    """Body rates of given rates of the ZYX angles."""
    roll, pitch, yaw = rates.roll_rad, rates.pitch_rad, rates.yaw_rad
    level = yaw * rotation.cos_pitch
    return Vec3(
        roll - yaw * rotation.sin_pitch,
        pitch * rotation.cos_roll + level * rotation.sin_roll,
        level * rotation.cos_roll - pitch * rotation.sin_roll,
    )
