"""Lines on moving water, without which an eye sees little of its waves."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.offscreen_renderer import Polyline

# of the sheet's grid: every second line of its inner half
EVERY, INNER = 2, 0.5
RGB, OPACITY, ABOVE_M = (225, 240, 250), 0.28, 0.015


def wave_lines(
    vertices_world_m: Float[np.ndarray, "vertices 3"], width_px: float
) -> Iterator[Polyline]:
    """Over a square sheet that moves on by whole cells; the lines stay where they are then."""
    side = round(len(vertices_world_m) ** 0.5)
    grid = vertices_world_m.reshape(side, side, 3) + np.array([0.0, 0.0, ABOVE_M])
    middle = side // 2
    cell = grid[middle, middle + 1, 0] - grid[middle, middle, 0]
    reach = round(INNER * middle)
    near = np.arange(middle - reach, middle + reach + 1)
    east, north = (round(float(grid[middle, middle, axis]) / cell) for axis in (0, 1))
    for numbers, place, sheet in ((near, north, grid), (near, east, grid.swapaxes(0, 1))):
        for number in numbers[(numbers - middle + place) % EVERY == 0]:
            yield Polyline(sheet[number, near], RGB, width_px, OPACITY)
