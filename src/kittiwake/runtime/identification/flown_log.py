"""Scenario that flies the commands of a flight log with one vehicle."""

import csv
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kittiwake.analysis.flight_logs.flight_log import FlightLog
from kittiwake.analysis.output_file import output_file
from kittiwake.core.columns import column_names
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.identification.measured import COMMAND
from kittiwake.runtime.identification.windows import measured_start
from kittiwake.scenario import library
from kittiwake.scenario.free_values import present_values
from kittiwake.scenario.load import load_in_python
from kittiwake.scenario.scenario import Scenario

COMMANDS_FILE = "commands.csv"
# far below any flight, so that nothing is touched that the log does not show
FAR_BELOW_M = 1.0e4
NOISE = "noise"
LEAST_TIMES = 2
# pauses of the commands of as many times their usual interval and of this time are remarkable
PAUSE, PAUSE_S = 10.0, 0.2


def write_commands(log: FlightLog, folder: Path) -> None:
    """Write the commands of a log as a file of ``guidance: playback``.

    Raises:
        ScenarioError: if the log has no commands.
        LogError: if it cannot be written.
    """
    columns = [name for name in log.signals if name.startswith(COMMAND)]
    if not columns:
        message = (
            f"{log.source}: no column is a command; name those that were given to the vehicle "
            f"{COMMAND}FIELD, such as {COMMAND}throttle. It has {', '.join(log.signals)}"
        )
        raise ScenarioError(message)
    times_s = np.unique(np.concatenate([log.signals[name].time_s for name in columns]))
    begin_s = max(float(log.signals[name].time_s[0]) for name in columns)
    times_s = times_s[times_s >= begin_s]
    if len(times_s) < LEAST_TIMES:
        message = f"{log.source}: got commands at one time alone; a flight has them at several"
        raise ScenarioError(message)
    rows = np.column_stack([times_s, *(_held(log, name, times_s) for name in columns)])
    with (
        output_file(folder / COMMANDS_FILE) as unfinished,
        unfinished.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file)
        writer.writerow(["time_s", *(name.removeprefix(COMMAND) for name in columns)])
        writer.writerows([repr(float(value)) for value in row] for row in rows)


def _held(log: FlightLog, name: str, times_s: np.ndarray) -> np.ndarray:
    """Return the latest value of a signal at each time, also after its end."""
    own = log.signals[name]
    return own.values[np.searchsorted(own.time_s, times_s, side="right") - 1]


def flown_scenario(vehicle: str, folder: Path, rate_hz: float, log: FlightLog) -> Scenario:
    """Return the scenario that flies the commands in a folder.

    Args:
        vehicle: the name of a model, or a scenario with one vehicle.
        folder: the folder with the commands.
        rate_hz: the physics rate.
        log: the log, at whose first command the flight begins.

    Raises:
        ScenarioError: for an unknown vehicle or several, and for commands that it does not take.
    """
    guidance = {
        "type": "playback",
        "file": str((folder / COMMANDS_FILE).absolute()),
        "sampling": "mean",
        # what a log holds has been commanded, whatever the model allows
        "saturate": _are_actuator_commands(log, vehicle),
    }
    if not _is_scenario(vehicle):
        entry = {"model": vehicle, "guidance": guidance}
        data = {
            "name": f"identify-{vehicle}",
            "time": {"rate_hz": rate_hz},
            "lost_vehicle": "continue",
            "world": {"ground_z_m": -FAR_BELOW_M},
            "vehicles": {vehicle: entry | {"start": _start(log)}},
        }
        return load_in_python(data, None)
    return _with_guidance(vehicle, guidance, rate_hz, _start(log))


def _are_actuator_commands(log: FlightLog, vehicle: str) -> bool:
    """Return True if the commands of a log are those of the vehicle's actuators."""
    hovering = {
        "name": vehicle,
        "time": {"rate_hz": 500, "duration_s": 1},
        "vehicles": {vehicle: {"model": vehicle}},
    }
    scenario = load_in_python(vehicle if _is_scenario(vehicle) else hovering, None)
    fields = {name.removeprefix(COMMAND) for name in log.signals if name.startswith(COMMAND)}
    return all(
        fields <= set(column_names(own.dynamics.command_type, len(fields)))
        for own in scenario.vehicles.values()
    )


def command_notes(
    log: FlightLog, scenario: Scenario, spans: Sequence[tuple[float, float]]
) -> tuple[str, ...]:
    """Return sentences about commands beyond the vehicle's limits, and about pauses of them.

    Args:
        log: the flight log.
        scenario: the scenario that flies it.
        spans: begin and end of the parts that count, in seconds.
    """
    (vehicle,) = scenario.vehicles.values()
    bounds = vehicle.dynamics.command_bounds
    found: list[str] = []
    paused: dict[_Pauses, list[str]] = {}
    for name, signal in log.signals.items():
        if not name.startswith(COMMAND):
            continue
        within = np.any(
            [(signal.time_s >= begin) & (signal.time_s <= end) for begin, end in spans], axis=0
        )
        low, high = map(float, bounds.get(name.removeprefix(COMMAND), (-inf, inf)))
        beyond = int(np.sum(within & ((signal.values < low) | (signal.values > high))))
        if beyond:
            found.append(
                f"{name}: {beyond} of {int(within.sum())} values lie beyond the vehicle's limits, "
                f"{low:g} to {high:g}, and are flown at them"
            )
        if pauses := _pauses(signal.time_s, spans):
            paused.setdefault(pauses, []).append(name)
    for pauses, names in paused.items():
        number, longest_s, begin_s = pauses
        words = "no values for" if number == 1 else f"{number} pauses, the longest of"
        found.append(
            f"{', '.join(names)}: {words} {longest_s:.3g} s from {begin_s:.5g} s on, over which "
            "the last one is held"
        )
    return tuple(found)


class _Pauses(NamedTuple):
    """Number of the pauses, the length of the longest one, and its begin."""

    number: int
    longest_s: float
    begin_s: float


def _pauses(time_s: np.ndarray, spans: Sequence[tuple[float, float]]) -> _Pauses | None:
    """Return the remarkable pauses that overlap the spans, that after the last value included."""
    ends_s = np.append(time_s, max([float(time_s[-1]), *(end for _, end in spans)]))
    intervals = np.diff(ends_s)
    usual_s = float(np.median(intervals[intervals > 0.0])) if (intervals > 0.0).any() else 0.0
    overlaps = [(ends_s[:-1] < end) & (ends_s[1:] > begin) for begin, end in spans]
    long = (intervals > max(PAUSE * usual_s, PAUSE_S)) & np.any(overlaps, axis=0)
    if not long.any():
        return None
    place = int(np.where(long, intervals, 0.0).argmax())
    return _Pauses(int(long.sum()), float(intervals[place]), float(ends_s[place]))


def noise_keys(scenario: Scenario) -> tuple[str, ...]:
    """Return the keys of the vehicle's own noise, other than zero."""
    (name,) = scenario.vehicles
    return tuple(
        key
        for key, value in present_values(scenario).items()
        if key.startswith(f"vehicles.{name}.parameters.") and NOISE in key and value
    )


def _is_scenario(vehicle: str) -> bool:
    """Return True for the name or the file of a scenario, False for a model."""
    return vehicle in library.names() or Path(vehicle).suffix in {".yaml", ".yml"}


def _start(log: FlightLog) -> dict[str, Any]:
    """Return the start at the first time with all commands."""
    commands = [own for name, own in log.signals.items() if name.startswith(COMMAND)]
    point = measured_start(log, max(float(own.time_s[0]) for own in commands)).point.tolist()
    return {
        "position_world_m": point[:3],
        **dict(zip(("roll_rad", "pitch_rad", "yaw_rad"), point[3:6], strict=True)),
        "velocity_world_mps": point[6:9],
        "angular_velocity_body_radps": point[9:],
    }


def _with_guidance(
    source: str, guidance: Mapping[str, Any], rate_hz: float, start: Mapping[str, Any]
) -> Scenario:
    """Return a scenario of one vehicle, with other guidance."""
    scenario = load_in_python(source, None)
    if len(scenario.vehicles) != 1:
        message = f"{source} has {len(scenario.vehicles)} vehicles; identify one at a time"
        raise ScenarioError(message)
    (name,) = scenario.vehicles
    fixed = {
        "time.rate_hz": rate_hz,
        "lost_vehicle": "continue",
        f"vehicles.{name}.guidance": guidance,
        f"vehicles.{name}.start": start,
    }
    return load_in_python(source, fixed)
