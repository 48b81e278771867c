"""Separation (Reynolds 1987): away from those that are too near.

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
from kittiwake.swarm.teammates import over_heard


class Separation(AbstractBehavior):
    """From every vehicle nearer than ``distance_m`` (d), of whatever team; k is ``gain_m2ps``."""

    distance_m: Annotated[Real, POSITIVE] = 3.0
    gain_m2ps: Annotated[Real, NOT_NEGATIVE] = 1.0

    @override
    def desired_velocity_world_mps(self, own: Kinematics, peers: NeighborTable) -> Vec3:
        def away(peer: Neighbor) -> Vec3:
            way = own.position_world_m - peer.position_world_m
            square = way.dot(way)
            near = (square < jnp.square(self.distance_m)) & (square > 0.0)
            return way * jnp.where(near, 1.0 / jnp.where(near, square, 1.0), 0.0)

        return over_heard(peers, away) * self.gain_m2ps
