"""Search of the shortest path between two points that keeps a clearance from obstacles.

First on a grid with 26 neighbors per point, by Dijkstra's method (SciPy's, which visits all points
faster than A* in Python visits few; both find the same length). The steps of the grid path are then
checked in full; blocked ones are removed and the search is repeated. Then the path is pulled tight:
of its points, and of points between them, those are kept that minimize the sum of straight
segments, repeatedly; detours and corners of the grid so become straight lines between corners of
obstacles. Each point adds a small length to the cost, so that there are few of them.
"""

from itertools import pairwise, product

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from kittiwake.core.errors import ScenarioError
from kittiwake.guidance.planning.free_space import FreeSpace, Points

MAX_POINTS = 300_000
# largest number of searches of the grid, each without the blocked steps found before
SEARCHES = 50
# largest number of tightenings, and the approximate number of points in each
TIGHTENINGS, TIGHTENING_POINTS = 8, 40
# cost of a corner, as a share of the clearance
CORNER_COST = 0.02
# relative change of length below which a path is tight
TOLERANCE = 1e-4
# half of the neighbors: the others are the same steps backwards
STEPS = [step for step in product((-1, 0, 1), repeat=3) if step > (0, 0, 0)]


def shortest_path(
    space: FreeSpace, ends_m: Points, clearance_m: float, resolution_m: float
) -> Points | None:
    """Return the corners of the path from the first of two ends to the other; None without one.

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
        path = _on_graph(steps, lengths, len(points))
        if path is None:
            return None
        clear = space.clear(points[path[:-1]], points[path[1:]], clearance_m)
        if clear.all():
            return _tight(space, points[path], clearance_m)
        blocked = np.sort(np.stack([path[:-1], path[1:]])[:, ~clear], axis=0)
        codes = steps.min(axis=0) * len(points) + steps.max(axis=0)
        kept = ~np.isin(codes, blocked[0] * len(points) + blocked[1])
        steps, lengths = steps[:, kept], lengths[kept]
    return None


def _grid(space: FreeSpace, resolution_m: float) -> Float[np.ndarray, "x y z 3"]:
    """Return the points of a grid with at most this spacing along each axis."""
    sides = space.high_m - space.low_m
    count = np.prod(np.floor(sides / resolution_m) + 2.0)
    if count > MAX_POINTS:
        coarser = resolution_m * float(np.cbrt(count / MAX_POINTS)) * 1.1
        message = (
            f"`resolution_m`: got {resolution_m:g}, which is {count:.3g} points in the "
            f"{' x '.join(f'{side:.3g}' for side in sides)} m between the ends and around the "
            f"obstacles; must be {MAX_POINTS:,} at most: write {coarser:.2g} or more, or a "
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
    """Return edges and lengths between free neighbors, and from the two ends to near points."""
    index = np.full(int(np.prod(shape)), -1)
    index[free] = np.arange(len(free))
    place = np.stack(np.unravel_index(free, shape))
    found: list[Int[np.ndarray, "2 some"]] = []
    for step in STEPS:
        there = place + np.array(step)[:, None]
        inside = ((there >= 0) & (there < np.array(shape)[:, None])).all(axis=0)
        other = index[np.ravel_multi_index(tuple(there[:, inside]), shape)]
        found.append(np.stack([np.flatnonzero(inside)[other >= 0], other[other >= 0]]))
    for end in (len(free), len(free) + 1):
        away = np.linalg.norm(points[: len(free)] - points[end], axis=1)
        near = np.flatnonzero(away <= reach_m)
        found.append(np.stack([near, np.full(len(near), end)]))
    steps = np.concatenate(found, axis=1)
    return steps, np.linalg.norm(points[steps[0]] - points[steps[1]], axis=1)


def _on_graph(
    steps: Int[np.ndarray, "2 steps"], lengths: Float[np.ndarray, " steps"], count: int
) -> Int[np.ndarray, " path"] | None:
    """Return the shortest path from the last but one point to the last one."""
    graph = coo_array((lengths, (steps[0], steps[1])), shape=(count, count)).tocsr()
    begin, end = count - 2, count - 1
    away, before = dijkstra(graph, directed=False, indices=begin, return_predecessors=True)
    if not np.isfinite(away[end]):
        return None
    path = [end]
    while path[-1] != begin:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def _tight(space: FreeSpace, path: Points, clearance_m: float) -> Points:
    path = _shortened(space, path, clearance_m)
    for _ in range(TIGHTENINGS):
        before_m = length_m(path)
        path = _shortened(space, _filled(path, before_m / TIGHTENING_POINTS), clearance_m)
        if abs(length_m(path) - before_m) < before_m * TOLERANCE:
            break
    return path


def _shortened(space: FreeSpace, path: Points, clearance_m: float) -> Points:
    """Return the shortest path over a subset of the points, in their order."""
    one, other = np.triu_indices(len(path), 1)
    clear = space.clear(path[one], path[other], clearance_m) | (other == one + 1)
    lengths = np.linalg.norm(path[other] - path[one], axis=1)
    steps = np.full((len(path), len(path)), np.inf)
    steps[one[clear], other[clear]] = lengths[clear]
    total, before = np.zeros(len(path)), np.zeros(len(path), int)
    for place in range(1, len(path)):
        sums = total[:place] + steps[:place, place] + CORNER_COST * clearance_m
        before[place] = np.argmin(sums)
        total[place] = sums[before[place]]
    kept = [len(path) - 1]
    while kept[-1]:
        kept.append(int(before[kept[-1]]))
    return path[kept[::-1]]


def _filled(path: Points, spacing_m: float) -> Points:
    """Return the path with points between: evenly, and increasingly near to the corners."""
    shares_near = 0.5 ** np.arange(2, 6)
    filled = [path[:1]]
    for begin, end in pairwise(path):
        count = int(np.ceil(np.linalg.norm(end - begin) / spacing_m))
        even = np.arange(1, count) / count
        shares = np.unique(np.concatenate([even, shares_near, 1.0 - shares_near, [1.0]]))
        filled.append(begin + shares[:, None] * (end - begin))
    return np.concatenate(filled)


def length_m(path: Points) -> float:
    """Return the length of straight segments from point to point."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
