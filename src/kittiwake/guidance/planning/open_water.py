"""Water that is free to go: a polygon without its islands and a margin, and shortest ways in it.

A shortest way is straight but for the corners that stick out into the water, so that only these
are its bends: Dijkstra's way through the graph of those of them that see each other. What comes
nearer to the shore than the margin is left out with the round corners of a distance, by chords of
about an eighth of a quarter turn: there a way may be 1.1 % of the margin too near.
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

from kittiwake.core.errors import ScenarioError

Pair = tuple[float, float]
# nearer than this two places are one; so far a way may leave the water by rounding
TOUCH_M = 1e-7
CHORDS = 8
# as GEOS ends the reason for which something is no polygon
PLACE = re.compile(r"\[(\S+) (\S+)\]")
MOST_CORNERS = 1000
MOST_BENDS = 600


def water_within(
    outline_m: Sequence[Pair], islands_m: Mapping[str, Sequence[Pair]], margin_m: float, called: str
) -> Polygon:
    """What is left of a polygon without islands, which have names, and margin.

    Raises:
        ScenarioError: if it is no polygon, or nothing or several parts are left of it.
    """
    corners = len(outline_m) + sum(map(len, islands_m.values()))
    if corners > MOST_CORNERS:
        message = f"{called}: {corners} corners; at most {MOST_CORNERS} are gone round. Simplify it"
        raise ScenarioError(message)
    water: Any = _simple(outline_m, called)
    land = shapely.union_all([_simple(island, name) for name, island in islands_m.items()])
    left = water.difference(land)
    if left.area <= TOUCH_M * TOUCH_M:
        message = f"{called}: islands cover all of its water; write smaller ones, or leave them out"
        raise ScenarioError(message)
    free = left.buffer(-margin_m, quad_segs=CHORDS) if margin_m > 0.0 else left
    parts = [part for part in shapely.get_parts(free) if part.area > TOUCH_M * TOUCH_M]
    if not parts:
        radius = shapely.maximum_inscribed_circle(left, tolerance=1e-3 * left.length).length
        message = f"margin_m: {margin_m:g} leaves no water; write less than {radius:.3g}"
        raise ScenarioError(message)
    if len(parts) > 1:
        sizes = " and ".join(f"{part.area:.3g}" for part in parts[:3])
        message = (
            f"islands and margin_m: {margin_m:g} cut the water into {len(parts)} parts, of {sizes} "
            "m2; write a smaller margin, or survey each of them by itself"
        )
        raise ScenarioError(message)
    return shapely.orient_polygons(parts[0])


def _simple(corners_m: Sequence[Pair], called: str) -> Polygon:
    """A polygon by its corners, if it is one."""
    if len(set(corners_m)) < 3:
        message = f"{called}: {len(set(corners_m))} places are no polygon; write three or more"
        raise ScenarioError(message)
    polygon = Polygon(corners_m)
    if not polygon.is_valid:
        found = PLACE.search(shapely.is_valid_reason(polygon))
        where = "" if found is None else f"; they cross at ({', '.join(found.groups())}) m"
        message = f"{called}: its sides may neither cross nor touch each other{where}"
        raise ScenarioError(message)
    return polygon


def reaching_out(outline_m: Sequence[Pair], islands_m: Mapping[str, Sequence[Pair]]) -> list[str]:
    """The names of the islands that lie outside a polygon, or in part."""
    water = Polygon(outline_m)
    return [name for name, island in islands_m.items() if not water.covers(Polygon(island))]


@dataclass(frozen=True, eq=False)
class OpenWater:
    """Ways that do not leave a polygon."""

    shape: Polygon

    def way(self, begin: Pair, end: Pair) -> list[Pair]:
        """The bends of the shortest way, and its end."""
        if self._free(np.array([begin]), np.array([end]))[0]:
            return [end]
        bends, (apart, before) = self._bends, self._between
        out, back = self._reach(begin), self._reach(end)
        total = out[:, None] + apart + back[None]
        first, last = np.unravel_index(int(total.argmin()), total.shape)
        assert np.isfinite(total[first, last]), "one piece of water"
        trace = [int(last)]
        while trace[-1] != first:
            trace.append(int(before[first, trace[-1]]))
        return [*((float(x), float(y)) for x, y in bends[trace[::-1]]), end]

    def _reach(self, place: Pair) -> Float[np.ndarray, " bends"]:
        """How far each bend is, if it is seen."""
        here = np.broadcast_to(np.array(place), self._bends.shape)
        return np.where(self._free(here, self._bends), _distance(here, self._bends), np.inf)

    def _free(
        self, begins: Float[np.ndarray, "lines 2"], ends: Float[np.ndarray, "lines 2"]
    ) -> Bool[np.ndarray, " lines"]:
        lines = shapely.linestrings(np.stack([begins, ends], axis=1))
        return shapely.covers(self._grown, lines) | (_distance(begins, ends) < TOUCH_M)

    @cached_property
    def _grown(self) -> Any:
        grown = self.shape.buffer(TOUCH_M, join_style="mitre")
        shapely.prepare(grown)
        return grown

    @cached_property
    def _bends(self) -> Float[np.ndarray, "bends 2"]:
        """The corners that stick out into the water, which lies to the left of every ring."""
        found = [np.empty((0, 2))]
        for ring in (self.shape.exterior, *self.shape.interiors):
            here = np.asarray(ring.coords)[:-1]
            came, goes = here - np.roll(here, 1, axis=0), np.roll(here, -1, axis=0) - here
            found.append(here[came[:, 0] * goes[:, 1] < came[:, 1] * goes[:, 0]])
        bends = np.concatenate(found)
        if len(bends) > MOST_BENDS:
            message = (
                f"{len(bends)} corners stick out into the water; a way is found round at most "
                f"{MOST_BENDS}. Simplify the shore; a margin rounds each of its corners"
            )
            raise ScenarioError(message)
        return bends

    @cached_property
    def _between(self) -> tuple[Float[np.ndarray, "bends bends"], Any]:
        """The shortest ways from bend to bend: how long, and which bend comes before the end."""
        # takes a tenth of a second to import, and most flights do not need it
        from scipy.sparse.csgraph import shortest_path

        bends = self._bends
        one, other = np.triu_indices(len(bends), 1)
        lengths = np.zeros((len(bends), len(bends)))
        seen = self._free(bends[one], bends[other])
        away = _distance(bends[one], bends[other])
        lengths[one[seen], other[seen]] = away[seen]
        return shortest_path(lengths, method="D", directed=False, return_predecessors=True)


def length_m(begin: Pair, places: Sequence[Pair]) -> float:
    """Of a way through places."""
    line = np.array([begin, *places])
    return float(_distance(line[1:], line[:-1]).sum())


def _distance(
    a: Float[np.ndarray, "places 2"], b: Float[np.ndarray, "places 2"]
) -> Float[np.ndarray, " places"]:
    return np.hypot(*(a - b).T)
