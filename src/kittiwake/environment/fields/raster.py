"""Gridded map with bilinear interpolation between cell centers.

Beyond the centers of its outermost cells the map is constant.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.field import AbstractField


class Grid(Module):
    """Values of cells, the first one in the south-west, and their source file.

    ``middle_m`` is the center of the first cell, in the file's own axes.
    """

    source: str = field(static=True)
    middle_m: tuple[float, float]
    cell_m: float
    values: Float[Array | np.ndarray, "north east"]


class Raster(AbstractField[tuple[()]]):
    """Field from a file; ``offset_world_m`` is the position of the file's origin in the world.

    Attributes:
        file: ASCII grid or CSV file.
        offset_world_m: displacement of the file's origin.
    """

    file: Grid
    unit: str = field(static=True, default="")
    offset_world_m: Vec3 = Vec3(0.0, 0.0, 0.0)
    trend_per_m: Real = 0.0
    drift_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)

    @override
    def at_surface(self, sample: tuple[()], east_m: Real, north_m: Real) -> Real:
        del sample
        values = jnp.asarray(self.file.values, jnp.result_type(float))
        west, south = self.file.middle_m
        rows, columns = values.shape
        column, x = _between(east_m - self.offset_world_m.x - west, self.file.cell_m, columns)
        row, y = _between(north_m - self.offset_world_m.y - south, self.file.cell_m, rows)
        after, above = jnp.minimum(column + 1, columns - 1), jnp.minimum(row + 1, rows - 1)
        below = values[row, column] * (1.0 - x) + values[row, after] * x
        return below * (1.0 - y) + y * (
            values[above, column] * (1.0 - x) + values[above, after] * x
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Raster"]:
        grid = Grid("six.asc", (-3.0, -4.0), 5.0, np.array([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]]))
        return {"of six cells": cls(file=grid, trend_per_m=0.1)}


def _between(offset_m: Real, cell_m: Real, count: int) -> tuple[Array, Array]:
    """Return the index of the cell center before a point, and the point's offset in cells."""
    along = jnp.clip(offset_m / cell_m, 0.0, count - 1.0)
    before = jnp.minimum(jnp.floor(along), max(count - 2.0, 0.0))
    return before.astype(jnp.int32), along - before
