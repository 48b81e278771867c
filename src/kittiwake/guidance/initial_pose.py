"""Estimated pose of a vehicle at the start of its task."""

from functools import partial

import jax
import jax.numpy as jnp

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class InitialPose(Module):
    """Position and yaw of the first estimate; ``known`` is False before it."""

    known: Flag
    position_world_m: Vec3
    yaw_rad: Real

    @classmethod
    def unknown(cls) -> "InitialPose":
        """Return the state before the first step."""
        zero = Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        return cls(jnp.asarray(False), zero, jnp.asarray(0.0))

    def updated(self, estimate: Kinematics) -> "InitialPose":
        """Return this pose if it is known, or else that of the estimate."""
        now = InitialPose(
            jnp.asarray(True), estimate.position_world_m, estimate.euler_world_from_body.yaw_rad
        )
        return jax.tree.map(partial(jnp.where, self.known), self, now)
