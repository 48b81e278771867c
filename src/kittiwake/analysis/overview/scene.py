"""Scene of the maps: limits, ground, static objects, setpoints and wind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.overview.static_objects import (
    Corner,
    FlightConditions,
    Obstacle,
    StaticObjects,
    find_static_objects,
)
from kittiwake.analysis.overview.surfaces import heights_below, large_obstacles
from kittiwake.analysis.overview.trace import MEANINGLESS, Trace

CALM_MPS = 0.01
# largest size of a drawn flight area, relative to the paths
AREA_FACTOR = 2.0
# largest size of maps that contain static objects completely, relative to the paths
OBJECTS_FACTOR = 3.0
LEAST_SPAN_M = 0.5
# number of positions of each path at which the surface below is computed
SURFACE_SAMPLES = 100
LEAST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class MapScene:
    """Box of the maps, and the objects in it.

    Attributes:
        low: the lowest coordinates of the box.
        high: the highest coordinates of the box.
        area: the lowest and highest coordinates of the flight area, if it is drawn.
        floor_m: the height at which shadows are drawn.
        grounded: whether that is the ground.
        objects: regions of wind or force, decks, obstacles, and environment layers.
        large: the obstacles that are larger than the box.
        wind_world_mps: the median wind to the east and north; None in calm air.
    """

    low: Corner
    high: Corner
    area: tuple[Corner, Corner] | None
    floor_m: float
    grounded: bool
    objects: StaticObjects
    large: tuple[Obstacle, ...]
    wind_world_mps: Float64[np.ndarray, "2"] | None


def build_map_scene(
    traces: Sequence[Trace], scenario: Mapping[str, Any], flown: FlightConditions | None = None
) -> MapScene:
    """Return the scene for the maps of these vehicles."""
    world = scenario.get("world")
    world = world if isinstance(world, Mapping) else {}
    ground_m = _number(world.get("ground_z_m"), 0.0)
    low, high = _path_limits(traces, ground_m)
    area = _area(world.get("area"), low, high)
    if area is not None:
        low, high = np.minimum(low, area[0]), np.maximum(high, area[1])
    objects = find_static_objects(scenario, flown or FlightConditions())
    low, high = _with_objects(low, high, objects)
    large = large_obstacles(objects.obstacles, low, high)
    low = _with_surfaces_below(low, high, traces, large)
    # shadows are on the ground if its distance is within the width of the paths
    grounded = bool(low[2] - max(high - low) <= ground_m <= high[2])
    if grounded:
        low = np.array([low[0], low[1], min(low[2], ground_m)])
    low, high = _with_margin(low, high, grounded=grounded)
    floor_m = ground_m if grounded else float(low[2])
    return MapScene(low, high, area, floor_m, grounded, objects, large, usual_wind(traces))


def in_single_precision(traces: Sequence[Trace], summary: Mapping[str, Any] | None) -> bool:
    """Return True for a flight in single precision, from its summary or its positions."""
    if summary is not None:
        metrics = summary.get("metrics")
        return isinstance(metrics, Mapping) and metrics.get("precision") == "float32"
    places_m = np.concatenate([np.empty((0, 3)), *(trace.position_world_m for trace in traces)])
    places_m = places_m[np.isfinite(places_m)]
    return bool((places_m.astype(np.float32) == places_m).all())


def usual_wind(traces: Sequence[Trace]) -> Float64[np.ndarray, "2"] | None:
    """Return the median wind to the east and north over all drawn vehicles.

    Unlike the mean, the median is not affected by gusts or by a short stay in a region of wind.
    """
    parts = [trace.wind_world_mps[:, :2] for trace in traces]
    wind = np.concatenate([np.empty((0, 2)), *parts])
    wind = wind[np.isfinite(wind).all(axis=1)]
    if not len(wind):
        return None
    usual = np.median(wind, axis=0)
    return usual if np.hypot(usual[0], usual[1]) >= CALM_MPS else None


def stops(
    setpoint_world_m: Float64[np.ndarray, "rows 3"], dimensions: int = 3
) -> dict[tuple[float, ...], list[int]]:
    """Return setpoints by position, with their numbers in order of time from 1."""
    known = setpoint_world_m[np.isfinite(setpoint_world_m).all(axis=1)]
    new = np.any(np.diff(known, axis=0, prepend=np.full((1, 3), np.nan)) != 0.0, axis=1)
    numbered: dict[tuple[float, ...], list[int]] = {}
    for number, place in enumerate(known[new].tolist(), start=1):
        numbered.setdefault(tuple(place[:dimensions]), []).append(number)
    return numbered


def above_ground(
    setpoint_world_m: Float64[np.ndarray, "rows 3"],
    position_world_m: Float64[np.ndarray, "rows 3"],
    ground_m: float,
) -> Float64[np.ndarray, "rows 3"]:
    """Return setpoints with NaN where they are below both the ground and the path.

    A landing moves its setpoint into the ground.
    """
    heights_m = position_world_m[np.isfinite(position_world_m).all(axis=1), 2]
    floor_m = min(ground_m, float(heights_m.min(initial=ground_m)))
    below = setpoint_world_m[:, 2] < floor_m
    return np.where(below[:, None], np.nan, setpoint_world_m)


def _path_limits(traces: Sequence[Trace], ground_m: float) -> tuple[Corner, Corner]:
    """Return the lowest and highest coordinates of paths and setpoints."""
    lost = [trace.loss.position_world_m[None] for trace in traces if trace.loss is not None]
    parts = [
        *(trace.position_world_m for trace in traces),
        *(
            above_ground(trace.setpoint_world_m, trace.position_world_m, ground_m)
            for trace in traces
        ),
        *lost,
    ]
    points = np.concatenate([np.empty((0, 3)), *parts])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return np.zeros(3), np.zeros(3)
    return points.min(axis=0), points.max(axis=0)


def _area(area: object, low: Corner, high: Corner) -> tuple[Corner, Corner] | None:
    """Return the flight area if it is finite and not too large for the map."""
    if not isinstance(area, Mapping):
        return None
    edges = np.full((3, 2), np.nan)
    for axis, name in enumerate(("x_m", "y_m", "z_m")):
        pair: object = area.get(name)
        if isinstance(pair, list | tuple) and len(pair) == 2:
            edges[axis] = [_number(limit, np.nan) for limit in pair]
    bottom, top = edges.T
    near = np.isfinite(edges).all() and max(top - bottom) <= AREA_FACTOR * max(high - low)
    return (bottom, top) if near else None


def _with_objects(low: Corner, high: Corner, objects: StaticObjects) -> tuple[Corner, Corner]:
    """Return limits that contain the objects near the paths as well."""
    largest = OBJECTS_FACTOR * max(float(max(high - low)), LEAST_SPAN_M)
    for bottom, top in objects.extents:
        lower, upper = np.minimum(low, bottom), np.maximum(high, top)
        if max(upper - lower) <= largest:
            low, high = lower, upper
    return low, high


def _with_surfaces_below(
    low: Corner, high: Corner, traces: Sequence[Trace], large: Sequence[Obstacle]
) -> Corner:
    """Return lower limits that contain the surfaces of large obstacles below the paths."""
    paths = [
        path[:: max(1, len(path) // SURFACE_SAMPLES)]
        for path in _known_positions(traces)
        if len(path)
    ]
    if not paths:
        return low
    points = np.concatenate(paths)
    lowest = float(low[2])
    for obstacle in large:
        heights_m = heights_below(obstacle, points)
        near = points[:, 2] - heights_m <= max(high - low)
        lowest = min(lowest, float(heights_m[near].min(initial=lowest)))
    return np.array([low[0], low[1], lowest])


def _known_positions(traces: Sequence[Trace]) -> list[Float64[np.ndarray, "rows 3"]]:
    positions = [trace.position_world_m for trace in traces]
    return [position[np.isfinite(position).all(axis=1)] for position in positions]


def _with_margin(low: Corner, high: Corner, *, grounded: bool) -> tuple[Corner, Corner]:
    """Return a box with a margin around its content, and no side much shorter than others."""
    size = max(float(max(high - low)), LEAST_SPAN_M)
    wanted = np.maximum(1.08 * (high - low), LEAST_SHARE * size)
    middle = (low + high) / 2
    if grounded:  # the margin is above
        middle[2] = low[2] + wanted[2] / 2
    return middle - wanted / 2, middle + wanted / 2


def _number(value: object, otherwise: float) -> float:
    if isinstance(value, int | float) and abs(value) < MEANINGLESS:
        return float(value)
    return otherwise
