"""Sums over what a vehicle knows of others."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


def over_heard(peers: NeighborTable, of: Callable[[Neighbor], Vec3]) -> Vec3:
    """The sum of a vector over all others that are heard of."""
    return _sum(peers, of, peers.others.heard)


def over_mates(peers: NeighborTable, of: Callable[[Neighbor], Vec3]) -> Vec3:
    """The sum of a vector over the others that fly along."""
    return _sum(peers, of, _mates(peers))


def count_mates(peers: NeighborTable) -> Real:
    """How many of the others fly along, as a number to divide by."""
    return jnp.sum(_mates(peers), dtype=jnp.result_type(float))


def middle_world_m(own: Kinematics, peers: NeighborTable) -> Vec3:
    """C_N, the mean place of a vehicle and its mates (Micklisch et al. 2021, equation 46)."""
    whole = own.position_world_m + over_mates(peers, lambda mate: mate.position_world_m)
    return whole / (1.0 + count_mates(peers))


def _mates(peers: NeighborTable) -> Any:
    """Of each of the others, whether it flies along."""
    return peers.others.heard & peers.others.mate


def _sum(peers: NeighborTable, of: Callable[[Neighbor], Vec3], counts: Any) -> Vec3:
    parts = jax.vmap(of)(peers.others)
    return jax.tree.map(lambda part: jnp.sum(jnp.where(counts, part, 0.0)), parts)
