"""What the maps show beside the paths: wind, set points, ground, flight area and their limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.overview.trace import MEANINGLESS, Trace

WIND_WORLD_MPS = ("wind_x_world_mps", "wind_y_world_mps")
CALM_MPS = 0.01
# A flight area is drawn up to this many times the size of the paths; beyond, they would be dots.
AREA_FACTOR = 2.0
LEAST_SPAN_M = 0.5
LEAST_SHARE = 0.3

Corner = Float64[np.ndarray, "3"]


@dataclass(frozen=True, eq=False)
class Scene:
    """The box that the maps show, and what stands in it.

    Attributes:
        low: the box's lowest coordinates.
        high: its highest coordinates.
        area: the flight area's lowest and highest coordinates, if it is drawn.
        grounded: whether the box stands on the ground.
        wind_world_mps: the mean wind to the east and north; None in calm air.
    """

    low: Corner
    high: Corner
    area: tuple[Corner, Corner] | None
    grounded: bool
    wind_world_mps: Float64[np.ndarray, "2"] | None


def look_around(traces: Sequence[Trace], scenario: Mapping[str, Any]) -> Scene:
    """The scene that holds all that is drawn of these vehicles."""
    low, high = _reach(traces)
    world = scenario.get("world")
    world = world if isinstance(world, Mapping) else {}
    area = _area(world.get("area"), low, high)
    if area is not None:
        low, high = np.minimum(low, area[0]), np.maximum(high, area[1])
    ground_m = _number(world.get("ground_z_m"), 0.0)
    # shadows fall on the ground if that is as near as the paths are wide
    grounded = bool(0.0 <= low[2] - ground_m <= max(high - low))
    if grounded:
        low = np.array([low[0], low[1], ground_m])
    return Scene(*_opened(low, high, grounded=grounded), area, grounded, mean_wind(traces))


def mean_wind(traces: Sequence[Trace]) -> Float64[np.ndarray, "2"] | None:
    """The wind to the east and north, mean over the flight of all drawn vehicles."""
    parts = [trace.table.part(WIND_WORLD_MPS) for trace in traces]
    wind = np.concatenate([np.empty((0, 2)), *parts])
    wind = wind[np.isfinite(wind).all(axis=1)]
    if not len(wind):
        return None
    mean = wind.mean(axis=0)
    return mean if np.hypot(mean[0], mean[1]) >= CALM_MPS else None


def stops(setpoint_world_m: Float64[np.ndarray, "rows 3"]) -> dict[tuple[float, ...], list[int]]:
    """Set points by place, each with its numbers in order of time, from 1."""
    known = setpoint_world_m[np.isfinite(setpoint_world_m).all(axis=1)]
    new = np.any(np.diff(known, axis=0, prepend=np.full((1, 3), np.nan)) != 0.0, axis=1)
    numbered: dict[tuple[float, ...], list[int]] = {}
    for number, place in enumerate(known[new].tolist(), start=1):
        numbered.setdefault(tuple(place), []).append(number)
    return numbered


def _reach(traces: Sequence[Trace]) -> tuple[Corner, Corner]:
    """The lowest and highest coordinates of paths and set points."""
    lost = [trace.loss.position_world_m[None] for trace in traces if trace.loss is not None]
    parts = [
        *(trace.position_world_m for trace in traces),
        *(trace.setpoint_world_m for trace in traces),
        *lost,
    ]
    points = np.concatenate([np.empty((0, 3)), *parts])
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return np.zeros(3), np.zeros(3)
    return points.min(axis=0), points.max(axis=0)


def _area(area: object, low: Corner, high: Corner) -> tuple[Corner, Corner] | None:
    """The flight area if it is finite and near enough to be seen with the paths."""
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


def _opened(low: Corner, high: Corner, *, grounded: bool) -> tuple[Corner, Corner]:
    """A box with some air around its content, and no side much shorter than the others."""
    size = max(float(max(high - low)), LEAST_SPAN_M)
    wanted = np.maximum(1.08 * (high - low), LEAST_SHARE * size)
    middle = (low + high) / 2
    if grounded:  # the air is above
        middle[2] = low[2] + wanted[2] / 2
    return middle - wanted / 2, middle + wanted / 2


def _number(value: object, otherwise: float) -> float:
    if isinstance(value, int | float) and abs(value) < MEANINGLESS:
        return float(value)
    return otherwise
