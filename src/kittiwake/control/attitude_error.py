"""How far a body is turned away from the attitude that is wanted, in body axes.

    e = 2 sgn(w) (x, y, z),    q_e = q^-1 q_wanted = (w, x, y, z)
    e' = R(q_e) omega_wanted - omega

e is the rotation vector of the shorter way to first order: for small turns the errors of roll,
pitch and yaw. It is finite in every attitude, at most 2 long, and never asks for more than half a
turn. e' is its rate to first order. Source: Brescianini, Hehn, D'Andrea (2013), "Nonlinear
quadrocopter attitude control".
"""

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.commands import ThrustAttitude
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3


class AttitudeError(eqx.Module):
    """The turn that is lacking and its rate."""

    turn_body_rad: Vec3
    rate_body_radps: Vec3

    @classmethod
    def between(cls, wanted: ThrustAttitude, estimate: Kinematics) -> "AttitudeError":
        """From the estimated attitude and rates to the wanted ones."""
        q_error = estimate.q_world_from_body.inverse() * wanted.q_world_from_body
        turn = q_error.vector * (2.0 * jnp.where(q_error.w < 0.0, -1.0, 1.0))
        rate = q_error.rotate(wanted.angular_velocity_body_radps)
        return cls(turn, rate - estimate.angular_velocity_body_radps)
