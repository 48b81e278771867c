"""Courses of a scenario: waypoints, length and time of guidance that has an end."""

from dataclasses import dataclass

import numpy as np

from kittiwake.interfaces.guidance import AbstractGuidance
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.planned_route import route_world_m

SPEED = "speed_mps"


@dataclass(frozen=True)
class Course:
    """Course of one vehicle.

    Attributes:
        vehicle: its name.
        positions: number of planned positions; 0 if guidance has none before the flight.
        length_m: length of straight lines from the start through all of them.
        duration_s: time that guidance needs; None if it depends on the flight.
    """

    vehicle: str
    positions: int
    length_m: float
    duration_s: float | None

    def sentence(self, planned_s: float) -> str:
        """Return a line about the course, beside the duration of the flight."""
        words = f"{self.vehicle}: a course of {self.positions} positions, {self.length_m:.4g} m"
        if self.duration_s is None:
            return f"{words}. How long it takes depends on the flight: --duration until-done"
        late = f", longer than the {planned_s:g} s of the flight: --duration until-done"
        return (
            f"{words}, about {self.duration_s:.4g} s{late if self.duration_s > planned_s else ''}"
        )


def courses(scenario: Scenario) -> list[Course]:
    """Return the courses of the vehicles whose guidance has an end and planned positions."""
    ending = {n: v for n, v in scenario.vehicles.items() if v.guidance.component.ends}
    found = (_course(scenario, name, vehicle) for name, vehicle in ending.items())
    return [course for course in found if course.positions]


def _course(scenario: Scenario, name: str, vehicle: AssembledVehicle) -> Course:
    route = route_world_m(vehicle, scenario.world.origin)
    start = vehicle.start.position_world_m
    line = np.concatenate([[[float(start.x), float(start.y), float(start.z)]], route])
    length_m = float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())
    duration_s = _duration_s(vehicle.guidance.component, length_m)
    return Course(name, len(route), length_m, duration_s)


def _duration_s(guidance: AbstractGuidance, length_m: float) -> float | None:
    end_s, speed_mps = guidance.end_s(), getattr(guidance, SPEED, None)
    if end_s is not None:
        return float(end_s)
    return length_m / float(speed_mps) if speed_mps is not None and speed_mps > 0.0 else None
