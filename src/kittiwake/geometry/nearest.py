"""Nearest neighbors of each of many points.

Up to a thousand points all pairs are examined, but for points that have nothing near, as counts of
the points in cells tell. More points are sorted by the cell that they lie in; the side of a cell is
the search radius. The neighbors of a point then lie in nine ranges of the sorted list, one for each
column of three cells, and a loop examines a few points of each range at a time. If cells contain a
bounded number of points, the cost is proportional to the number of points. The result is exact in
any case.
"""

from itertools import product
from math import isinf
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from kittiwake.geometry.scalar import Real

# offsets along x and y of a cell's column and of the eight columns around it
COLUMNS = tuple((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1))
# number of distinct cell indices along each axis; others are equal modulo this number
CELLS = 1 << 10
# largest distance in cells that fits an integer
FARTHEST = 2.0**30
# points of each range examined per iteration: the fastest of 1, 2, 4, 8 and 16 in all uses
TOGETHER = 4
# up to this number of points all pairs are examined, which compiles and runs faster: of 1,000 in a
# flock in a fifth of the time of cells
MAX_ALL_PAIRS = 1024
# up to this number of points these are examined at once, and else point by point, as the distances
# of one point fit the nearest memory
MAX_AT_ONCE = 64
# number of counts by which points without neighbors are found
COUNTED_CELLS = 1 << 16


class NearestNeighbors(NamedTuple):
    """Nearest neighbors of each point, the nearest first.

    Attributes:
        indices: the indices of the neighbors; where there are fewer, the point's own index.
        found: false where there are fewer neighbors than columns.
        neighbor_count: the number of all points within the radius, listed or not.
    """

    indices: Int[Array, "points most"]
    found: Bool[Array, "points most"]
    neighbor_count: Int[Array, " points"]


def nearest(
    points_m: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real, most: int
) -> NearestNeighbors:
    """Return the nearest neighbors of each point.

    Args:
        points_m: the positions, in any frame.
        present: false for points to ignore: they have no neighbors and are none.
        within_m: the search radius, exclusive.
        most: the largest number of neighbors; the order of equally distant ones is undefined.

    The result is not differentiable.
    """
    points = jax.lax.stop_gradient(jnp.where(present[:, None], points_m, 0.0))
    size = len(points)
    unlimited = isinstance(within_m, float) and isinf(within_m)
    search = _all_pairs if unlimited or size <= max(MAX_ALL_PAIRS, most) else _by_cells
    square_m2, indices, count = search(points, present, within_m, min(most, size))
    found = jnp.isfinite(square_m2)
    return NearestNeighbors(jnp.where(found, indices, _count_to(size)[:, None]), found, count)


# squared distances, indices, and the number of points within the radius
_Found = tuple[Float[Array, "points most"], Int[Array, "points most"], Int[Array, " points"]]


def _all_pairs(
    points: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real, most: int
) -> _Found:
    numbers, coordinates = _count_to(len(points)), tuple(points.T)

    def search(own: Int[Array, ""]) -> tuple[Array, Array, Array]:
        x, y, z = (along - along[own] for along in coordinates)
        square_m2 = x * x + y * y + z * z
        counts = present & present[own] & (numbers != own) & (square_m2 < jnp.square(within_m))
        square_m2 = jnp.where(counts, square_m2, jnp.inf).astype(jnp.float32)
        negative, indices = jax.lax.top_k(-square_m2, most)
        return -negative, indices.astype(jnp.int32), _counted(square_m2)

    if len(points) <= MAX_AT_ONCE:
        return jax.vmap(search)(numbers)
    alone = (
        jnp.full(most, jnp.inf, jnp.float32),
        jnp.zeros(most, jnp.int32),
        jnp.zeros((), jnp.int32),
    )
    crowded = _crowded(points, present, within_m)
    return jax.lax.map(
        lambda own: jax.lax.cond(crowded[own], search, lambda _: alone, own), numbers
    )


def _crowded(
    points: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real
) -> Bool[Array, " points"]:
    """Return False for points without another one within a radius; for a few of them True.

    The cells are twice as wide as the radius, so that what is near a point lies in at most eight.
    Their counts are kept by the remainders of their indices.
    """
    finite = jnp.where(present[:, None], points, 0.0)
    radius_m = 1.001 * within_m + 8.0 * jnp.finfo(points.dtype).eps * jnp.max(jnp.abs(finite))

    def cells(places_m: Float[Array, "points 3"]) -> Int[Array, "points 3"]:
        bounded = jnp.clip(places_m / (2.0 * radius_m), -FARTHEST, FARTHEST)
        return jnp.floor(bounded).astype(jnp.int32)

    counts = jnp.zeros(COUNTED_CELLS, jnp.int32)
    counts = counts.at[_remainder(*cells(finite).T)].add(present.astype(jnp.int32))
    low, high = cells(finite - radius_m).T, cells(finite + radius_m).T
    total = jnp.zeros(len(points), jnp.int32)
    for upper in product((False, True), repeat=3):
        cell = [above if up else below for up, below, above in zip(upper, low, high, strict=True)]
        # else it is that of a corner before
        is_new = jnp.ones(len(points), bool)
        for up, below, above in zip(upper, low, high, strict=True):
            is_new = is_new & (below != above) if up else is_new
        total = total + jnp.where(is_new, counts[_remainder(*cell)], 0)
    return total > 1


def _remainder(x: Array, y: Array, z: Array) -> Array:
    """Return a number below ``COUNTED_CELLS`` for a cell (Teschner et al. 2003, section 4)."""
    mixed = (x * 73856093) ^ (y * 19349663) ^ (z * 83492791)
    return mixed & (COUNTED_CELLS - 1)


def _by_cells(
    points: Float[Array, "points 3"], present: Bool[Array, " points"], within_m: Real, most: int
) -> _Found:
    low = jnp.min(jnp.where(present[:, None], points, jnp.inf), axis=0)
    # distant cells of equal index cost time only; cells of a column must be consecutive
    x, y, high = jnp.minimum((points - low[None]) / within_m, FARTHEST).astype(jnp.int32).T
    z = 1 + jnp.minimum(high, CELLS - 3)
    own = jnp.where(present, _cell(x, y, z), CELLS**3 - 1)
    order = jnp.argsort(own).astype(jnp.int32)
    ordered = own[order]
    lowest = jnp.stack([_cell(x + i, y + j, z - 1) for i, j in COLUMNS], axis=1)
    begin = jnp.searchsorted(ordered, lowest, side="left").astype(jnp.int32)
    end = jnp.searchsorted(ordered, lowest + 2, side="right").astype(jnp.int32)

    def examine(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        at, square_m2, indices, count = carry
        places = at[:, :, None] + _count_to(TOGETHER)[None, None, :]
        there = (places < end[:, :, None]).reshape(len(points), -1)
        others = order[jnp.minimum(places, len(points) - 1)].reshape(len(points), -1)
        squares_m2 = _squares_m2(points, present, within_m, others, there)
        best = _best(
            jnp.concatenate([square_m2, squares_m2], axis=1),
            jnp.concatenate([indices, others], axis=1),
            most,
        )
        return at + TOGETHER, *best, count + _counted(squares_m2)

    far = jnp.full((len(points), most), jnp.inf, jnp.float32)
    none = jnp.zeros((len(points), most), jnp.int32)
    initial = (begin, far, none, jnp.zeros(len(points), jnp.int32))
    at_end = jax.lax.while_loop(lambda carry: jnp.any(carry[0] < end), examine, initial)
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
    """Return squared distances, infinite where there is no neighbor; float32 sorts faster."""
    offset = points[others] - points[:, None]
    square_m2 = jnp.sum(offset * offset, axis=-1)
    counts = there & present[others] & present[:, None]
    counts = counts & (others != _count_to(len(points))[:, None])
    counts = counts & (square_m2 < jnp.square(within_m))
    return jnp.where(counts, square_m2, jnp.inf).astype(jnp.float32)


def _best(
    square_m2: Float[Array, "points others"], indices: Int[Array, "points others"], most: int
) -> tuple[Float[Array, "points most"], Int[Array, "points most"]]:
    negative, places = jax.lax.top_k(-square_m2, most)
    return -negative, jnp.take_along_axis(indices, places, axis=1).astype(jnp.int32)


def _counted(square_m2: Float[Array, "*points others"]) -> Int[Array, "*points"]:
    return jnp.sum(jnp.isfinite(square_m2), axis=-1, dtype=jnp.int32)


def _count_to(number: int) -> Int[Array, " number"]:
    return jnp.arange(number, dtype=jnp.int32)
