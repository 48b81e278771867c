"""The shortest way between two places that keeps a clearance from obstacles.

First on a grid of points with 26 neighbors each, by Dijkstra's method (SciPy's, which visits all
points faster than A* in Python visits few; both find the same length). What the grid believes to be
free is then looked at in full: of steps that are not, none is taken again. Then the way is pulled
tight: of its points, and of points between them, those are kept by which the sum of straight ways
is shortest, again and again; a grid's detours and corners so become straight lines between corners
of obstacles. Each point counts like a little more of length, so that there are few of them.
"""

from itertools import pairwise, product

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from kittiwake.core.errors import ScenarioError
from kittiwake.guidance.planning.free_space import FreeSpace, Points

MOST_POINTS = 300_000
# searches of the grid, each without the steps that were seen to be blocked
SEARCHES = 50
# how often a way is pulled tight, with about so many points
PULLS, PULLED_POINTS = 8, 40
# what a corner counts for, in parts of the clearance
CORNER = 0.02
# a way of which the length changes by a smaller part is tight
TIGHT = 1e-4
# half of the neighbors: the others are the same steps backwards
STEPS = [step for step in product((-1, 0, 1), repeat=3) if step > (0, 0, 0)]


def shortest_way(
    space: FreeSpace, ends_m: Points, clearance_m: float, resolution_m: float
) -> Points | None:
    """Corners of the way from the first of two ends to the other; None if there is none.

    Raises:
        ScenarioError: if the grid would have too many points.
    """
    if space.clear(ends_m[:1], ends_m[1:], clearance_m)[0]:
        return ends_m
    grid = _grid(space, resolution_m)
    free = np.flatnonzero(space.clearances_m(grid.reshape(-1, 3)) >= clearance_m)
    points = np.concatenate([grid.reshape(-1, 3)[free], ends_m])
    steps, lengths = _steps(grid.shape[:3], free, points, 2.0 * resolution_m)
    for _ in range(SEARCHES):
        way = _on_graph(steps, lengths, len(points))
        if way is None:
            return None
        clear = space.clear(points[way[:-1]], points[way[1:]], clearance_m)
        if clear.all():
            return _tight(space, points[way], clearance_m)
        taken = np.sort(np.stack([way[:-1], way[1:]])[:, ~clear], axis=0)
        codes = steps.min(axis=0) * len(points) + steps.max(axis=0)
        kept = ~np.isin(codes, taken[0] * len(points) + taken[1])
        steps, lengths = steps[:, kept], lengths[kept]
    return None


def _grid(space: FreeSpace, resolution_m: float) -> Float[np.ndarray, "x y z 3"]:
    """Points at most so far apart along each axis."""
    sides = space.high_m - space.low_m
    wanted = np.prod(np.floor(sides / resolution_m) + 2.0)
    if wanted > MOST_POINTS:
        coarser = resolution_m * float(np.cbrt(wanted / MOST_POINTS)) * 1.1
        message = (
            f"resolution_m: {resolution_m:g} makes {wanted:.3g} points in the "
            f"{' x '.join(f'{side:.3g}' for side in sides)} m between the ends and around the "
            f"obstacles; at most {MOST_POINTS:,} are searched: write {coarser:.2g} or more, or a "
            "smaller world.area"
        )
        raise ScenarioError(message)
    axes = [
        np.linspace(low, high, int((high - low) // resolution_m) + 2)
        for low, high in zip(space.low_m, space.high_m, strict=True)
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def _steps(
    shape: tuple[int, ...], free: Int[np.ndarray, " free"], points: Points, reach_m: float
) -> tuple[Int[np.ndarray, "2 steps"], Float[np.ndarray, " steps"]]:
    """Between neighbors that are both free, and from the two last points to those near them."""
    number = np.full(int(np.prod(shape)), -1)
    number[free] = np.arange(len(free))
    place = np.stack(np.unravel_index(free, shape))
    found: list[Int[np.ndarray, "2 some"]] = []
    for step in STEPS:
        there = place + np.array(step)[:, None]
        inside = ((there >= 0) & (there < np.array(shape)[:, None])).all(axis=0)
        other = number[np.ravel_multi_index(tuple(there[:, inside]), shape)]
        found.append(np.stack([np.flatnonzero(inside)[other >= 0], other[other >= 0]]))
    for end in (len(free), len(free) + 1):
        away = np.linalg.norm(points[: len(free)] - points[end], axis=1)
        near = np.flatnonzero(away <= reach_m)
        found.append(np.stack([near, np.full(len(near), end)]))
    steps = np.concatenate(found, axis=1)
    return steps, np.linalg.norm(points[steps[0]] - points[steps[1]], axis=1)


def _on_graph(
    steps: Int[np.ndarray, "2 steps"], lengths: Float[np.ndarray, " steps"], count: int
) -> Int[np.ndarray, " way"] | None:
    """The shortest way from the last but one point to the last one."""
    graph = coo_array((lengths, (steps[0], steps[1])), shape=(count, count)).tocsr()
    begin, end = count - 2, count - 1
    away, before = dijkstra(graph, directed=False, indices=begin, return_predecessors=True)
    if not np.isfinite(away[end]):
        return None
    way = [end]
    while way[-1] != begin:
        way.append(int(before[way[-1]]))
    return np.array(way[::-1])


def _tight(space: FreeSpace, way: Points, clearance_m: float) -> Points:
    way = _shortened(space, way, clearance_m)
    for _ in range(PULLS):
        before_m = length_m(way)
        way = _shortened(space, _filled(way, before_m / PULLED_POINTS), clearance_m)
        if abs(length_m(way) - before_m) < before_m * TIGHT:
            break
    return way


def _shortened(space: FreeSpace, way: Points, clearance_m: float) -> Points:
    """The shortest of all ways over some of the points, in their order."""
    one, other = np.triu_indices(len(way), 1)
    clear = space.clear(way[one], way[other], clearance_m) | (other == one + 1)
    lengths = np.linalg.norm(way[other] - way[one], axis=1)
    steps = np.full((len(way), len(way)), np.inf)
    steps[one[clear], other[clear]] = lengths[clear]
    total, before = np.zeros(len(way)), np.zeros(len(way), int)
    for place in range(1, len(way)):
        sums = total[:place] + steps[:place, place] + CORNER * clearance_m
        before[place] = np.argmin(sums)
        total[place] = sums[before[place]]
    kept = [len(way) - 1]
    while kept[-1]:
        kept.append(int(before[kept[-1]]))
    return way[kept[::-1]]


def _filled(way: Points, spacing_m: float) -> Points:
    """With points between: evenly, and ever nearer to the corners."""
    shares_near = 0.5 ** np.arange(2, 6)
    filled = [way[:1]]
    for begin, end in pairwise(way):
        count = int(np.ceil(np.linalg.norm(end - begin) / spacing_m))
        even = np.arange(1, count) / count
        shares = np.unique(np.concatenate([even, shares_near, 1.0 - shares_near, [1.0]]))
        filled.append(begin + shares[:, None] * (end - begin))
    return np.concatenate(filled)


def length_m(way: Points) -> float:
    """Of straight lines from point to point."""
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())
