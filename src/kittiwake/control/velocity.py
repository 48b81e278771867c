"""From a velocity to the acceleration that reaches it: a = a_0 + (v_ref - v) / T, within limits.

a_0 is the acceleration of the wanted velocity itself.

A vehicle that accelerates as it is told follows a step of the velocity like a first-order lag with
the time constant T. Drag and wind leave an offset of T times the acceleration that they cause.
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


class Velocity(AbstractController):
    """Velocity and yaw to acceleration and yaw."""

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
        wanted, estimate = inputs
        error = wanted.velocity_world_mps - estimate.velocity_world_mps
        acceleration = within(
            wanted.acceleration_world_mps2 + error / self.time_constant_s,
            self.max_horizontal_acceleration_mps2,
            self.max_vertical_acceleration_mps2,
        )
        return state, AccelerationYaw(
            acceleration, wanted.yaw_rad, yaw_rate_radps=wanted.yaw_rate_radps
        )


def within(wanted: Vec3, horizontal: Real, vertical: Real) -> Vec3:
    """A vector whose horizontal part is cut to a length and whose vertical part to a range."""
    across = Vec3(wanted.x, wanted.y, 0.0).shortened(horizontal)
    return Vec3(across.x, across.y, jnp.clip(wanted.z, -vertical, vertical))
