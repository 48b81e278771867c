"""Attitude error between an estimate and a command, in body axes.

    e = 2 sgn(w) (x, y, z),    q_e = q^-1 q_command = (w, x, y, z)
    e' = R(q_e) omega_command - omega

e is, to first order, the rotation vector of the shorter rotation: for small angles the errors of
roll, pitch and yaw. It is finite in every attitude, its length at most 2, and its rotation at most
half a turn. e' is its rate to first order. Source: Brescianini, Hehn, D'Andrea (2013), "Nonlinear
quadrocopter attitude control".
"""

import jax.numpy as jnp

from kittiwake.core.commands import ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class AttitudeError(Module):
    """Rotation from the estimated to the commanded attitude, and its rate."""

    turn_body_rad: Vec3
    rate_body_radps: Vec3

    @classmethod
    def between(cls, command: ThrustAttitude, estimate: Kinematics) -> "AttitudeError":
        """Return the error from the estimated to the commanded attitude and rates."""
        q_error = estimate.q_world_from_body.inverse() * command.q_world_from_body
        turn = q_error.vector * (2.0 * jnp.where(q_error.w < 0.0, -1.0, 1.0))
        rate = q_error.rotate(command.angular_velocity_body_radps)
        return cls(turn, rate - estimate.angular_velocity_body_radps)
