"""Vehicles that come too close to each other.

Two vehicles whose centres are nearer than a distance have collided (QRSim: 2 m, strictly below).
Every pair is looked at, so the cost grows with the square of their number.
"""

from typing import Annotated, Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.component import AbstractInteraction
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.surroundings import Surroundings
from kittiwake.geometry.scalar import Real


class Proximity(AbstractInteraction):
    """Marks both vehicles of each pair that is closer than the distance."""

    collision_distance_m: Annotated[Real, POSITIVE]

    def __call__(self, vehicles: Kinematics, surroundings: Surroundings) -> Surroundings:
        """The surroundings with ``collided`` set."""
        position = vehicles.position_world_m
        square = _squares(position.x) + _squares(position.y) + _squares(position.z)
        others = ~jnp.eye(square.shape[0], dtype=bool)
        close = (square < self.collision_distance_m * self.collision_distance_m) & others
        return eqx.tree_at(
            lambda around: around.collided, surroundings, surroundings.collided | close.any(axis=1)
        )


def _squares(x: Any) -> Float[Array, "vehicles vehicles"]:
    # a scalar of one vehicle by its type, here one number for each of them
    return (x[:, None] - x[None, :]) ** 2
