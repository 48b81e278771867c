"""Geometric tracking control on SE(3): position and yaw to thrust and torque.

World z is up. With e_x, e_v the errors of position and velocity and g e_z gravity::

    A = -k_x e_x - k_v e_v + g e_z + a_0
    f = m A . R e_z
    R_d: b_3 = A / |A|, b_1 towards the heading (``moving_frame``)
    e_R = (R_d^T R - R^T R_d)^vee / 2,        e_O = Omega - R^T R_d Omega_d
    M = J (-k_R e_R - k_O e_O) + Omega x J Omega - J (Omega x R^T R_d Omega_d - R^T R_d Omega_d')

Omega_d and its derivative are computed from the derivatives of A: those of the errors by the motion
of the body under its own thrust, those of the setpoint by the feed-forward velocity, acceleration
and jerk, with zero snap. Source: Lee, Leok, McClamroch (2010), "Geometric tracking control of a
quadrotor UAV on SE(3)", 49th IEEE Conference on Decision and Control, equations 8 to 16. Here gains
are per mass and per moment of inertia (k_R and k_Omega one for each axis), so that they apply to
other vehicles.

In addition to the source, the speed demanded by the position error and the acceleration demanded by
both errors are limited; while they are limited, A counts as constant. Drag is neglected. The
attitude converges from any initial attitude except a rotation by exactly half a turn, where e_R
vanishes. ``max_feedback_mps2`` below g keeps A from pointing down in a descent: near zero the
direction of A rotates too fast for any torque.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.moving_frame import (
    AttitudeFrame,
    TimeVarying,
    attitude_error,
    frame_of,
    heading,
)
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


class Lee(AbstractController[tuple[()], PositionYaw, ThrustTorque]):
    """Geometric tracking of position and yaw.

    Attributes:
        mass_kg: mass of the vehicle.
        inertia_kgm2: inertia of the vehicle.
        max_thrust_n: largest thrust of the vehicle.
        gravity_mps2: gravity that the controller compensates.
        position_gain_per_s2: k_x over the mass.
        velocity_gain_per_s: k_v over the mass.
        attitude_gain_per_s2: k_R over the moments of inertia.
        rate_gain_per_s: k_O over the moments of inertia.
        max_speed_mps: limit of the speed that the position error causes; not in the source.
        max_feedback_mps2: limit of the feedback, below g so that A never points down; not in the
            source.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = ThrustTorque

    mass_kg: Annotated[Real, POSITIVE]
    inertia_kgm2: Inertia
    max_thrust_n: Annotated[Real, POSITIVE]
    gravity_mps2: Annotated[Real, POSITIVE] = 9.81
    position_gain_per_s2: Annotated[Real, POSITIVE] = 2.25
    velocity_gain_per_s: Annotated[Real, POSITIVE] = 3.0
    attitude_gain_per_s2: Annotated[Vec3, POSITIVE] = Vec3(64.0, 64.0, 16.0)
    rate_gain_per_s: Annotated[Vec3, NOT_NEGATIVE] = Vec3(16.0, 16.0, 8.0)
    max_speed_mps: Annotated[Real, POSITIVE] = 5.0
    max_feedback_mps2: Annotated[Real, POSITIVE] = 6.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustTorque]:
        del dt_s, key
        command, estimate = inputs
        force = self._force(command, estimate)
        towards = heading(command.yaw_rad, command.yaw_rate_radps)
        frame = frame_of(force, towards, estimate.q_world_from_body, nearest=False)
        up = estimate.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
        thrust = self.mass_kg * self._lift(force.now.dot(up))
        return state, ThrustTorque(thrust, self._torque(frame, estimate))

    def _lift(self, demanded_mps2: Real) -> Real:
        """Return the thrust per mass, within its range."""
        return jnp.clip(demanded_mps2, 0.0, self.max_thrust_n / self.mass_kg)

    def _force(self, command: PositionYaw, estimate: Kinematics) -> TimeVarying:
        """Return A, the demanded thrust per mass, with its derivatives."""
        error = command.position_world_m - estimate.position_world_m
        error_rate = command.velocity_world_mps - estimate.velocity_world_mps
        pull = error * (self.position_gain_per_s2 / self.velocity_gain_per_s)
        speed = pull.clip_norm(self.max_speed_mps)
        free = (speed + error_rate) * self.velocity_gain_per_s
        feedback = free.clip_norm(self.max_feedback_mps2)
        gravity = Vec3(0.0, 0.0, self.gravity_mps2)
        now = feedback + command.acceleration_world_mps2 + gravity
        is_limited = (pull.norm() > self.max_speed_mps) | (free.norm() > self.max_feedback_mps2)
        unlimited = jnp.where(is_limited, 0.0, 1.0)
        up = estimate.q_world_from_body.rotate(Vec3(0.0, 0.0, 1.0))
        spin = estimate.q_world_from_body.rotate(estimate.angular_velocity_body_radps)
        thrust, up_rate = self._lift(now.dot(up)), spin.cross(up)
        error_second = command.acceleration_world_mps2 + gravity - up * thrust
        rate = command.jerk_world_mps3 + self._feedback(error_rate, error_second) * unlimited
        unsaturated = jnp.where(thrust == now.dot(up), 1.0, 0.0)
        thrust_rate = (rate.dot(up) + now.dot(up_rate)) * unsaturated
        jerk = up * thrust_rate + up_rate * thrust
        second = self._feedback(error_second, command.jerk_world_mps3 - jerk) * unlimited
        return TimeVarying(now, rate, second)

    def _feedback(self, error: Vec3, error_rate: Vec3) -> Vec3:
        return error * self.position_gain_per_s2 + error_rate * self.velocity_gain_per_s

    def _torque(self, frame: AttitudeFrame, estimate: Kinematics) -> Vec3:
        q, omega = estimate.q_world_from_body, estimate.angular_velocity_body_radps
        into_body = q.inverse()
        rates = into_body.rotate(frame.to_world(frame.angular_velocity_radps))
        feed_forward = into_body.rotate(frame.to_world(frame.angular_acceleration_radps2))
        error = attitude_error(q, frame)
        gain, damping, rate_error = self.attitude_gain_per_s2, self.rate_gain_per_s, omega - rates
        feedback = Vec3(
            gain.x * error.x + damping.x * rate_error.x,
            gain.y * error.y + damping.y * rate_error.y,
            gain.z * error.z + damping.z * rate_error.z,
        )
        acceleration = feed_forward - omega.cross(rates) - feedback
        gyroscopic = self.inertia_kgm2.gyroscopic(omega)
        return self.inertia_kgm2.times(acceleration) + gyroscopic

    @classmethod
    @override
    def examples(cls) -> dict[str, "Lee"]:
        return {"of 1.5 kg": cls(1.5, Inertia(0.02, 0.03, 0.04), 28.8)}
