"""How a vehicle moves about a place, as most agents see it."""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.bounds import Bounds
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

FAR = Bounds(-1000.0, 1000.0)
FAST = Bounds(-50.0, 50.0)
SPINNING = Bounds(-50.0, 50.0)
COMPONENT = Bounds(-1.0, 1.0)


class RelativeMotion(eqx.Module):
    """Relative to a place and a heading; all in axes that turn with the vehicle.

    Attributes:
        offset_body_m: the way to the place.
        velocity_body_mps: over the ground.
        up_body: the vertical.
        ahead_body: where the vehicle is to look.
        angular_velocity_body_radps: how it turns.
    """

    offset_body_m: Annotated[Vec3, FAR]
    velocity_body_mps: Annotated[Vec3, FAST]
    up_body: Annotated[Vec3, COMPONENT]
    ahead_body: Annotated[Vec3, COMPONENT]
    angular_velocity_body_radps: Annotated[Vec3, SPINNING]


def motion_about(place_world_m: Vec3, yaw_rad: Real, motion: Kinematics) -> RelativeMotion:
    """The motion of a vehicle about a place, looking at which it is to look along a yaw."""
    body_from_world = motion.q_world_from_body.inverse()
    return RelativeMotion(
        offset_body_m=body_from_world.rotate(place_world_m - motion.position_world_m),
        velocity_body_mps=body_from_world.rotate(motion.velocity_world_mps),
        up_body=body_from_world.rotate(Vec3(0.0, 0.0, 1.0)),
        ahead_body=body_from_world.rotate(Vec3(jnp.cos(yaw_rad), jnp.sin(yaw_rad), 0.0)),
        angular_velocity_body_radps=motion.angular_velocity_body_radps,
    )


class WorldMotion(eqx.Module):
    """How a vehicle moves over the world, as agents see it that choose velocities.

    Attributes:
        position_world_m: where it is.
        velocity_world_mps: over the ground.
    """

    position_world_m: Annotated[Vec3, FAR]
    velocity_world_mps: Annotated[Vec3, FAST]

    @classmethod
    def of(cls, motion: Kinematics) -> "WorldMotion":
        """That of a motion."""
        return cls(motion.position_world_m, motion.velocity_world_mps)
