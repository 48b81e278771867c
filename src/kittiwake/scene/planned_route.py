"""Where a vehicle is told to go, as far as its guidance knows that before the flight."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.world.world import Origin

# of a way with more places, so many are shown
MOST_PLACES = 500
# the fields of guidances that hold places
PLACES = ("positions_world_m", "position_world_m", "goal_world_m", "point_of_interest_world_m")

Places = Float64[np.ndarray, "places 3"]


def planned_places_world_m(vehicle: Vehicle, origin: Origin) -> Places:
    """The places of a vehicle's guidance in order, also of all steps of a mission."""
    found = [
        places
        for guidance in _guidances(vehicle.guidance.component)
        for places in _places(guidance, origin)
    ]
    every = np.concatenate([np.empty((0, 3)), *found])
    if len(every) > MOST_PLACES:
        every = every[np.linspace(0, len(every) - 1, MOST_PLACES).round().astype(int)]
    return every[np.isfinite(every).all(axis=1)]


def _guidances(part: Any) -> Iterator[AbstractGuidance]:
    """A guidance and those it is made of."""
    if isinstance(part, AbstractGuidance):
        yield part
    if isinstance(part, tuple | list):
        for member in part:
            yield from _guidances(member)
    elif is_dataclass(part) and not isinstance(part, Vec3 | SurveyPattern):
        for field in fields(part):
            yield from _guidances(getattr(part, field.name, None))


def _places(guidance: AbstractGuidance, origin: Origin) -> Iterator[Places]:
    pattern = getattr(guidance, "pattern", None)
    if isinstance(pattern, SurveyPattern):
        yield _array(pattern.positions_world_m(origin))
    for name in PLACES:
        given = getattr(guidance, name, None)
        if isinstance(given, Vec3):
            yield _array((given,))
        elif isinstance(given, tuple) and given and isinstance(given[0], Vec3):
            yield _array(given)


def _array(places: tuple[Vec3, ...]) -> Places:
    return np.array([[float(p.x), float(p.y), float(p.z)] for p in places]).reshape(-1, 3)
