"""How near vehicles are to each other.

Every pair is looked at, so the cost grows with the square of their number.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.environment import AbstractInteraction
from kittiwake.core.presence import Presence
from kittiwake.core.surroundings import Surroundings


class Proximity(AbstractInteraction):
    """Tells each vehicle the distance of its nearest neighbour, between the two centres of mass."""

    def __call__(self, vehicles: Presence, surroundings: Surroundings) -> Surroundings:
        """The surroundings with ``nearest_vehicle_m`` set."""
        position = vehicles.motion.position_world_m
        square = _squares(position.x) + _squares(position.y) + _squares(position.z)
        itself = jnp.eye(square.shape[0], dtype=bool)
        # a vehicle that has diverged is nowhere
        nearest = jnp.where(itself | jnp.isnan(square), jnp.inf, square).min(axis=1)
        apart = nearest > 0.0
        # the root has no derivative where two are in one place
        nearest_m = jnp.where(apart, jnp.sqrt(jnp.where(apart, nearest, 1.0)), 0.0)
        return eqx.tree_at(lambda around: around.nearest_vehicle_m, surroundings, nearest_m)


def _squares(x: Any) -> Float[Array, "vehicles vehicles"]:
    # a scalar of one vehicle by its type, here one number for each of them
    return (x[:, None] - x[None, :]) ** 2
