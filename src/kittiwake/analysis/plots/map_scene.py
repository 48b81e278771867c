"""Scene of the maps: limits around what moved, ground, static objects, setpoints and wind."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.plots.map_objects import (
    Corner,
    FlightConditions,
    MapObjects,
    find_map_objects,
    heights_below,
)
from kittiwake.analysis.plots.traces import MEANINGLESS, WIND_WORLD_MPS, Trace, above_ground
from kittiwake.analysis.probed import mapping_in

if TYPE_CHECKING:
    from kittiwake.world.ray import AbstractObstacle

CALM_MPS = 0.01
# largest size of maps that contain setpoints and objects completely, relative to the paths
REACH = 2.0
# size of paths below which they count as of this size
LEAST_SPAN_M = 0.5
# number of positions of each path at which the surface below is computed
SURFACE_SAMPLES = 100
MARGIN, LEAST_SHARE = 1.15, 0.3

Points = Float64[np.ndarray, "rows 3"]


@dataclass(frozen=True, eq=False)
class MapScene:
    """Box of the maps, and the objects in it.

    Attributes:
        low: the lowest coordinates of the box.
        high: the highest coordinates of the box.
        area: the lowest and highest coordinates of the flight area, if an edge of it is in the box.
        floor_m: the height at which shadows are drawn.
        grounded: whether that is the ground.
        objects: regions of wind or force, decks, obstacles, and environment layers.
        large: the obstacles that are larger than the box.
        wind_world_mps: the median wind to the east and north; None in calm air.
        beyond: the number of setpoints outside the box.
    """

    low: Corner
    high: Corner
    area: tuple[Corner, Corner] | None
    floor_m: float
    grounded: bool
    objects: MapObjects
    large: tuple["AbstractObstacle", ...]
    wind_world_mps: Float64[np.ndarray, "2"] | None
    beyond: int = 0


def build_map_scene(
    traces: Sequence[Trace],
    scenario: Mapping[str, Any],
    flown: FlightConditions | None = None,
    overlaid: Sequence[Trace] = (),
) -> MapScene:
    """Return the scene for the maps of these vehicles; ``overlaid`` are those of a second run."""
    world = mapping_in(scenario, "world")
    ground_m = _number(world.get("ground_z_m"), 0.0)
    low, high = limits_of(_paths([*traces, *overlaid]))
    setpoints = _setpoints(traces, ground_m)
    # the nearest ones first, so that a far one leaves out no near one
    away = np.maximum(np.maximum(low - setpoints, setpoints - high), 0.0).max(axis=1)
    near = [(place, place) for place in setpoints[np.argsort(away)]]
    objects = find_map_objects(scenario, flown or FlightConditions())
    low, high = _with_boxes(low, high, [*near, *objects.extents])
    large = tuple(
        solid
        for solid, outline in objects.solids
        if ((outline.points_world_m < low) | (outline.points_world_m > high)).any()
    )
    low = _with_surfaces_below(low, high, traces, large)
    # shadows are on the ground if its distance is within the width of the paths
    grounded = bool(low[2] - max(high - low) <= ground_m <= high[2])
    if grounded:
        low = np.array([low[0], low[1], min(low[2], ground_m)])
    low, high = _with_margin(low, high, grounded=grounded)
    beyond = np.any((setpoints < low) | (setpoints > high), axis=1)
    return MapScene(
        low,
        high,
        _area(world.get("area"), low, high),
        ground_m if grounded else float(low[2]),
        grounded,
        objects,
        large,
        usual_wind(traces),
        int(np.count_nonzero(beyond)),
    )


def in_single_precision(traces: Sequence[Trace], summary: Mapping[str, Any] | None) -> bool:
    """Return True for a flight in single precision, from its summary or its positions."""
    if summary is not None:
        return mapping_in(summary, "metrics").get("precision") == "float32"
    positions_m = _paths(traces)
    return bool((positions_m.astype(np.float32) == positions_m).all())


def usual_wind(traces: Sequence[Trace]) -> Float64[np.ndarray, "2"] | None:
    """Return the median wind to the east and north over all drawn vehicles.

    Unlike the mean, the median is not affected by gusts or by a short stay in a region of wind.
    """
    parts = [trace.table.part(WIND_WORLD_MPS[:2]) for trace in traces]
    wind = np.concatenate([np.empty((0, 2)), *parts])
    wind = wind[np.isfinite(wind).all(axis=1)]
    if not len(wind):
        return None
    usual = np.median(wind, axis=0)
    return usual if np.hypot(usual[0], usual[1]) >= CALM_MPS else None


def stops(setpoint_world_m: Points, dimensions: int = 3) -> dict[tuple[float, ...], list[int]]:
    """Return setpoints by position, with their numbers in order of time from 1."""
    known = setpoint_world_m[np.isfinite(setpoint_world_m).all(axis=1)]
    new = np.any(np.diff(known, axis=0, prepend=np.full((1, 3), np.nan)) != 0.0, axis=1)
    numbered: dict[tuple[float, ...], list[int]] = {}
    for number, place in enumerate(known[new].tolist(), start=1):
        numbered.setdefault(tuple(place[:dimensions]), []).append(number)
    return numbered


def limits_of(points: Float64[np.ndarray, "points axes"]) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and highest coordinates of points; zeros without any."""
    if not len(points):
        return np.zeros(points.shape[1]), np.zeros(points.shape[1])
    return points.min(axis=0), points.max(axis=0)


def _paths(traces: Sequence[Trace]) -> Points:
    lost = [trace.loss.position_world_m[None] for trace in traces if trace.loss is not None]
    return _known([*(trace.position_world_m for trace in traces), *lost])


def _setpoints(traces: Sequence[Trace], ground_m: float) -> Points:
    """Return the different setpoints of vehicles that follow no other."""
    return np.unique(
        _known(
            above_ground(trace.setpoint_world_m, trace.position_world_m, ground_m)
            for trace in traces
            if trace.partner_world_m is None
        ),
        axis=0,
    )


def _known(parts: Iterable[Float64[np.ndarray, "_rows 3"]]) -> Points:
    points = np.concatenate([np.empty((0, 3)), *parts])
    return points[np.isfinite(points).all(axis=1)]


def _area(area: object, low: Corner, high: Corner) -> tuple[Corner, Corner] | None:
    """Return the flight area if it is known and an edge of it is in the box."""
    edges = np.full((3, 2), np.nan)
    for axis, name in enumerate(("x_m", "y_m", "z_m")):
        pair: object = mapping_in(area).get(name)
        if isinstance(pair, list | tuple) and len(pair) == 2:
            edges[axis] = [_number(limit, np.nan) for limit in pair]
    bottom, top = edges.T
    seen = ((bottom > low) & (bottom < high)) | ((top > low) & (top < high))
    return (bottom, top) if np.isfinite(edges).all() and seen[:2].any() else None


def _with_boxes(
    low: Corner, high: Corner, boxes: Iterable[tuple[Corner, Corner]]
) -> tuple[Corner, Corner]:
    """Return limits that contain those boxes, too, that are near the paths."""
    largest = REACH * max(float(max(high - low)), LEAST_SPAN_M)
    for bottom, top in boxes:
        lower, upper = np.minimum(low, bottom), np.maximum(high, top)
        if max(upper - lower) <= largest:
            low, high = lower, upper
    return low, high


def _with_surfaces_below(
    low: Corner, high: Corner, traces: Sequence[Trace], large: Sequence["AbstractObstacle"]
) -> Corner:
    """Return lower limits that contain the surfaces of large obstacles below the paths."""
    points = _known(
        trace.position_world_m[:: max(1, len(trace.time_s) // SURFACE_SAMPLES)] for trace in traces
    )
    lowest = float(low[2])
    for obstacle in large if len(points) else ():
        heights_m = heights_below(obstacle, points)
        near = points[:, 2] - heights_m <= max(high - low)
        lowest = min(lowest, float(heights_m[near].min(initial=lowest)))
    return np.array([low[0], low[1], lowest])


def _with_margin(low: Corner, high: Corner, *, grounded: bool) -> tuple[Corner, Corner]:
    """Return a box with a margin around its content, and no side much shorter than others."""
    size = max(float(max(high - low)), LEAST_SPAN_M)
    wanted = np.maximum(MARGIN * (high - low), LEAST_SHARE * size)
    middle = (low + high) / 2
    if grounded:  # the margin is above
        middle[2] = low[2] + wanted[2] / 2
    return middle - wanted / 2, middle + wanted / 2


def _number(value: object, otherwise: float) -> float:
    if isinstance(value, int | float) and abs(value) < MEANINGLESS:
        return float(value)
    return otherwise
