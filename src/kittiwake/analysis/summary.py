"""Summary of a run, the content of ``summary.json``.

A value that does not apply or is not finite is None. Rows in which a vehicle's state is not finite
(it diverged) count only for ``valid``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import degrees
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kittiwake.analysis.consistency import consistency, overconfidence
from kittiwake.analysis.flight_warnings import (
    deadline_warning,
    estimate_warning,
    overturning_warning,
    saturation_warning,
    sensor_warnings,
)
from kittiwake.analysis.log import FORMAT, Log
from kittiwake.analysis.saturation import Actuators, saturations
from kittiwake.analysis.sensor_gaps import FlownSensor, SensorGaps, sensor_gaps
from kittiwake.analysis.separation import min_separation
from kittiwake.analysis.table import (
    LEGS,
    NEAREST_OBSTACLE,
    POSITION_WORLD_M,
    Q_WORLD_FROM_BODY,
    STATE_COLUMNS,
    STATUS,
    VELOCITY_WORLD_MPS,
    Table,
    at_common_times,
)
from kittiwake.analysis.time_spans import TimeSpans
from kittiwake.analysis.vehicle_figures import (
    contacts,
    distance_m,
    final_speed_mps,
    finite,
    least_clearance_m,
    max_tilt_rad,
    touchdown,
    tracking_rms_m,
    turned_over_s,
)
from kittiwake.interfaces.time_constant import TimeConstant

# smaller values in m, m/s or degrees are shown as zero, as they are rounding
LEAST_SHOWN = 1e-4
# larger numbers are those of a diverging vehicle, and are shown with an exponent
LONGEST_SHOWN = 1e9

T = TypeVar("T")
# titles of ``vehicle_rows``, with the units in a second line
VEHICLE_TITLES = (
    "vehicle",
    "x, y, z at end\nm",
    "speed\nm/s",
    "path\nm",
    "max tilt\ndeg",
    "RMS error\nm",
    "valid",
)


class FlownVehicle(NamedTuple):
    """Properties of a vehicle that a summary requires in addition to its log.

    ``tracked`` is True if the distance to the setpoint is a tracking error; ``planned_waypoints``
    is the number of waypoints, None for guidance without waypoints. ``coarse_steps`` are warnings
    about physics steps that are too large for its ``time_constants``.
    """

    model: str
    tracked: bool
    planned_waypoints: int | None
    actuators: Actuators = Actuators()
    sensors: Mapping[str, FlownSensor] = {}
    time_constants: Mapping[str, TimeConstant] = {}
    coarse_steps: tuple[str, ...] = ()


def summarize(
    log: Log,
    *,
    scenario: str,
    seed: int,
    precision: str,
    engine: str,
    engine_reason: str,
    status: str,
    reason: str | None,
    duration_s: float,
    steps: int,
    wall_s: float,
    compile_s: float,
    vehicles: Mapping[str, FlownVehicle],
    deadlines: Mapping[str, float | int | None] | None = None,
) -> dict[str, Any]:
    """Return the content of ``summary.json``.

    Args:
        log: the log of the flight.
        scenario: the name of the scenario.
        seed: the seed of the flight.
        precision: "float64" or "float32".
        engine: "simd" or "xla".
        engine_reason: why it is not "simd" if nobody asked for another one, else empty.
        status: "completed", "diverged" or "failed".
        reason: the reason for an incomplete flight.
        duration_s: the simulated duration.
        steps: the number of physics steps.
        wall_s: the wall-clock time without compilation.
        compile_s: the time of compilation.
        vehicles: the flown vehicles by name.
        deadlines: those of a flight in real time.

    ``metrics`` has ``warnings``: sentences about saturated actuators, missing samples, coarse
    steps, overturning and missed deadlines. By vehicle and if applicable it has the time at which
    the vehicle turned over, the numbers of reached and planned waypoints, the least clearance from
    obstacles, the errors of an estimate that is not the true state, and the numbers behind the
    warnings: ``actuators``, ``sensors`` and ``time_constants``.
    It has "float32" as ``precision`` for a flight in single precision, the engine that compiled it,
    and the deadlines as ``real_time``. Tasks and studies add their own.
    """
    return {
        "format": FORMAT,
        "scenario": scenario,
        "seed": seed,
        "status": status,
        "reason": reason,
        "duration_s": finite(duration_s),
        "steps": steps,
        "wall_s": finite(wall_s),
        "compile_s": finite(compile_s),
        "realtime_factor": finite(duration_s / wall_s) if wall_s > 0.0 else None,
        "vehicles": {name: _vehicle(log.tables[name], vehicles[name]) for name in log.names},
        "min_separation_m": _min_separation_m(log),
        "events": [asdict(event) for event in log.events],
        "metrics": _metrics(
            log,
            vehicles,
            deadlines or {},
            {
                "precision": precision if precision == "float32" else None,
                "engine": engine,
                "engine_reason": engine_reason,
            },
        ),
    }


def _metrics(
    log: Log,
    vehicles: Mapping[str, FlownVehicle],
    deadlines: Mapping[str, float | int | None],
    computation: Mapping[str, str | None],
) -> dict[str, Any]:
    """Return the warnings, how the flight was computed, and the numbers that apply."""
    saturated = _applying(
        {name: saturations(log.tables[name], own.actuators) for name, own in vehicles.items()}
    )
    gaps = _applying(
        {name: sensor_gaps(log.tables[name], own.sensors) for name, own in vehicles.items()}
    )
    overturned = {
        name: time_s for name in vehicles if (time_s := turned_over_s(log.tables[name])) is not None
    }
    warnings = [*_vehicle_warnings(log, vehicles, saturated, gaps, overturned)]
    if deadlines and (text := deadline_warning(deadlines)):
        warnings.append(text)
    numbers = {
        "turned_over_s": overturned,
        "waypoints": _waypoints(log, vehicles),
        "obstacles": _clearances(log),
        "estimate": _estimates(log),
        "actuators": _as_numbers(saturated),
        "sensors": _as_numbers(gaps),
        "time_constants": _time_constants(vehicles),
        "real_time": dict(deadlines),
    }
    return {"warnings": warnings, **_applying(computation), **_applying(numbers)}


def _applying(values: Mapping[str, T]) -> dict[str, T]:
    """Return the values that are neither empty nor None."""
    return {name: value for name, value in values.items() if value}


def _waypoints(log: Log, vehicles: Mapping[str, FlownVehicle]) -> dict[str, Any]:
    return {
        name: {"reached": _reached(log.tables[name]), "planned": planned}
        for name, vehicle in vehicles.items()
        if (planned := vehicle.planned_waypoints) is not None
    }


def _clearances(log: Log) -> dict[str, Any]:
    return {
        name: {"least_clearance_m": finite(least_clearance_m(table))}
        for name, table in log.tables.items()
        if NEAREST_OBSTACLE in table.columns
    }


def _time_constants(vehicles: Mapping[str, FlownVehicle]) -> dict[str, Any]:
    return {
        name: {
            part: _finite_leaves(constant._asdict())
            for part, constant in own.time_constants.items()
        }
        for name, own in vehicles.items()
        if own.time_constants
    }


def _vehicle_warnings(
    log: Log,
    vehicles: Mapping[str, FlownVehicle],
    saturated: Mapping[str, Mapping[str, TimeSpans]],
    gaps: Mapping[str, Mapping[str, SensorGaps]],
    overturned: Mapping[str, float],
) -> Iterator[str]:
    for name, own in vehicles.items():
        saturation = saturation_warning(saturated.get(name, {}), own.actuators)
        found = [*([saturation] if saturation else []), *own.coarse_steps]
        found += sensor_warnings(gaps.get(name, {}), own.sensors)
        if estimate := estimate_warning(overconfidence(log.tables[name])):
            found.append(estimate)
        if name in overturned:
            found.append(overturning_warning(overturned[name]))
        yield from (f"{name}: {text}" for text in found)


def _as_numbers(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return records by vehicle and part as plain data."""
    return _finite_leaves(
        {name: {part: vars(one) for part, one in own.items()} for name, own in found.items()}
    )


def _finite_leaves(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite_leaves(one) for key, one in value.items()}
    return finite(value) if isinstance(value, float) else value


def vehicle_rows(summary: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the main results of each vehicle in a summary, as texts below ``VEHICLE_TITLES``."""
    return [
        (
            name,
            ", ".join(f"{x:z.2f}" for x in vehicle["final_position_m"] or []) or "-",
            _shown(vehicle["final_speed_mps"]),
            _shown(vehicle["distance_m"]),
            _shown(None if (tilt := vehicle["max_tilt_rad"]) is None else degrees(tilt)),
            _shown(vehicle["tracking_rms_m"]),
            "yes" if vehicle["valid"] else "no",
        )
        for name, vehicle in summary["vehicles"].items()
    ]


def _shown(value: float | None) -> str:
    return "-" if value is None else in_digits(value)


def in_digits(value: float) -> str:
    """Return a number as text with three digits, or all digits before the decimal point."""
    if abs(value) < LEAST_SHOWN:
        return "0.00"
    if abs(value) >= LONGEST_SHOWN:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


def _estimates(log: Log) -> dict[str, Any]:
    found = {name: consistency(log.tables[name]) for name in log.names}
    return {
        name: {
            key: finite(value) if isinstance(value, float) else value
            for key, value in errors.items()
        }
        for name, result in found.items()
        if result is not None
        for errors in [result._asdict()]
    }


def _reached(table: Table) -> int:
    return int(table.part((LEGS,))[:, 0].max(initial=0.0))


def _vehicle(table: Table, vehicle: FlownVehicle) -> dict[str, Any]:
    state = table.part(STATE_COLUMNS)
    flown = Table(table.columns, table.values[np.isfinite(state).all(axis=1)])
    position_m = flown.part(POSITION_WORLD_M)
    # a diverging vehicle may have finite numbers with infinite squares
    with np.errstate(over="ignore", invalid="ignore"):
        return {
            "model": vehicle.model,
            "final_position_m": position_m[-1].tolist() if len(position_m) else None,
            "final_speed_mps": finite(final_speed_mps(flown.part(VELOCITY_WORLD_MPS))),
            "distance_m": finite(distance_m(position_m)),
            "max_tilt_rad": finite(max_tilt_rad(flown.part(Q_WORLD_FROM_BODY))),
            "tracking_rms_m": finite(tracking_rms_m(flown)) if vehicle.tracked else None,
            "contacts": contacts(table),
            "touchdown": touchdown(table),
            "valid": len(flown.values) == len(table.values) and not table.part((STATUS,)).any(),
        }


def _min_separation_m(log: Log) -> float | None:
    _, positions_m = at_common_times(log.tables.values(), POSITION_WORLD_M)
    with np.errstate(over="ignore", invalid="ignore"):
        return finite(min_separation(positions_m))
