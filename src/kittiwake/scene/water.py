"""The water as waves move it: its heights at a time, and a sheet of them to look at.

The sheet is fine around a place and wider and wider away from it, where it is flat: one surface up
to the horizon. Its realization is that of a flight with the same seed in double precision.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from kittiwake.core.keys import named, seed_key
from kittiwake.core.streams import Stream
from kittiwake.rendering.look import Look
from kittiwake.rendering.shapes import Shape
from kittiwake.scene.extent import extent_of
from kittiwake.scene.frame import Show
from kittiwake.scene.static_objects import COUNTRY, WATER_SQUARES_RGB
from kittiwake.world.water import Waterplane
from kittiwake.world.waves import WAVES

POINTS = 49
# of half the sheet's points, up to where it shows all of a wave, and from where none
ALL_OF_IT, NONE_OF_IT = 0.6, 0.92
# of the widest side of what is looked at, and what the fine part reaches at least and at most
FINE_SHARE, FINE_M = 0.4, (8.0, 40.0)
# how sharply the sheet widens
WIDENING = 7
OPACITY = 1.0

Places = Float[np.ndarray, "points 2"]
Heights = Float[np.ndarray, " points"]


class Sea:
    """The waves of a show that has some (``has_waves``)."""

    def __init__(self, show: Show) -> None:
        self._heights = _compiled(show)
        widest = extent_of(show).widest_m
        u = np.linspace(-1.0, 1.0, POINTS)
        fine = float(np.clip(FINE_SHARE * widest, *FINE_M))
        wide = max(COUNTRY * widest, 2.0 * fine)
        line = fine * u + (wide - fine) * u**WIDENING
        self._grid_m = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
        out = np.abs(np.stack(np.meshgrid(u, u), axis=-1)).max(axis=-1).ravel()
        fading = np.clip((NONE_OF_IT - out) / (NONE_OF_IT - ALL_OF_IT), 0.0, 1.0)
        self._share = fading * fading * (3.0 - 2.0 * fading)
        self._cell_m = 2.0 * fine / (POINTS - 1)
        self.faces = _faces(POINTS)

    def heights_world_m(self, time_s: float, places_world_m: Places) -> Heights:
        """Of the surface at places (east, north)."""
        with jax.enable_x64(True):  # noqa: FBT003  JAX's own
            return np.asarray(self._heights(float(time_s), np.asarray(places_world_m, float)))

    def vertices_world_m(
        self, time_s: float, center_world_m: Float[np.ndarray, "2"]
    ) -> Float[np.ndarray, "points 3"]:
        """Of the sheet around a place; it moves on by whole cells, so that no crest jumps."""
        center = np.round(np.asarray(center_world_m) / self._cell_m) * self._cell_m
        places = self._grid_m + center
        heights = self.heights_world_m(time_s, places) * self._share
        return np.column_stack([places, heights])

    def look(self, time_s: float, center_world_m: Float[np.ndarray, "2"]) -> Look:
        """The sheet."""
        shape = Shape(self.vertices_world_m(time_s, center_world_m), self.faces)
        return shape.look(WATER_SQUARES_RGB, OPACITY)


def has_waves(show: Show) -> bool:
    """Whether the water of a show moves."""
    return WAVES in show.scenario.world.processes


def _compiled(show: Show) -> Callable[[float, Places], Any]:
    sea = show.scenario.world.processes[WAVES].component

    def begin(key: PRNGKeyArray) -> Any:
        return sea.init(named(named(key, Stream.WORLD.of(WAVES)), Stream.INIT))

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        key = seed_key(show.seed)
        begun = jax.jit(begin)(key)

    def heights(time_s: Any, places: Any) -> Any:
        _, waves = sea.step(begun, time_s, 0.0, key)

        def height(place: Any) -> Any:
            return waves.under(Waterplane(place[0], place[1])).height_world_m

        return jax.vmap(height)(places)

    return jax.jit(heights)


def _faces(points: int) -> np.ndarray:
    number = np.arange(points * points).reshape(points, points)
    one, right = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
    up, across = number[1:, :-1].ravel(), number[1:, 1:].ravel()
    return np.concatenate(
        [np.column_stack([one, right, across]), np.column_stack([one, across, up])]
    )
