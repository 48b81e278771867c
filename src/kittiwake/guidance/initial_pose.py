"""Where a vehicle believed itself when its task began."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3


class InitialPose(eqx.Module):
    """The place and the yaw of the first estimate, once there was one."""

    begun: Flag
    position_world_m: Vec3
    yaw_rad: Real

    @classmethod
    def ahead(cls) -> "InitialPose":
        """Before the first step."""
        nowhere = Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        return cls(jnp.asarray(False), nowhere, jnp.asarray(0.0))

    def at(self, estimate: Kinematics) -> "InitialPose":
        """This one, or that of this estimate if it is the first."""
        now = InitialPose(
            jnp.asarray(True), estimate.position_world_m, estimate.euler_world_from_body.yaw_rad
        )
        return jax.tree.map(partial(jnp.where, self.begun), self, now)
