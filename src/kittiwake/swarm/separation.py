"""Separation (Reynolds 1987): away from vehicles that are too close.

v = k sum_j (p_i - p_j) / |p_i - p_j|^2,    over all |p_i - p_j| < d
"""

from typing import Annotated

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.swarm.teammates import sum_over_neighbors


class Separation(AbstractBehavior):
    """Flies away from vehicles of any team nearer than ``distance_m`` (d); k is ``gain_m2ps``.

    Attributes:
        distance_m: d, below which neighbors are avoided.
        gain_m2ps: k.
    """

    distance_m: Annotated[Real, POSITIVE] = 3.0
    gain_m2ps: Annotated[Real, NOT_NEGATIVE] = 1.0

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        def away(neighbor: Neighbor) -> Vec3:
            offset = own.position_world_m - neighbor.position_world_m
            square = offset.dot(offset)
            near = (square < jnp.square(self.distance_m)) & (square > 0.0)
            return offset * jnp.where(near, 1.0 / jnp.where(near, square, 1.0), 0.0)

        return sum_over_neighbors(neighbors, away) * self.gain_m2ps
