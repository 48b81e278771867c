"""Water surface with waves: heights at a time, and a mesh of them.

The mesh is fine around a center and increasingly coarse and flat away from it, up to the horizon.
The wave realization is that of a flight with the same seed in double precision.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.keys import fold_in_name, seed_key
from kittiwake.core.streams import Stream
from kittiwake.geometry.scalar import Real
from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import Shape
from kittiwake.scene.extent import extent_of
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.scene.static_objects import DISC_RADIUS, WATER_SQUARES_RGB
from kittiwake.world.water import Waterplane
from kittiwake.world.waves import WAVES

POINTS = 49
# relative grid index up to which waves are drawn in full, and from which they are flat
FULL_WAVES, NO_WAVES = 0.6, 0.92
# half width of the fine part relative to the extent, and its limits
FINE_SHARE, FINE_M = 0.4, (8.0, 40.0)
# exponent of the grid spacing
SPACING_EXPONENT = 7
OPACITY = 1.0

Positions = Float[np.ndarray, "points 2"]
Heights = Float[np.ndarray, " points"]


class Sea:
    """Water surface of a flight with waves (``has_waves``)."""

    def __init__(self, flight: FlightInfo) -> None:
        self._heights = _compiled(flight)
        widest = extent_of(flight).widest_m
        u = np.linspace(-1.0, 1.0, POINTS)
        fine = float(np.clip(FINE_SHARE * widest, *FINE_M))
        reach = max(DISC_RADIUS * widest, 2.0 * fine)
        line = fine * u + (reach - fine) * u**SPACING_EXPONENT
        self._grid_m = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
        out = np.abs(np.stack(np.meshgrid(u, u), axis=-1)).max(axis=-1).ravel()
        fade = np.clip((NO_WAVES - out) / (NO_WAVES - FULL_WAVES), 0.0, 1.0)
        self._share = fade * fade * (3.0 - 2.0 * fade)
        self._cell_m = 2.0 * fine / (POINTS - 1)
        self.faces = _faces(POINTS)

    def heights_world_m(self, time_s: float, positions_world_m: Positions) -> Heights:
        """Return the surface heights at positions (east, north)."""
        with jax.enable_x64(True):  # noqa: FBT003  JAX's own
            return np.asarray(self._heights(float(time_s), np.asarray(positions_world_m, float)))

    def vertices_world_m(
        self, time_s: float, center_world_m: Float[np.ndarray, "2"]
    ) -> Float[np.ndarray, "points 3"]:
        """Return the mesh vertices around a center, rounded to whole cells so that crests stay."""
        center = np.round(np.asarray(center_world_m) / self._cell_m) * self._cell_m
        positions = self._grid_m + center
        heights = self.heights_world_m(time_s, positions) * self._share
        return np.column_stack([positions, heights])

    def mesh(self, time_s: float, center_world_m: Float[np.ndarray, "2"]) -> ColoredMesh:
        """Return the mesh around a center."""
        shape = Shape(self.vertices_world_m(time_s, center_world_m), self.faces)
        return shape.colored(WATER_SQUARES_RGB, OPACITY)


def has_waves(flight: FlightInfo) -> bool:
    """Return True if the water has waves."""
    return WAVES in flight.scenario.world.processes


def _compiled(flight: FlightInfo) -> Callable[[float, Positions], Array]:
    sea = flight.scenario.world.processes[WAVES].component

    def init(key: PRNGKeyArray) -> ArrayTree:
        return sea.init(fold_in_name(fold_in_name(key, Stream.WORLD.of(WAVES)), Stream.INIT))

    with jax.enable_x64(True):  # noqa: FBT003  JAX's own
        key = seed_key(flight.seed)
        initial = jax.jit(init)(key)

    def heights(time_s: Real, positions: Float[Array, "points 2"]) -> Float[Array, " points"]:
        _, waves = sea.step(initial, time_s, 0.0, key)

        def height(position: Float[Array, "2"]) -> Float[Array, ""]:
            below = waves.under(Waterplane(position[0], position[1]))
            return jnp.asarray(below.height_world_m)

        return jax.vmap(height)(positions)

    return jax.jit(heights)


def _faces(points: int) -> np.ndarray:
    number = np.arange(points * points).reshape(points, points)
    one, right = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
    up, across = number[1:, :-1].ravel(), number[1:, 1:].ravel()
    return np.concatenate(
        [np.column_stack([one, right, across]), np.column_stack([one, across, up])]
    )
