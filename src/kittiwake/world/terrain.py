"""The ground and who is on it, as a world has them and as sensors see them."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int8, PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.world.environment import AbstractProcess, AbstractProcessKind
from kittiwake.world.world import FlightArea, World

# under this name a world keeps its terrain among its processes
TERRAIN = "terrain"
# classes of the ground
OPEN, CLUTTER, OCCLUSION = 0, 1, 2


class Terrain(eqx.Module):
    """The classes of the ground by cells, and the persons on it.

    Attributes:
        classes: of each cell, by its place to the east and to the north.
        area: that is divided into the cells; beyond it the ground is as at its edge.
        persons_world_m: east and north of the middle of each person.
        there: which of the persons there are.
        person_size_m: side of the square that a person covers, with sides along the axes.
    """

    classes: Int8[Array, "east north"]
    area: FlightArea
    persons_world_m: Float[Array, "persons 2"]
    there: Bool[Array, " persons"]
    person_size_m: Real

    def class_at(self, east_m: Any, north_m: Any) -> Any:
        """The class of the ground at places, each an array or a number."""
        rows, columns = self.classes.shape
        row = _cell(east_m, self.area.x_m, rows)
        return self.classes[row, _cell(north_m, self.area.y_m, columns)].astype(jnp.int32)


class AbstractTerrain(AbstractProcessKind):
    """Kinds of ground."""

    def check(self, area: FlightArea) -> None:
        """Refuses an area on which it could not be, before anything is compiled."""
        area.check_drawable(("x_m", "y_m"))

    @abstractmethod
    def made(self, area: FlightArea, key: PRNGKeyArray) -> Terrain:
        """The ground of one flight; what is not given is drawn."""

    @override
    def process(self, world: World, period_s: float) -> "TerrainProcess":
        del period_s
        self.check(world.area)
        return TerrainProcess(self, world.area)


class TerrainProcess(AbstractProcess):
    """The ground of one world, which stays as it is made."""

    kind: AbstractTerrain
    area: FlightArea

    @override
    def init(self, key: PRNGKeyArray) -> Terrain:
        return self.kind.made(self.area, key)

    @override
    def step(
        self, state: Terrain, inputs: Real, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Terrain, Terrain]:
        del inputs, dt_s, key
        return state, state


def _cell(place_m: Any, side_m: tuple[Real, Real], cells: int) -> Any:
    low, high = side_m
    share = jax.lax.stop_gradient((place_m - low) / (high - low))
    # first into the range, which a place far away would leave as a whole number
    return jnp.floor(jnp.clip(share, 0.0, 1.0) * cells).clip(0, cells - 1).astype(jnp.int32)
