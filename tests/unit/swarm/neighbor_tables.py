"""Vehicles and neighbor tables for tests."""

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.kinematics import Kinematics, Start
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.geometry.vec3 import Vec3


def vector(numbers) -> Vec3:
    return Vec3.of([*map(float, numbers)])


def vehicle(place=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0)) -> Kinematics:
    return as_arrays(Start(vector(place), velocity_world_mps=vector(velocity)).kinematics())


def neighbor(
    place, velocity=(0.0, 0.0, 0.0), index_in_team=1, *, teammate=True, received=True
) -> Neighbor:
    return as_arrays(
        Neighbor(
            vector(place),
            vector(velocity),
            0.0,
            index_in_team,
            teammate=teammate,
            received=received,
        )
    )


def unheard() -> Neighbor:
    return neighbor((9.0, 9.0, 9.0), (9.0, 9.0, 9.0), received=False)


def neighbor_table(
    *others: Neighbor, leader: Neighbor | None = None, index_in_team=0, size=1
) -> NeighborTable:
    """Return a neighbor table with one unreceived neighbor after these."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *others, unheard())
    return NeighborTable(
        stacked, leader or unheard(), jnp.asarray(index_in_team), jnp.asarray(size)
    )
