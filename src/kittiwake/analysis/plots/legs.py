"""Waypoints of line-of-sight guidance, whose setpoints in a log are heading and speed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from kittiwake.analysis.log import SCENARIO_FILE
from kittiwake.analysis.plots.traces import Rows, Trace
from kittiwake.analysis.table import LEGS, SETPOINT_WORLD_M
from kittiwake.core.errors import KittiwakeError
from kittiwake.guidance.maneuvers.line_of_sight import LineOfSight
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.load import load_recorded
from kittiwake.scenario.scenario import Scenario
from kittiwake.world.world import Origin


def with_legs(traces: Sequence[Trace], folder: Path | None) -> list[Trace]:
    """Return the vehicles with the waypoints that the scenario in the run folder gives them."""
    file = None if folder is None else folder / SCENARIO_FILE
    if file is None or not file.is_file() or not any(map(_lacks_legs, traces)):
        return [*traces]
    try:
        return with_legs_of(traces, load_recorded(file))
    except KittiwakeError:  # such as without a component of one's own: no legs are drawn
        return [*traces]


def with_legs_of(traces: Sequence[Trace], scenario: Scenario) -> list[Trace]:
    """Return the vehicles with the waypoints that a scenario gives them."""
    origin, vehicles = scenario.world.origin, scenario.vehicles
    return [
        replace(trace, legs_world_m=_waypoints(vehicles[trace.name], origin))
        if trace.name in vehicles and _lacks_legs(trace)
        else trace
        for trace in traces
    ]


def _lacks_legs(trace: Trace) -> bool:
    return trace.has((LEGS,)) and not np.isfinite(trace.table.part(SETPOINT_WORLD_M)).any()


def _waypoints(vehicle: AssembledVehicle, origin: Origin) -> Rows | None:
    guidance = vehicle.guidance.component
    if not isinstance(guidance, LineOfSight):
        return None
    pattern = guidance.pattern
    places = guidance.positions_world_m if pattern is None else pattern.positions_world_m(origin)
    return np.array([[float(place.x), float(place.y), float(place.z)] for place in places])
