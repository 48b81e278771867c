"""Terrain classes and persons on the ground, as a process of the world and as sensors see them."""

from abc import abstractmethod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real, Reals
from kittiwake.pytree import Module
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import FlightArea, WorldModel

# name of the terrain among a world's processes
TERRAIN = "terrain"
# terrain classes
OPEN, CLUTTER, OCCLUSION = 0, 1, 2


class Terrain(Module):
    """Terrain classes by cells, and the persons on the ground.

    Attributes:
        classes: class of each cell, by its index to the east and to the north.
        area: area that is divided into the cells; beyond it the class is that at its edge.
        persons_world_m: east and north of the center of each person.
        person_exists: true for each person that exists.
        person_size_m: side of the square that a person covers, with sides along the axes.
    """

    classes: Int8[Array, "east north"]
    area: FlightArea
    persons_world_m: Float[Array, "persons 2"]
    person_exists: Bool[Array, " persons"]
    person_size_m: Real

    def class_at(
        self, east_m: Reals | Float[np.ndarray, "..."], north_m: Reals | Float[np.ndarray, "..."]
    ) -> Int[Array, "..."]:
        """Return the terrain class at positions, each an array or a number."""
        rows, columns = self.classes.shape
        row = _cell(east_m, self.area.x_m, rows)
        return self.classes[row, _cell(north_m, self.area.y_m, columns)].astype(jnp.int32)


class AbstractTerrain(AbstractProcessKind):
    """Kind of terrain."""

    def check(self, area: FlightArea) -> None:
        """Raise ScenarioError for an area that is too large, before compilation."""
        area.check_drawable(("x_m", "y_m"))

    @abstractmethod
    def generate(self, area: FlightArea, key: PRNGKeyArray) -> Terrain:
        """Return the terrain of one flight, random where parameters are not given."""

    @override
    def process(self, world: WorldModel, period_s: float) -> "TerrainProcess":
        del period_s
        self.check(world.area)
        return TerrainProcess(self, world.area)


class TerrainProcess(AbstractProcess[Terrain, Terrain]):
    """Process of the terrain of one world, which is constant."""

    kind: AbstractTerrain
    area: FlightArea

    @override
    def init(self, key: PRNGKeyArray) -> Terrain:
        return self.kind.generate(self.area, key)

    @override
    def step(
        self, state: Terrain, inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Terrain, Terrain]:
        del inputs, dt_s, key
        return state, state


def _cell(
    position_m: Reals | Float[np.ndarray, "..."], side_m: tuple[Real, Real], cells: int
) -> Int[Array, "..."]:
    low, high = side_m
    share = jax.lax.stop_gradient((position_m - low) / (high - low))
    # clipped first, as a distant position would overflow as an integer
    return jnp.floor(jnp.clip(share, 0.0, 1.0) * cells).clip(0, cells - 1).astype(jnp.int32)
