"""Alignment (Reynolds 1987): at the velocity of the others.

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
from kittiwake.swarm.teammates import count_mates, over_mates


class Alignment(AbstractBehavior):
    """Takes over the mean velocity of its mates; k is ``gain``."""

    gain: Annotated[Real, NOT_NEGATIVE] = 0.5

    @override
    def desired_velocity_world_mps(self, own: Kinematics, peers: NeighborTable) -> Vec3:
        number = count_mates(peers)
        whole = over_mates(peers, lambda mate: mate.velocity_world_mps)
        mean = whole / jnp.maximum(number, 1.0)
        wish = (mean - own.velocity_world_mps) * self.gain
        return wish * jnp.where(number > 0.0, 1.0, 0.0)
