"""Vehicles and what they know of others, for tests."""

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


def peer(place, velocity=(0.0, 0.0, 0.0), number=1, *, mate=True, heard=True) -> Neighbor:
    return as_arrays(Neighbor(vector(place), vector(velocity), 0.0, number, mate=mate, heard=heard))


def nobody() -> Neighbor:
    return peer((9.0, 9.0, 9.0), (9.0, 9.0, 9.0), heard=False)


def company(*others: Neighbor, leader: Neighbor | None = None, number=0, size=1) -> NeighborTable:
    """What a vehicle knows, with somebody that it does not hear beside these."""
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *others, nobody())
    return NeighborTable(stacked, leader or nobody(), jnp.asarray(number), jnp.asarray(size))
