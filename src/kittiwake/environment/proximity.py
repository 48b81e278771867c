"""Distances between vehicles."""

from typing import Annotated

import jax
import jax.numpy as jnp
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.nearest import nearest
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import replace_unchecked
from kittiwake.world.environment import AbstractInteraction
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Surroundings


class Proximity(AbstractInteraction):
    """Distance of each vehicle's nearest neighbor, between the two centers of mass.

    Vehicles at ``within_m`` or farther are ignored, and the distance is infinite if there are no
    others. Then the cost grows with the number of vehicles, otherwise with its square.

    Attributes:
        within_m: distance below which two vehicles are lost.
    """

    within_m: Annotated[Real, POSITIVE] | None = None

    @override
    def __call__(self, vehicles: InteractionInput, surroundings: Surroundings) -> Surroundings:
        position = vehicles.motion.position_world_m
        # a diverged vehicle has no position
        present = jnp.isfinite(position.x) & jnp.isfinite(position.y) & jnp.isfinite(position.z)
        points = jax.vmap(lambda p: p.array)(position)
        near = nearest(points, present, jnp.inf if self.within_m is None else self.within_m, 1)
        other = jax.tree.map(lambda leaf: leaf[near.indices[:, 0]], position)
        distance_m = jax.vmap(_distance_m)(position, other)
        nearest_m = jnp.where(near.found[:, 0], distance_m, jnp.inf)
        return replace_unchecked(surroundings, nearest_vehicle_m=nearest_m)


def _distance_m(one: Vec3, other: Vec3) -> Real:
    return (one - other).norm()
