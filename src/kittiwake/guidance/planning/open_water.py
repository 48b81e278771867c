"""Navigable water: a polygon without its islands and a margin, and shortest paths in it.

A shortest path is straight except at reflex corners of the water, so only these can be its bends:
it is Dijkstra's path in the visibility graph of the bends. The margin is an offset of the shore
with round corners, approximated by chords of about an eighth of a quarter turn: there a path may be
1.1 % of the margin too close.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import shapely
from jaxtyping import Bool, Float
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from kittiwake.core.errors import ScenarioError

Pair = tuple[float, float]
# nearer points are identical; by this a path may leave the water due to rounding
TOLERANCE_M = 1e-7
CHORDS = 8
# end of the reason that GEOS gives for an invalid polygon
PLACE = re.compile(r"\[(\S+) (\S+)\]")
MAX_CORNERS = 1000
MAX_BENDS = 600


def free_water(
    outline_m: Sequence[Pair], islands_m: Mapping[str, Sequence[Pair]], margin_m: float, name: str
) -> Polygon:
    """Return the polygon without the named islands and the margin.

    Raises:
        ScenarioError: if it is not a polygon, or if nothing or several parts are left of it.
    """
    corners = len(outline_m) + sum(map(len, islands_m.values()))
    if corners > MAX_CORNERS:
        message = f"{name}: got {corners} corners; must be {MAX_CORNERS} at most. Simplify it"
        raise ScenarioError(message)
    water: Any = _simple(outline_m, name)
    land = shapely.union_all([_simple(island, name) for name, island in islands_m.items()])
    left = water.difference(land)
    if left.area <= TOLERANCE_M * TOLERANCE_M:
        message = f"{name}: islands cover all of its water; write smaller ones, or omit them"
        raise ScenarioError(message)
    free = left.buffer(-margin_m, quad_segs=CHORDS) if margin_m > 0.0 else left
    parts = [part for part in shapely.get_parts(free) if part.area > TOLERANCE_M * TOLERANCE_M]
    if not parts:
        radius = shapely.maximum_inscribed_circle(left, tolerance=1e-3 * left.length).length
        message = f"`margin_m`: got {margin_m:g}, which leaves no water; must be below {radius:.3g}"
        raise ScenarioError(message)
    if len(parts) > 1:
        sizes = " and ".join(f"{part.area:.3g}" for part in parts[:3])
        message = (
            f"`margin_m`: got {margin_m:g}, which with the islands splits the water into "
            f"{len(parts)} parts, of {sizes} m2; write a smaller margin, or survey each by itself"
        )
        raise ScenarioError(message)
    return shapely.orient_polygons(parts[0])


def _simple(corners_m: Sequence[Pair], name: str) -> Polygon:
    """Return the polygon of the corners, if it is valid."""
    if len(set(corners_m)) < 3:
        message = f"{name}: got {len(set(corners_m))} points; a polygon must have at least three"
        raise ScenarioError(message)
    polygon = Polygon(corners_m)
    if not polygon.is_valid:
        found = PLACE.search(shapely.is_valid_reason(polygon))
        where = "" if found is None else f"; they cross at ({', '.join(found.groups())}) m"
        message = f"{name}: sides must neither cross nor touch each other{where}"
        raise ScenarioError(message)
    return polygon


def islands_reaching_out(
    outline_m: Sequence[Pair], islands_m: Mapping[str, Sequence[Pair]]
) -> list[str]:
    """Return the names of the islands that lie outside a polygon, at least in part."""
    water = Polygon(outline_m)
    return [name for name, island in islands_m.items() if not water.covers(Polygon(island))]


@dataclass(frozen=True, eq=False)
class OpenWater:
    """Shortest paths inside a polygon."""

    shape: Polygon

    def path(self, begin: Pair, end: Pair) -> list[Pair]:
        """Return the bends of the shortest path, and its end."""
        if self._free(np.array([begin]), np.array([end]))[0]:
            return [end]
        bends, (apart, before) = self._bends, self._between
        from_begin, from_end = self._reach(begin), self._reach(end)
        total = from_begin[:, None] + apart + from_end[None]
        first, last = np.unravel_index(int(total.argmin()), total.shape)
        assert np.isfinite(total[first, last]), "one piece of water"
        trace = [int(last)]
        while trace[-1] != first:
            trace.append(int(before[first, trace[-1]]))
        return [*((float(x), float(y)) for x, y in bends[trace[::-1]]), end]

    def _reach(self, place: Pair) -> Float[np.ndarray, " bends"]:
        """Return the distance to each visible bend; infinity to the others."""
        here = np.broadcast_to(np.array(place), self._bends.shape)
        return np.where(self._free(here, self._bends), _distance(here, self._bends), np.inf)

    def _free(
        self, begins: Float[np.ndarray, "lines 2"], ends: Float[np.ndarray, "lines 2"]
    ) -> Bool[np.ndarray, " lines"]:
        lines = shapely.linestrings(np.stack([begins, ends], axis=1))
        return shapely.covers(self._grown, lines) | (_distance(begins, ends) < TOLERANCE_M)

    @cached_property
    def _grown(self) -> BaseGeometry:
        grown = self.shape.buffer(TOLERANCE_M, join_style="mitre")
        shapely.prepare(grown)
        return grown

    @cached_property
    def _bends(self) -> Float[np.ndarray, "bends 2"]:
        """Return the reflex corners of the water, which lies to the left of every ring."""
        found = [np.empty((0, 2))]
        for ring in (self.shape.exterior, *self.shape.interiors):
            here = np.asarray(ring.coords)[:-1]
            incoming, outgoing = here - np.roll(here, 1, axis=0), np.roll(here, -1, axis=0) - here
            found.append(here[incoming[:, 0] * outgoing[:, 1] < incoming[:, 1] * outgoing[:, 0]])
        bends = np.concatenate(found)
        if len(bends) > MAX_BENDS:
            message = (
                f"got {len(bends)} reflex corners of the water; must be {MAX_BENDS} at most. "
                "Simplify the shore; a margin rounds each of its corners"
            )
            raise ScenarioError(message)
        return bends

    @cached_property
    def _between(self) -> tuple[Float[np.ndarray, "bends bends"], np.ndarray]:
        """Return lengths and predecessors of the shortest paths between all bends."""
        # imported here, since it takes a tenth of a second and most flights do not need it
        from scipy.sparse.csgraph import shortest_path

        bends = self._bends
        one, other = np.triu_indices(len(bends), 1)
        lengths = np.zeros((len(bends), len(bends)))
        seen = self._free(bends[one], bends[other])
        away = _distance(bends[one], bends[other])
        lengths[one[seen], other[seen]] = away[seen]
        return shortest_path(lengths, method="D", directed=False, return_predecessors=True)


def length_m(begin: Pair, places: Sequence[Pair]) -> float:
    """Return the length of a path through points."""
    line = np.array([begin, *places])
    return float(_distance(line[1:], line[:-1]).sum())


def _distance(
    a: Float[np.ndarray, "places 2"], b: Float[np.ndarray, "places 2"]
) -> Float[np.ndarray, " places"]:
    return np.hypot(*(a - b).T)
