"""Thrust and attitude to thrust and body rates, with tilt prioritized over yaw.

The quaternion from the present to the commanded attitude, q_e = (w, x, y, z), is split into the
shortest rotation that aligns the thrust and a rotation about the thrust::

    q_e = q_red q_yaw,   n = sqrt(w^2 + z^2)
    q_red = (n, (w x - y z) / n, (w y + x z) / n, 0),     q_yaw = (w, 0, 0, z) / n
    omega = 2 k_tilt vec(q_red) + 2 k_yaw sgn(w) vec(q_yaw) + omega_0

omega_0: the commanded body rates, rotated into the present axes. The direction of thrust is thus
independent of the yaw error, which may be corrected more slowly. Source: Brescianini and D'Andrea
(2018), "Tilt-prioritized quadrocopter attitude control", IEEE Transactions on Control Systems
Technology, section IV.

At a tilt of half a turn n is zero and all rotations are equally short; the axis is then (x, y). The
tilt rate is limited in length, so that its axis is kept, and the yaw rate by itself.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import ThrustAttitude, ThrustRates
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController

# squared cosine of half the tilt below which tilt and yaw cannot be separated
UPSIDE_DOWN = 1e-12


class AttitudeRates(AbstractController[tuple[()], ThrustAttitude, ThrustRates]):
    """First-order attitude response; the thrust passes through.

    Attributes:
        tilt_gain_per_s: twice this is the rate per sine of half the tilt error.
        yaw_gain_per_s: the same of yaw.
        max_tilt_rate_radps: limit of the length of the tilt rate.
        max_yaw_rate_radps: limit of the yaw rate.
    """

    consumes: ClassVar[type] = ThrustAttitude
    produces: ClassVar[type] = ThrustRates

    tilt_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 4.0
    yaw_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 2.0
    max_tilt_rate_radps: Annotated[Real, POSITIVE] = 6.0
    max_yaw_rate_radps: Annotated[Real, POSITIVE] = 3.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[ThrustAttitude, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], ThrustRates]:
        del dt_s, key
        command, estimate = inputs
        error = estimate.q_world_from_body.inverse() * command.q_world_from_body
        turn = tilt_and_yaw(error)
        feed_forward = error.rotate(command.angular_velocity_body_radps)
        tilt = Vec3(turn.x, turn.y, 0.0) * self.tilt_gain_per_s + Vec3(
            feed_forward.x, feed_forward.y, 0.0
        )
        tilt = tilt.clip_norm(self.max_tilt_rate_radps)
        limit = self.max_yaw_rate_radps
        yaw = jnp.clip(self.yaw_gain_per_s * turn.z + feed_forward.z, -limit, limit)
        return state, ThrustRates(command.thrust_n, Vec3(tilt.x, tilt.y, yaw))


def tilt_and_yaw(error: Quaternion) -> Vec3:
    """Return twice the vector parts of the tilt rotation (x, y) and of the yaw rotation (z)."""
    square = error.w * error.w + error.z * error.z
    separable = square > UPSIDE_DOWN
    n = jnp.sqrt(jnp.where(separable, square, 1.0))
    w = jnp.where(separable, error.w / n, 1.0)
    z = jnp.where(separable, error.z / n, 0.0)
    return Vec3(
        2.0 * (w * error.x - z * error.y),
        2.0 * (w * error.y + z * error.x),
        2.0 * z * jnp.where(w < 0.0, -1.0, 1.0),
    )
