"""Sums over the neighbor table of a vehicle."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3


def sum_over_neighbors(neighbors: NeighborTable, of: Callable[[Neighbor], Vec3]) -> Vec3:
    """Return the sum of a vector over all received neighbors."""
    return _sum(neighbors, of, neighbors.entries.received)


def sum_over_teammates(neighbors: NeighborTable, of: Callable[[Neighbor], Vec3]) -> Vec3:
    """Return the sum of a vector over the received neighbors of the same team."""
    return _sum(neighbors, of, _is_teammate(neighbors))


def count_teammates(neighbors: NeighborTable) -> Real:
    """Return the number of received teammates, as a floating-point number."""
    return jnp.sum(_is_teammate(neighbors), dtype=jnp.result_type(float))


def center_world_m(own: Kinematics, neighbors: NeighborTable) -> Vec3:
    """Return C_N, the mean position of vehicle and teammates (Micklisch et al. 2021, eq. 46)."""
    total = own.position_world_m + sum_over_teammates(
        neighbors, lambda teammate: teammate.position_world_m
    )
    return total / (1.0 + count_teammates(neighbors))


def _is_teammate(neighbors: NeighborTable) -> Flag | Bool[Array, " neighbors"]:
    """Return flags of the received neighbors that are in the same team."""
    return neighbors.entries.received & neighbors.entries.teammate


def _sum(
    neighbors: NeighborTable,
    of: Callable[[Neighbor], Vec3],
    counts: Flag | Bool[Array, " neighbors"],
) -> Vec3:
    parts = jax.vmap(of)(neighbors.entries)
    return jax.tree.map(lambda part: jnp.sum(jnp.where(counts, part, 0.0)), parts)
