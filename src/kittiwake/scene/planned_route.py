"""Planned routes: waypoints that guidance knows before the flight."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np
from jaxtyping import Float64

from kittiwake.core.arrays import ArrayTree
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.world.world import Origin

# longer routes are thinned to this many positions
MAX_POSITIONS = 500
# guidance fields that hold positions
POSITION_FIELDS = (
    "positions_world_m",
    "position_world_m",
    "goal_world_m",
    "point_of_interest_world_m",
)

Positions = Float64[np.ndarray, "positions 3"]


def planned_positions_world_m(vehicle: AssembledVehicle, origin: Origin) -> Positions:
    """Return the positions of a vehicle's guidance in order; of a long route only some."""
    route = route_world_m(vehicle, origin)
    if len(route) > MAX_POSITIONS:
        route = route[np.linspace(0, len(route) - 1, MAX_POSITIONS).round().astype(int)]
    return route


def route_world_m(vehicle: AssembledVehicle, origin: Origin) -> Positions:
    """Return the positions of a vehicle's guidance in order, including all mission steps."""
    parts = [
        positions
        for guidance in _guidances(vehicle.guidance.component)
        for positions in _positions(guidance, origin)
    ]
    route = np.concatenate([np.empty((0, 3)), *parts])
    return route[np.isfinite(route).all(axis=1)]


def _guidances(part: ArrayTree) -> Iterator[AbstractGuidance]:
    """Yield a guidance and the guidances that it contains."""
    if isinstance(part, AbstractGuidance):
        yield part
    if isinstance(part, tuple | list):
        for member in part:
            yield from _guidances(member)
    elif is_dataclass(part) and not isinstance(part, Vec3 | SurveyPattern):
        for field in fields(part):
            yield from _guidances(getattr(part, field.name, None))


def _positions(guidance: AbstractGuidance, origin: Origin) -> Iterator[Positions]:
    pattern = getattr(guidance, "pattern", None)
    if isinstance(pattern, SurveyPattern):
        yield _array(pattern.positions_world_m(origin))
    for name in POSITION_FIELDS:
        value = getattr(guidance, name, None)
        if isinstance(value, Vec3):
            yield _array((value,))
        elif isinstance(value, tuple) and value and isinstance(value[0], Vec3):
            yield _array(value)


def _array(positions: tuple[Vec3, ...]) -> Positions:
    return np.array([[float(p.x), float(p.y), float(p.z)] for p in positions]).reshape(-1, 3)
