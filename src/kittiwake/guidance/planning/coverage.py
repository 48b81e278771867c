"""Coverage path: all of a body of water is at most half a lane spacing away from it.

A rectangle along the lanes is swept from side to side. Any other water is circled once, along its
shore and that of each island, and between these covered by parallel lanes, which the shore cuts.
The distance from a point of the water across to the nearest lane is at most half a spacing, and
where the shore lies in between, the path along it is nearer: so nothing is left out.

Adjacent lanes without a shore in between form one cell, which is covered there and back
(H. Choset and P. Pignon, "Coverage path planning: the boustrophedon cellular decomposition", 1998).
The shortest path through the water leads from one cell or shore to the nearest next one.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely import LinearRing, Polygon
from shapely.affinity import rotate
from shapely.geometry.base import BaseGeometry

from kittiwake.guidance.planning.lane_gaps import gaps_over
from kittiwake.guidance.planning.open_water import TOLERANCE_M, OpenWater, Pair, length_m

RECTANGLE_TOLERANCE = 1e-9
# largest number of headings that are tried for the fewest lanes
MAX_HEADINGS = 180


class Lane(NamedTuple):
    """Lane between two ends, at a coordinate across."""

    across_m: float
    begin_m: float
    end_m: float

    def beside(self, other: "Lane") -> bool:
        """Return True if it overlaps another lane along their direction."""
        return min(self.end_m, other.end_m) - max(self.begin_m, other.begin_m) > TOLERANCE_M

    def ends(self, *, back: bool) -> list[Pair]:
        """Return both ends in the order in which they are passed."""
        ends = [(self.begin_m, self.across_m), (self.end_m, self.across_m)]
        return ends[::-1] if back else ends


def coverage_path(
    water: Polygon, spacing_m: float, heading_rad: float | None, begin: Pair
) -> list[Pair]:
    """Return the waypoints of the path, from near a point on; by default along the best heading."""
    heading = _best_heading_rad(water, spacing_m) if heading_rad is None else heading_rad
    rotated = _rotated(water, -heading)
    here = _rotated_point(begin, -heading)
    paths = OpenWater(rotated)
    cells = _cells(_lanes(rotated, spacing_m))
    left: list[list[list[list[Pair]]]] = [_passes(cell) for cell in cells]
    path: list[Pair] = []
    if not _is_rectangle(rotated):
        shore = rotated.exterior
        path = _round(shore, here)
        left += [_rounds(island) for island in rotated.interiors]
    else:
        path = [min(left[0], key=lambda lanes: math.dist(lanes[0][0], here))[0][0]]
    while left:
        place, lanes = _nearest(paths, path[-1], left)
        left.pop(place)
        for lane in lanes:
            path += [*paths.path(path[-1], lane[0]), *lane[1:]]
    return [_rotated_point(place, heading) for place in _distinct(path)]


def lane_count(water: Polygon, spacing_m: float, heading_rad: float) -> int:
    """Return the number of lanes along a heading."""
    return sum(map(len, _lanes(_rotated(water, -heading_rad), spacing_m)))


def _best_heading_rad(water: Polygon, spacing_m: float) -> float:
    """Return the heading of the fewest lanes, along a side of the hull; then of the least width."""
    hull: Any = water.convex_hull
    corners = np.asarray(hull.exterior.coords)
    sides = np.diff(corners, axis=0)
    angles = np.arctan2(sides[:, 1], sides[:, 0]) % math.pi
    headings = angles[np.sort(np.unique(np.round(angles, 9), return_index=True)[1])]
    longest = headings[np.linspace(0, len(headings) - 1, MAX_HEADINGS).astype(int)]
    candidates = (longest if len(headings) > MAX_HEADINGS else headings).tolist()

    def lanes_and_width(heading: float) -> tuple[int, float]:
        _, low, _, high = _rotated(water, -heading).bounds
        return lane_count(water, spacing_m, heading), round(high - low, 6)

    return min(candidates, key=lanes_and_width)


def _is_rectangle(shape: Polygon) -> bool:
    """Return True if the shape is a rectangle along the axes."""
    box = shapely.box(*shape.bounds)
    return not shape.interiors and abs(box.area - shape.area) <= RECTANGLE_TOLERANCE * box.area


def _lanes(shape: Polygon, spacing_m: float) -> list[list[Lane]]:
    """Return the lanes of each line across the shape, from west to east."""
    west, low, east, high = shape.bounds
    gaps = gaps_over(high - low, spacing_m)
    if _is_rectangle(shape):
        across = [low + (high - low) * line / gaps for line in range(gaps + 1)]
        return [[Lane(y, west, east)] for y in across]
    across = [low + (high - low) * (line + 0.5) / gaps for line in range(gaps)]
    lines = shapely.linestrings([[[west - 1.0, y], [east + 1.0, y]] for y in across])
    cut = shapely.line_merge(shapely.intersection(shape, lines))
    return [_in_order(y, parts) for y, parts in zip(across, cut, strict=True)]


def _in_order(across_m: float, parts: BaseGeometry) -> list[Lane]:
    bounds = [part.bounds for part in shapely.get_parts(parts) if part.length > TOLERANCE_M]
    return sorted(Lane(across_m, west, east) for west, _, east, _ in bounds)


def _cells(lines: Sequence[Sequence[Lane]]) -> list[list[Lane]]:
    """Return the cells of adjacent lanes; a new one begins where the shore splits or joins them."""
    cells = [[lane] for lane in lines[0]]
    open_cells = list(cells)
    for before, line in pairwise(lines):
        following: list[list[Lane]] = []
        for lane in line:
            beside = [i for i, other in enumerate(before) if lane.beside(other)]
            alone = len(beside) == 1 and sum(before[beside[0]].beside(one) for one in line) == 1
            if alone:
                following.append(open_cells[beside[0]])
                following[-1].append(lane)
            else:
                following.append([lane])
                cells.append(following[-1])
        open_cells = following
    return cells


def _passes(cell: Sequence[Lane]) -> list[list[list[Pair]]]:
    """Return the four passes along a cell's lanes, one from each of its corners."""
    orders = (cell, cell[::-1])
    return [
        [lane.ends(back=(number % 2 == 1) != back) for number, lane in enumerate(order)]
        for order in orders
        for back in (False, True)
    ]


def _rounds(ring: LinearRing) -> list[list[list[Pair]]]:
    """Return the circuits of a shore, one from each of its corners."""
    return [[_round(ring, (x, y))] for x, y in list(ring.coords)[:-1]]


def _round(ring: LinearRing, near: Pair) -> list[Pair]:
    """Return the circuit of a shore from its corner nearest to a point."""
    corners: list[Pair] = [(float(x), float(y)) for x, y in list(ring.coords)[:-1]]
    first = min(range(len(corners)), key=lambda i: math.dist(corners[i], near))
    return [*corners[first:], *corners[: first + 1]]


def _nearest(
    paths: OpenWater, here: Pair, left: Sequence[list[list[list[Pair]]]]
) -> tuple[int, list[list[Pair]]]:
    """Return the index of the nearest remaining part, and the pass along it."""
    choices = [(math.dist(here, p[0][0]), i, p) for i, passes in enumerate(left) for p in passes]
    choices.sort(key=lambda choice: choice[0])
    best, found = math.inf, (choices[0][1], choices[0][2])
    for straight_m, place, lanes in choices:
        if straight_m >= best:
            break
        path_m = length_m(here, paths.path(here, lanes[0][0]))
        if path_m < best:
            best, found = path_m, (place, lanes)
    return found


def _distinct(path: Sequence[Pair]) -> list[Pair]:
    """Return the path without repeated points."""
    kept = [path[0]]
    kept += [place for before, place in pairwise(path) if math.dist(before, place) > TOLERANCE_M]
    return kept


def _rotated(shape: Polygon, angle_rad: float) -> Polygon:
    return rotate(shape, angle_rad, origin=(0.0, 0.0), use_radians=True)


def _rotated_point(place: Pair, angle_rad: float) -> Pair:
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return c * place[0] - s * place[1], s * place[0] + c * place[1]
