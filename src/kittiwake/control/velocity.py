"""Velocity and yaw to acceleration and yaw: a = a_0 + (v_ref - v) / T, within limits.

a_0 is the feed-forward acceleration.

With ideal acceleration control, the step response of the velocity is a first-order lag with the
time constant T. Drag and wind leave an offset of T times the acceleration that they cause.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import AccelerationYaw, VelocityYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


class Velocity(AbstractController[tuple[()], VelocityYaw, AccelerationYaw]):
    """Velocity and yaw to acceleration and yaw.

    Attributes:
        time_constant_s: velocity error over this is the acceleration.
        max_horizontal_acceleration_mps2: limit of the horizontal acceleration.
        max_vertical_acceleration_mps2: limit of the vertical acceleration.
    """

    consumes: ClassVar[type] = VelocityYaw
    produces: ClassVar[type] = AccelerationYaw

    time_constant_s: Annotated[Real, POSITIVE] = 0.4
    max_horizontal_acceleration_mps2: Annotated[Real, POSITIVE] = 4.0
    max_vertical_acceleration_mps2: Annotated[Real, POSITIVE] = 4.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[VelocityYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], AccelerationYaw]:
        del dt_s, key
        command, estimate = inputs
        error = command.velocity_world_mps - estimate.velocity_world_mps
        acceleration = limit_horizontal_and_vertical(
            command.acceleration_world_mps2 + error / self.time_constant_s,
            self.max_horizontal_acceleration_mps2,
            self.max_vertical_acceleration_mps2,
        )
        return state, AccelerationYaw(
            acceleration, command.yaw_rad, yaw_rate_radps=command.yaw_rate_radps
        )


def limit_horizontal_and_vertical(v: Vec3, horizontal: Real, vertical: Real) -> Vec3:
    """Return a vector with limited horizontal length and limited vertical component."""
    level = Vec3(v.x, v.y, 0.0).clip_norm(horizontal)
    return Vec3(level.x, level.y, jnp.clip(v.z, -vertical, vertical))
