"""Motion of a vehicle as an observation, relative to a place or in the world."""

from typing import Annotated

import jax.numpy as jnp

from kittiwake.core.bounds import Bounds
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

POSITION_BOUNDS = Bounds(-1000.0, 1000.0)
VELOCITY_BOUNDS = Bounds(-50.0, 50.0)
RATE_BOUNDS = Bounds(-50.0, 50.0)
UNIT_BOUNDS = Bounds(-1.0, 1.0)


class RelativeMotion(Module):
    """Motion relative to a place and a heading, in body axes.

    Attributes:
        offset_body_m: offset to the place.
        velocity_body_mps: velocity over the ground.
        up_body: vertical direction.
        ahead_body: direction of the desired heading.
        angular_velocity_body_radps: body rates.
    """

    offset_body_m: Annotated[Vec3, POSITION_BOUNDS]
    velocity_body_mps: Annotated[Vec3, VELOCITY_BOUNDS]
    up_body: Annotated[Vec3, UNIT_BOUNDS]
    ahead_body: Annotated[Vec3, UNIT_BOUNDS]
    angular_velocity_body_radps: Annotated[Vec3, RATE_BOUNDS]


def relative_motion(position_world_m: Vec3, yaw_rad: Real, motion: Kinematics) -> RelativeMotion:
    """Return a vehicle's motion relative to a place and a desired yaw."""
    body_from_world = motion.q_world_from_body.inverse()
    return RelativeMotion(
        offset_body_m=body_from_world.rotate(position_world_m - motion.position_world_m),
        velocity_body_mps=body_from_world.rotate(motion.velocity_world_mps),
        up_body=body_from_world.rotate(Vec3(0.0, 0.0, 1.0)),
        ahead_body=body_from_world.rotate(Vec3(jnp.cos(yaw_rad), jnp.sin(yaw_rad), 0.0)),
        angular_velocity_body_radps=motion.angular_velocity_body_radps,
    )


class WorldMotion(Module):
    """Motion in world axes, as observed by agents that command velocities.

    Attributes:
        position_world_m: position in the world.
        velocity_world_mps: velocity over the ground.
    """

    position_world_m: Annotated[Vec3, POSITION_BOUNDS]
    velocity_world_mps: Annotated[Vec3, VELOCITY_BOUNDS]

    @classmethod
    def of(cls, motion: Kinematics) -> "WorldMotion":
        """Return the observation of a motion."""
        return cls(motion.position_world_m, motion.velocity_world_mps)
