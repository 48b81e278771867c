"""The nearest of many points to each of them, by a grid of cells.

Points are sorted by the cell that they lie in, with sides as long as the search goes. Those near a
point then lie in nine stretches of the sorted list, one for each column of three cells, and a loop
looks at a few of each stretch at a time. While cells hold a bounded number of points, the cost so
grows in proportion to the number of points, and the answer is exact however many a cell holds.
"""

from math import isinf
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kittiwake.geometry.scalar import Real

# of the two cells beside one along x and along y, and itself
COLUMNS = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1))
# different numbers of cells along each axis
CELLS = 1 << 10
# what is farther away, in cells, has no integer
FARTHEST = 2.0**30
# so many of each stretch are looked at together: the fastest of 1, 2, 4, 8 and 16 for all uses
TOGETHER = 4
# up to so many points all pairs are looked at, which compiles and runs faster
FEW = 64


class NearestNeighbors(NamedTuple):
    """Of each point the numbers of the nearest others, the nearest first.

    ``found`` is false, and the number the point's own, where there are no more of them. ``crowd``
    counts all that are near, also those that are too many to be told.
    """

    numbers: Int[Array, "points most"]
    found: Bool[Array, "points most"]
    crowd: Int[Array, " points"]


def nearest(
    points_m: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real, most: int
) -> NearestNeighbors:
    """The nearest others of each point.

    Args:
        points_m: in any axes.
        present: which of them there are; what is not, is nobody's neighbor and has none.
        within_m: others that are as far or farther are not looked for.
        most: others at most; of two that are equally near either.

    No derivative goes through the choice.
    """
    points = jax.lax.stop_gradient(jnp.where(present[:, None], points_m, 0.0))
    size = len(points)
    everywhere = isinstance(within_m, float) and isinf(within_m)
    search = _all_pairs if everywhere or size <= max(FEW, most) else _by_cells
    square_m2, numbers, crowd = search(points, present, within_m, min(most, size))
    found = jnp.isfinite(square_m2)
    return NearestNeighbors(jnp.where(found, numbers, _count_to(size)[:, None]), found, crowd)


# squares of distances, numbers, and how many are near
_Found = tuple[Float[Array, "points most"], Int[Array, "points most"], Int[Array, " points"]]


def _all_pairs(
    points: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real, most: int
) -> _Found:
    every = jnp.broadcast_to(_count_to(len(points)), (len(points), len(points)))
    square_m2 = _squares_m2(points, present, within_m, every, present[None, :])
    return *_best(square_m2, every, most), _counted(square_m2)


def _by_cells(
    points: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real, most: int
) -> _Found:
    low = jnp.min(jnp.where(present[:, None], points, jnp.inf), axis=0)
    # cells of one number far apart cost time, and hide nothing; those of columns are to be in turn
    x, y, high = jnp.minimum((points - low[None]) / within_m, FARTHEST).astype(jnp.int32).T
    z = 1 + jnp.minimum(high, CELLS - 3)
    own = jnp.where(present, _cell(x, y, z), CELLS**3 - 1)
    order = jnp.argsort(own).astype(jnp.int32)
    ordered = own[order]
    lowest = jnp.stack([_cell(x + i, y + j, z - 1) for i, j in COLUMNS], axis=1)
    begin = jnp.searchsorted(ordered, lowest, side="left").astype(jnp.int32)
    end = jnp.searchsorted(ordered, lowest + 2, side="right").astype(jnp.int32)

    def looked_at(carried: tuple[Array, ...]) -> tuple[Array, ...]:
        at, square_m2, numbers, count = carried
        places = at[:, :, None] + _count_to(TOGETHER)[None, None, :]
        there = (places < end[:, :, None]).reshape(len(points), -1)
        others = order[jnp.minimum(places, len(points) - 1)].reshape(len(points), -1)
        squares_m2 = _squares_m2(points, present, within_m, others, there)
        best = _best(
            jnp.concatenate([square_m2, squares_m2], axis=1),
            jnp.concatenate([numbers, others], axis=1),
            most,
        )
        return at + TOGETHER, *best, count + _counted(squares_m2)

    nobody = jnp.full((len(points), most), jnp.inf, jnp.float32)
    none = jnp.zeros((len(points), most), jnp.int32)
    begun = (begin, nobody, none, jnp.zeros(len(points), jnp.int32))
    at_end = jax.lax.while_loop(lambda carried: jnp.any(carried[0] < end), looked_at, begun)
    return at_end[1], at_end[2], at_end[3]


def _cell(x: Array, y: Array, z: Array) -> Array:
    return (x % CELLS * CELLS + y % CELLS) * CELLS + z


def _squares_m2(
    points: Float[Array, "points 3"],
    present: Bool[Array, " points"],
    within_m: Real,
    others: Int[Array, "points others"],
    there: Bool[Array, "#points others"],
) -> Float[Array, "points others"]:
    """Of the distances, in single precision, which is sorted faster; infinite for nobody."""
    way = points[others] - points[:, None]
    square_m2 = jnp.sum(way * way, axis=-1)
    counts = there & present[others] & present[:, None]
    counts = counts & (others != _count_to(len(points))[:, None])
    counts = counts & (square_m2 < jnp.square(within_m))
    return jnp.where(counts, square_m2, jnp.inf).astype(jnp.float32)


def _best(
    square_m2: Float[Array, "points others"], numbers: Int[Array, "points others"], most: int
) -> tuple[Float[Array, "points most"], Int[Array, "points most"]]:
    negative, places = jax.lax.top_k(-square_m2, most)
    return -negative, jnp.take_along_axis(numbers, places, axis=1).astype(jnp.int32)


def _counted(square_m2: Float[Array, "points others"]) -> Int[Array, " points"]:
    return jnp.sum(jnp.isfinite(square_m2), axis=1, dtype=jnp.int32)


def _count_to(number: int) -> Int[Array, " number"]:
    return jnp.arange(number, dtype=jnp.int32)
