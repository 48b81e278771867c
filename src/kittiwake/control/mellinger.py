"""Tracking control of Mellinger and Kumar: position and yaw to thrust and torque.

World z is up. With e_p, e_v the errors of position and velocity::

    F = -K_p e_p - K_v e_v + m g z_W + m a_0,      u_1 = F . z_B
    z_d = F / |F|,  y_d = z_d x x_C / |z_d x x_C|,  x_d = y_d x z_d     x_C: the heading
    e_R = (R_d^T R - R^T R_d)^vee / 2,             e_w = omega - omega_T
    (u_2, u_3, u_4) = -K_R e_R - K_w e_w

Source: Mellinger and Kumar (2011), "Minimum snap trajectory generation and control for quadrotors",
IEEE International Conference on Robotics and Automation, section IV with equations 6 to 8. Its
gains are per mass and per moment of inertia here, so that they apply to other vehicles.

R_d and the frame with -x_d and -y_d give the same force in the plane of the heading. As in the
source the one closer to the body is used, but only where z_d points down: above the horizon the
vehicle would fly backwards wherever the yaw error exceeds a quarter of a turn. omega_T is that of
the trajectory (feed-forward acceleration and jerk, without errors), by the exact derivative of its
frame: the source's yaw component, psi' z_W . z_B, omits the rotation about z_B by roll and pitch.
The term omega x J omega is not compensated. Limits are those of ``lee``.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.moving_frame import TimeVarying, attitude_error, frame_of, heading
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw, ThrustTorque
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.inertia import Inertia
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


class Mellinger(AbstractController[tuple[()], PositionYaw, ThrustTorque]):
    """Tracking of position and yaw through any attitude.

    Attributes:
        mass_kg: mass of the vehicle.
        inertia_kgm2: inertia of the vehicle.
        max_thrust_n: largest thrust of the vehicle.
        gravity_mps2: gravity that the controller compensates.
        position_gain_per_s2: k_p over the mass.
        velocity_gain_per_s: k_v over the mass.
        attitude_gain_per_s2: k_R over the moments of inertia.
        rate_gain_per_s: k_w over the moments of inertia.
        max_speed_mps: limit of the speed that the position error causes.
        max_feedback_mps2: limit of the feedback.
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
        q = estimate.q_world_from_body
        planned = command.acceleration_world_mps2 + Vec3(0.0, 0.0, self.gravity_mps2)
        force = planned + self._feedback(command, estimate)
        towards = heading(command.yaw_rad, command.yaw_rate_radps)
        still, zero = Vec3.zero(), Vec3.zero()
        frame = frame_of(TimeVarying(force, still, zero), towards, q, nearest=True)
        trajectory = frame_of(
            TimeVarying(planned, command.jerk_world_mps3, zero), towards, q, nearest=True
        )
        up = q.rotate(Vec3(0.0, 0.0, 1.0))
        error = attitude_error(q, frame)
        rate_error = estimate.angular_velocity_body_radps - trajectory.angular_velocity_radps
        torque = self.inertia_kgm2.times(self._acceleration(error, rate_error))
        thrust = jnp.clip(self.mass_kg * force.dot(up), 0.0, self.max_thrust_n)
        return state, ThrustTorque(thrust, torque)

    def _feedback(self, command: PositionYaw, estimate: Kinematics) -> Vec3:
        error = command.position_world_m - estimate.position_world_m
        pull = error * (self.position_gain_per_s2 / self.velocity_gain_per_s)
        velocity_error = command.velocity_world_mps - estimate.velocity_world_mps
        free = (pull.clip_norm(self.max_speed_mps) + velocity_error) * self.velocity_gain_per_s
        return free.clip_norm(self.max_feedback_mps2)

    def _acceleration(self, error: Vec3, rate_error: Vec3) -> Vec3:
        gain, damping = self.attitude_gain_per_s2, self.rate_gain_per_s
        return Vec3(
            -gain.x * error.x - damping.x * rate_error.x,
            -gain.y * error.y - damping.y * rate_error.y,
            -gain.z * error.z - damping.z * rate_error.z,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Mellinger"]:
        return {"of 1.5 kg": cls(1.5, Inertia(0.02, 0.03, 0.04), 28.8)}
