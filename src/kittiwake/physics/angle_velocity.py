"""Drone whose attitude angles follow their commands as first-order lags.

The drone of a public Matlab simulator for ultrasonic sensors (R. Coronel Loza, its chapter 5): an
"angle model" represents the autopilot, an "angle-speed model" the flight. In its axes (world
NED, body FRD; phi, theta, psi roll, pitch, yaw; u, v, w the velocity and p, q, r the rates in body
axes; T_c the thrust beyond that of hovering)::

    a[k] = a[k-1] + 0.1 (a_ref - a[k-1])    each 5 ms, a = phi, theta, psi         (5-1)
    u' = -g sin(theta)          - C_x (u - u_w)       + r v - q w                  (5-2)
    v' =  g sin(phi) cos(theta) - C_y (v - v_w)       + p w - r u                  (5-3)
    w' = -T_c / m               - C_z (w - w_w)       + q u - p v                  (5-4)

(5-1) is the discretization of a' = (a_ref - a) / tau with exp(-5 ms / tau) = 0.9, tau = 47.46 ms.
Here it is solved exactly for any step: at the rate limit while the error exceeds tau times that
limit, then exponentially; the yaw error is wrapped. (5-2) to (5-4) are, in body axes,

    v_world' = R f + (0, 0, -g),   f = (thrust / m) e_z - C (R^T (v_world - wind))     (FLU, ENU)

with thrust = F - m g (1 - cos(phi) cos(theta)), where F = m g + T_c is the command: (5-4) has the
weight without its cosines, as if the autopilot reduced the thrust accordingly. A thrust of m g at a
tilt alpha thus sinks with g sin^2(alpha); physically it would be g (1 - cos(alpha)). The velocity
is integrated in world axes, by Heun's method by default. The source uses Euler's method and rotates
the derivative in body axes to the world without the term of the rotating axes.

Rate limits: the source limits p and q to 100 deg/s on one side only, and computes but does not use
a limit of r of 500 deg/s. Here yaw has the latter limit. Roll and pitch have none by default: a
limit of 100 deg/s in both directions contradicts the step of -35 deg in 0.2 s with which (5-1) was
validated (its figure 5-4). The limits apply to the rates of the angles. The vertical wind, which
the source omits, acts like the horizontal wind. Valid for tilts below 90 deg and speeds up to about
15 m/s (its figure 5-6); neglected: the dynamics of autopilot and rotors, quadratic drag, ground
effect.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

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
from kittiwake.core.parameters import Parameters
from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.continuous import (
    POSITION,
    ROTATION,
    VELOCITY,
    ContinuousState,
    StateRates,
)
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.physics.integrators import INTEGRATORS, IntegratorName, MechanicalState
from kittiwake.pytree import Module, field
from kittiwake.world.surroundings import Surroundings


class AngleVelocityState(Module):
    """State at a tick.

    The rates are those of the angles' motion; at the start they are as given and have no effect.
    The specific force is the mean over the last step.
    """

    position_world_m: Vec3
    euler_world_from_body: EulerZYX
    velocity_world_mps: Vec3
    angular_velocity_body_radps: Vec3
    specific_force_body_mps2: Vec3
    thrust_n: Real


class AngleVelocityVelocities(Module):
    """Motion that is integrated with the position; the angles have a closed-form solution."""

    velocity_world_mps: Vec3
    specific_impulse_body_mps: Vec3


class AngleVelocity(AbstractDynamics[AngleVelocityState, ThrustAttitude]):
    """First-order lags of the attitude angles, and the resulting velocity.

    Attributes:
        mass_kg: total mass.
        angle_time_constant_s: tau, of the angles.
        drag_forward_per_s: C_x.
        drag_sideways_per_s: C_y.
        drag_vertical_per_s: C_z.
        max_yaw_rate_radps: limit of the yaw rate.
        max_thrust_n: limit of the thrust.
        max_angle_rad: limit of the angles; beyond it the drone is lost.
        max_speed_mps: limit of the velocities; beyond it the drone is lost.
        max_tilt_rate_radps: limit of the rates of roll and pitch.
        integrator: integrator of the motion.
    """

    command_type: ClassVar[type] = ThrustAttitude
    # the angles follow their commands directly
    body_states: ClassVar[tuple[str, ...]] = (*POSITION, *ROTATION, *VELOCITY)

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
    integrator: IntegratorName = field(static=True, default="heun")

    @override
    def vehicle_parameters(self, gravity_mps2: Real) -> Parameters:
        given = {"mass_kg": self.mass_kg, "max_thrust_n": self.max_thrust_n}
        return super().vehicle_parameters(gravity_mps2) | given

    @property
    @override
    def command_bounds(self) -> dict[str, tuple[Real, Real]]:
        return {"thrust_n": (0.0, self.max_thrust_n)}

    @override
    def initial_command(self, start: Kinematics, gravity_mps2: Real) -> ThrustAttitude:
        return ThrustAttitude(self.mass_kg * gravity_mps2, start.q_world_from_body)

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
        commanded = command.q_world_from_body.to_euler()
        angles = state.euler_world_from_body

        def derivative(
            mechanical_state: MechanicalState[Vec3, AngleVelocityVelocities], elapsed_s: Real
        ) -> MechanicalState[Vec3, AngleVelocityVelocities]:
            velocity = mechanical_state.velocities.velocity_world_mps
            rotation = RotationZYX.of(self.angles_after(angles, commanded, elapsed_s))
            force = self.specific_force_body_mps2(
                rotation, velocity, command.thrust_n, surroundings
            )
            gravity = Vec3(0.0, 0.0, -surroundings.gravity_mps2)
            acceleration = rotation.reference_from_body(force) + gravity
            return MechanicalState(velocity, AngleVelocityVelocities(acceleration, force))

        began = MechanicalState(
            state.position_world_m, AngleVelocityVelocities(state.velocity_world_mps, Vec3.zero())
        )
        ended = INTEGRATORS[self.integrator].step(derivative, began, dt_s)
        reached = self.angles_after(angles, commanded, dt_s)
        return AngleVelocityState(
            position_world_m=ended.configuration,
            euler_world_from_body=reached,
            velocity_world_mps=ended.velocities.velocity_world_mps,
            angular_velocity_body_radps=_body_rates(
                RotationZYX.of(reached), self._angle_rates(reached, commanded)
            ),
            specific_force_body_mps2=ended.velocities.specific_impulse_body_mps / dt_s,
            thrust_n=command.thrust_n,
        )

    @override
    def rates(
        self, state: ContinuousState, command: ThrustAttitude, surroundings: Surroundings
    ) -> StateRates:
        motion, commanded = state.motion, command.q_world_from_body.to_euler()
        rotation = RotationZYX.of(motion.euler_world_from_body)
        force = self.specific_force_body_mps2(
            rotation, motion.velocity_world_mps, command.thrust_n, surroundings
        )
        weight = rotation.body_from_reference(Vec3(0.0, 0.0, -surroundings.gravity_mps2))
        turning = _body_rates(rotation, self._angle_rates(motion.euler_world_from_body, commanded))
        return StateRates(
            turning_body_radps=turning,
            velocity_rate_body_mps2=force + weight - turning.cross(motion.velocity_body_mps),
            angular_acceleration_body_radps2=Vec3.zero(),
            actuators={},
        )

    def angles_after(self, angles: EulerZYX, commanded: EulerZYX, elapsed_s: Real) -> EulerZYX:
        """Return the angles after a time with constant commanded angles."""

        def later(angle: Real, error: Real, limit: Real | None) -> Real:
            return angle + error - _remaining(error, elapsed_s, self.angle_time_constant_s, limit)

        gap = _gap(angles, commanded)
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
        """Return thrust, drag and external forces over mass; external torques have no effect."""
        air = rotation.body_from_reference(velocity_world_mps - surroundings.wind_world_mps)
        lost_mps2 = surroundings.gravity_mps2 * (1.0 - rotation.cos_roll * rotation.cos_pitch)
        drag_and_thrust = Vec3(
            -self.drag_forward_per_s * air.x,
            -self.drag_sideways_per_s * air.y,
            thrust_n / self.mass_kg - lost_mps2 - self.drag_vertical_per_s * air.z,
        )
        wrench = surroundings.external_wrench
        if wrench is None:
            return drag_and_thrust
        return drag_and_thrust + rotation.body_from_reference(wrench.force_world_n) / self.mass_kg

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
        return Collider(float(self.mass_kg), np.eye(3), solids, locked=NO_TURNING)

    @override
    def apply_contact(
        self, state: AngleVelocityState, contact: ContactMotion
    ) -> AngleVelocityState:
        motion = contact.motion
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

    def _angle_rates(self, angles: EulerZYX, commanded: EulerZYX) -> EulerZYX:
        def rate(error: Real, limit: Real | None) -> Real:
            free = error / self.angle_time_constant_s
            return free if limit is None else jnp.clip(free, -limit, limit)

        gap = _gap(angles, commanded)
        tilt_limit = self.max_tilt_rate_radps
        return EulerZYX(
            rate(gap.roll_rad, tilt_limit),
            rate(gap.pitch_rad, tilt_limit),
            rate(gap.yaw_rad, self.max_yaw_rate_radps),
        )


def _gap(angles: EulerZYX, commanded: EulerZYX) -> EulerZYX:
    """Return commanded minus actual angles, with the yaw error wrapped."""
    return EulerZYX(
        commanded.roll_rad - angles.roll_rad,
        commanded.pitch_rad - angles.pitch_rad,
        wrap_angle(commanded.yaw_rad - angles.yaw_rad),
    )


def _remaining(error: Real, elapsed_s: Real, time_constant_s: Real, limit: Real | None) -> Real:
    """Return the remaining error of a first-order lag with a rate limit."""
    if limit is None:
        return error * jnp.exp(-elapsed_s / time_constant_s)
    straight_s = jnp.maximum(jnp.abs(error) / limit - time_constant_s, 0.0)
    # with the sign outside, so that the gradient at zero error is that of the exponential
    linear = error - jnp.sign(error) * limit * jnp.minimum(elapsed_s, straight_s)
    return linear * jnp.exp(-jnp.maximum(elapsed_s - straight_s, 0.0) / time_constant_s)


def _body_rates(rotation: RotationZYX, rates: EulerZYX) -> Vec3:
    """Return the body rates of given rates of the ZYX angles."""
    roll, pitch, yaw = rates.roll_rad, rates.pitch_rad, rates.yaw_rad
    level = yaw * rotation.cos_pitch
    return Vec3(
        roll - yaw * rotation.sin_pitch,
        pitch * rotation.cos_roll + level * rotation.sin_roll,
        level * rotation.cos_roll - pitch * rotation.sin_roll,
    )
