"""Warnings about settings of a scenario that can be flown but may be unintended."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kittiwake.control.feed_forward import uses_acceleration
from kittiwake.core.commands import MotorsOff, VelocityYaw
from kittiwake.interfaces.cascade import ControllerOrType, cascade_path, controller_name
from kittiwake.interfaces.time_constant import coarse_steps
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.angle_warnings import angle_warnings
from kittiwake.scenario.survey_areas import coverages
from kittiwake.sensors.errors.playback import MeasurementPlayback
from kittiwake.sensors.errors.stuck import Stuck
from kittiwake.sim.recorded_motion import RecordedMotion
from kittiwake.vehicles import VEHICLES

if TYPE_CHECKING:
    from kittiwake.scenario.scenario import Scenario


def scenario_warnings(scenario: "Scenario") -> list[str]:
    """Return warnings about settings of a scenario that can be flown but may be unintended."""
    found = [*scenario.notes, *angle_warnings(scenario.document.data)]
    unused: dict[type, bool] = {}
    time_constants = scenario.time_constants()
    for name, vehicle in scenario.vehicles.items():
        own = [
            *vehicle.dynamics.warnings(scenario.world.gravity_mps2),
            *coarse_steps(time_constants[name], scenario.rate_hz),
            *_unused_feed_forward(vehicle, unused),
            *_falls_through_ground(vehicle),
            *_faults_after_end(vehicle, scenario.duration_s),
            *_ends_of_recordings(vehicle, scenario.duration_s),
            *(_unused_controllers(vehicle) if _names_controllers(scenario, name) else []),
        ]
        found += [f"{name}: {warning}" for warning in own]
    for name, pattern in coverages(scenario.document, scenario.vehicles, scenario.tables).items():
        found += [f"{name}: {text}" for text in pattern.warnings(scenario.world.origin)]
    winds = scenario.world.wind.warnings(scenario.duration_s, 1.0 / scenario.rate_hz)
    found += [f"world.wind{text}" for text in winds]
    for name, process in scenario.world.processes.items():
        found += [
            f"world.{name}: {text}" for text in process.component.warnings(scenario.duration_s)
        ]
    if scenario.until_done and scenario.document.data.get("task") is not None:
        found.append("time.until_done: episodes of a task end by its own rules; omit it")
    return [*found, *scenario.unused_randomization()]


def _names_controllers(scenario: "Scenario", vehicle: str) -> bool:
    """Return True if the scenario names the controllers of a vehicle or its counted entry.

    Not for a task, where controllers may lead on from the agent's command type.
    """
    if scenario.document.data.get("task") is not None:
        return False
    entries = scenario.document.data["vehicles"]
    entry = entries.get(vehicle) or entries.get(vehicle.rpartition("-")[0]) or {}
    return entry.get("controller") is not None


def _faults_after_end(vehicle: AssembledVehicle, duration_s: float) -> list[str]:
    """Return warnings about faults that would begin after the end of the flight."""
    begins = [(f"'{fault.event()}' would be", fault.at_s) for fault in vehicle.faults]
    begins += [
        (f"the sensor '{name}' would be stuck", error.at_s)
        for name, sensor in vehicle.sensors.items()
        for error in sensor.component.errors
        if isinstance(error, Stuck)
    ]
    return [
        f"{fault} at {float(at_s):g} s, after the end of the flight of {duration_s:g} s; "
        "write an earlier at_s"
        for fault, at_s in begins
        if at_s >= duration_s
    ]


def _ends_of_recordings(vehicle: AssembledVehicle, duration_s: float) -> list[str]:
    """Return warnings about recordings that end before the flight."""
    dynamics = vehicle.dynamics
    files = ({"the motion": dynamics.file} if isinstance(dynamics, RecordedMotion) else {}) | {
        f"the sensor '{name}'": error.file
        for name, sensor in vehicle.sensors.items()
        for error in sensor.component.errors
        if isinstance(error, MeasurementPlayback)
    }
    return [
        f"{what} stays as it is from {file.end_s:g} s on, the end of {file.source}; the flight "
        f"lasts {duration_s:g} s"
        for what, file in files.items()
        if file.end_s < duration_s
    ]


def _unused_controllers(vehicle: AssembledVehicle) -> list[str]:
    """Return warnings about named controllers that are outside the control cascade."""
    levels = [level.component for level in vehicle.cascade]
    native = vehicle.dynamics.command_type
    starts = [one for one in vehicle.guidance.component.command_types() if one is not MotorsOff]
    if not starts:
        # an external source gives the commands
        return []
    paths = {start: cascade_path(levels, start, native) for start in starts}
    used = {i for path in paths.values() for i in path}
    builtin_count = len(VEHICLES.find(vehicle.model).builtin_controllers)
    unused = [i for i in range(len(levels) - builtin_count) if i not in used]
    if not unused:
        return []
    named = _listed(levels, unused)
    cascades = " and ".join(
        f"the cascade from {start.__name__} to {native.__name__} is {_listed(levels, path)}"
        for start, path in paths.items()
    )
    return [
        f"{cascades}, without {named}; add the controllers that lead to it and on from it, or "
        "leave it out"
    ]


def _falls_through_ground(vehicle: AssembledVehicle) -> list[str]:
    """Return a warning about an aircraft that switches its motors off and has no landing gear."""
    dynamics = vehicle.dynamics
    can_fall = not (dynamics.is_vessel or isinstance(dynamics, RecordedMotion))
    has_gear = dynamics.standing_height_m is not None
    if has_gear or not can_fall or MotorsOff not in vehicle.guidance.component.command_types():
        return []
    return [
        "it has no landing gear, and falls through the ground when its motors are off; write a "
        "model with landing gear, such as hummingbird, or a guidance that stays in the air"
    ]


def _unused_feed_forward(vehicle: AssembledVehicle, known: dict[type, bool]) -> list[str]:
    """Return a warning about a feed-forward that the vehicle's controller does not use.

    Results by type of controller are cached in ``known``.
    """
    if not vehicle.guidance.component.feeds_forward:
        return []
    levels = [level.component for level in vehicle.cascade]
    path = cascade_path(levels, VelocityYaw, vehicle.dynamics.command_type)
    if not path:
        return []
    first = levels[path[0]]
    if type(first) not in known:
        known[type(first)] = not uses_acceleration(first, vehicle.start.kinematics())
    if not known[type(first)]:
        return []
    return [
        f"feed_forward has no effect: {controller_name(first)} does not use the acceleration of a "
        "velocity; write another controller, such as velocity, or leave feed_forward out"
    ]


def _listed(levels: Sequence[ControllerOrType], which: Iterable[int]) -> str:
    return ", ".join(controller_name(levels[i]) for i in which)
