"""A way on which all of a piece of water is passed no farther away than half a lane's spacing.

A rectangle along the lanes is swept from side to side. Any other water is gone round once, along
its shore and that of each island, and between these along lanes across it, which the shore cuts.
From a place of the water straight across to the nearest lane it is at most half a spacing, and
where the shore comes in between, that was gone along: so nothing is left out.

Lanes that lie beside each other without a shore in between are one cell, gone along there and back
(H. Choset and P. Pignon, "Coverage path planning: the boustrophedon cellular decomposition", 1998).
From one cell or shore to the nearest next one leads the shortest way through the water.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import shapely
from shapely import Polygon
from shapely.affinity import rotate

from kittiwake.core.errors import ScenarioError
from kittiwake.guidance.planning.open_water import TOUCH_M, OpenWater, Pair, length_m

MOST_LANES = 1000
# a width of so much more than a whole number of spacings is one
SPACING_TOLERANCE = 1e-9
RECTANGLE_TOLERANCE = 1e-9
# headings that are tried for the fewest lanes
MOST_HEADINGS = 180


class Lane(NamedTuple):
    """Between two ends, at a place across."""

    across_m: float
    begin_m: float
    end_m: float

    def beside(self, other: "Lane") -> bool:
        """Whether it lies abreast of another."""
        return min(self.end_m, other.end_m) - max(self.begin_m, other.begin_m) > TOUCH_M

    def ends(self, *, back: bool) -> list[Pair]:
        """Both, in the order in which they are passed."""
        ends = [(self.begin_m, self.across_m), (self.end_m, self.across_m)]
        return ends[::-1] if back else ends


def gaps_over(width_m: float, spacing_m: float) -> int:
    """How many gaps between lanes fill a width.

    Raises:
        ScenarioError: if there would be too many lanes.
    """
    gaps = width_m / spacing_m
    if gaps > MOST_LANES - 1:
        message = (
            f"lane_spacing_m: {spacing_m:g} makes {gaps:.3g} lanes over a width of "
            f"{width_m:.6g} m; at most {MOST_LANES} are sailed, so write at least "
            f"{width_m / (MOST_LANES - 1):.3g}"
        )
        raise ScenarioError(message)
    return max(math.ceil(gaps - SPACING_TOLERANCE), 1)


def covering(
    water: Polygon, spacing_m: float, heading_rad: float | None, begin: Pair
) -> list[Pair]:
    """The places of the way, from near a place on; lanes along a heading, or the best one."""
    heading = _best_heading_rad(water, spacing_m) if heading_rad is None else heading_rad
    turned: Any = _turned(water, -heading)
    here = _turned_place(begin, -heading)
    ways = OpenWater(turned)
    cells = _cells(_lanes(turned, spacing_m))
    left: list[list[list[list[Pair]]]] = [_passes(cell) for cell in cells]
    way: list[Pair] = []
    if not _is_rectangle(turned):
        shore: Any = turned.exterior
        way = _round(shore, here)
        left += [_rounds(island) for island in turned.interiors]
    else:
        way = [min(left[0], key=lambda lanes: math.dist(lanes[0][0], here))[0][0]]
    while left:
        place, lanes = _nearest(ways, way[-1], left)
        left.pop(place)
        for lane in lanes:
            way += [*ways.way(way[-1], lane[0]), *lane[1:]]
    return [_turned_place(place, heading) for place in _apart(way)]


def lane_count(water: Polygon, spacing_m: float, heading_rad: float) -> int:
    """How many lanes there are along a heading."""
    return sum(map(len, _lanes(_turned(water, -heading_rad), spacing_m)))


def _best_heading_rad(water: Polygon, spacing_m: float) -> float:
    """That of the fewest lanes, along a side of the hull; of the narrowest width among these."""
    hull: Any = water.convex_hull
    corners: Any = np.asarray(hull.exterior.coords)
    sides = np.diff(corners, axis=0)
    every = np.arctan2(sides[:, 1], sides[:, 0]) % math.pi
    headings = every[np.sort(np.unique(np.round(every, 9), return_index=True)[1])]
    longest = headings[np.linspace(0, len(headings) - 1, MOST_HEADINGS).astype(int)]
    tried = (longest if len(headings) > MOST_HEADINGS else headings).tolist()

    def turns(heading: float) -> tuple[int, float]:
        _, low, _, high = _turned(water, -heading).bounds
        return lane_count(water, spacing_m, heading), round(high - low, 6)

    return min(tried, key=turns)


def _is_rectangle(shape: Polygon) -> bool:
    """Whether it is one along the axes."""
    box = shapely.box(*shape.bounds)
    return not shape.interiors and abs(box.area - shape.area) <= RECTANGLE_TOLERANCE * box.area


def _lanes(shape: Polygon, spacing_m: float) -> list[list[Lane]]:
    """By line across, those of a line from west to east."""
    west, low, east, high = shape.bounds
    gaps = gaps_over(high - low, spacing_m)
    if _is_rectangle(shape):
        across = [low + (high - low) * line / gaps for line in range(gaps + 1)]
        return [[Lane(y, west, east)] for y in across]
    across = [low + (high - low) * (line + 0.5) / gaps for line in range(gaps)]
    lines = shapely.linestrings([[[west - 1.0, y], [east + 1.0, y]] for y in across])
    cut = shapely.line_merge(shapely.intersection(shape, lines))
    return [_in_order(y, parts) for y, parts in zip(across, cut, strict=True)]


def _in_order(across_m: float, parts: Any) -> list[Lane]:
    bounds = [part.bounds for part in shapely.get_parts(parts) if part.length > TOUCH_M]
    return sorted(Lane(across_m, west, east) for west, _, east, _ in bounds)


def _cells(lines: Sequence[Sequence[Lane]]) -> list[list[Lane]]:
    """Lanes that follow each other; where the shore parts or joins them a new cell begins."""
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
    """The four ways along a cell's lanes, from each of its corners."""
    orders = (cell, cell[::-1])
    return [
        [lane.ends(back=(number % 2 == 1) != back) for number, lane in enumerate(order)]
        for order in orders
        for back in (False, True)
    ]


def _rounds(ring: Any) -> list[list[list[Pair]]]:
    """The ways round a shore, from each of its corners."""
    return [[_round(ring, (x, y))] for x, y in list(ring.coords)[:-1]]


def _round(ring: Any, near: Pair) -> list[Pair]:
    """Round a shore from its corner that is nearest to a place, and back there."""
    corners: list[Pair] = [(float(x), float(y)) for x, y in list(ring.coords)[:-1]]
    first = min(range(len(corners)), key=lambda i: math.dist(corners[i], near))
    return [*corners[first:], *corners[: first + 1]]


def _nearest(
    ways: OpenWater, here: Pair, left: Sequence[list[list[list[Pair]]]]
) -> tuple[int, list[list[Pair]]]:
    """Which of what is left begins nearest, and the pass along it."""
    choices = [(math.dist(here, p[0][0]), i, p) for i, passes in enumerate(left) for p in passes]
    choices.sort(key=lambda choice: choice[0])
    best, found = math.inf, (choices[0][1], choices[0][2])
    for straight_m, place, lanes in choices:
        if straight_m >= best:
            break
        way_m = length_m(here, ways.way(here, lanes[0][0]))
        if way_m < best:
            best, found = way_m, (place, lanes)
    return found


def _apart(way: Sequence[Pair]) -> list[Pair]:
    """Without places that are the one before."""
    kept = [way[0]]
    kept += [place for before, place in pairwise(way) if math.dist(before, place) > TOUCH_M]
    return kept


def _turned(shape: Polygon, angle_rad: float) -> Polygon:
    return rotate(shape, angle_rad, origin=(0.0, 0.0), use_radians=True)


def _turned_place(place: Pair, angle_rad: float) -> Pair:
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return c * place[0] - s * place[1], s * place[0] + c * place[1]
