"""Alignment (Reynolds 1987): matches the mean velocity of the teammates.

v = k (mean_j v_j - v_i)
"""

from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.swarm.teammates import count_teammates, sum_over_teammates


class Alignment(AbstractBehavior):
    """Matches the mean velocity of the teammates; k is ``gain``.

    Attributes:
        gain: k.
    """

    gain: Annotated[Real, NOT_NEGATIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        count = count_teammates(neighbors)
        total = sum_over_teammates(neighbors, lambda teammate: teammate.velocity_world_mps)
        mean = total / jnp.maximum(count, 1.0)
        velocity = (mean - own.velocity_world_mps) * self.gain
        return velocity * jnp.where(count > 0.0, 1.0, 0.0)
