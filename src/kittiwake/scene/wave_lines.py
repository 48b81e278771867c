"""Lines on the water surface that make its waves visible."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.offscreen_renderer import Polyline

# every second grid line of the inner half of the mesh
EVERY, INNER = 2, 0.5
RGB, OPACITY, ABOVE_M = (225, 240, 250), 0.28, 0.015


def wave_lines(
    vertices_world_m: Float[np.ndarray, "vertices 3"], width_px: float
) -> Iterator[Polyline]:
    """Yield lines over a square mesh that moves by whole cells; the lines stay in place."""
    side = round(len(vertices_world_m) ** 0.5)
    grid = vertices_world_m.reshape(side, side, 3) + np.array([0.0, 0.0, ABOVE_M])
    middle = side // 2
    cell = grid[middle, middle + 1, 0] - grid[middle, middle, 0]
    half_count = round(INNER * middle)
    inner = np.arange(middle - half_count, middle + half_count + 1)
    east, north = (round(float(grid[middle, middle, axis]) / cell) for axis in (0, 1))
    for numbers, place, mesh in ((inner, north, grid), (inner, east, grid.swapaxes(0, 1))):
        for number in numbers[(numbers - middle + place) % EVERY == 0]:
            yield Polyline(mesh[number, inner], RGB, width_px, OPACITY)
