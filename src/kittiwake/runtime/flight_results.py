"""Results of a flight: its log in memory, and its summary."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kittiwake.analysis.flock import flock_metrics
from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.log import Log
from kittiwake.analysis.saturation import Actuators
from kittiwake.analysis.sensor_gaps import FlownSensor
from kittiwake.analysis.summary import FlownVehicle, summarize
from kittiwake.analysis.survey import survey_metrics
from kittiwake.analysis.table import Table
from kittiwake.analysis.trim import given_fields
from kittiwake.core.columns import from_columns, to_columns
from kittiwake.core.measurements import GnssMeasurement
from kittiwake.core.parameters import Parameters
from kittiwake.core.precision import Precision
from kittiwake.interfaces.time_constant import TimeConstant, coarse_steps
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.flight_record import FlownFlight, Memory
from kittiwake.scenario.own_components.entries import as_file_data
from kittiwake.scenario.scenario import Scenario
from kittiwake.tasks.task_commander import is_scored, task_metrics


@dataclass(frozen=True)
class FlightResults:
    """Results of the flights of one scenario.

    Attributes:
        scenario: the scenario.
        flown: the scenario with the vehicles that have been removed in flight.
        precision: the floating-point format of the flights.
    """

    scenario: Scenario
    flown: Scenario
    precision: Precision

    def log(self, flight: FlownFlight, memory: Memory) -> Log:
        """Return the log of a flight into memory, with its summary."""
        layout, flown = flight.layout, self._scenario_of(flight)
        tables = {
            name: Table(layout.columns[name], memory.values(name), layout.quantities[name])
            for name in flown.vehicles
        }
        data = as_file_data(flown.document.data)
        resolved = portable(flown, flight.seed, flight.duration_s)
        log = Log(tables, tuple(flight.outcome.events), data, portable=resolved)
        return replace(log, summary=self.summary(log, flight))

    def summary(self, log: Log, flight: FlownFlight) -> Parameters:
        """Return the contents of a flight's ``summary.json``."""
        outcome, flown, paced = flight.outcome, self._scenario_of(flight), flight.deadlines
        summary = summarize(
            log,
            scenario=self.scenario.name,
            seed=flight.seed,
            precision=self.precision,
            engine=flight.engine.engine.name,
            engine_reason=flight.engine.reason,
            status=outcome.status,
            reason=outcome.reason,
            duration_s=outcome.steps / self.scenario.rate_hz,
            steps=outcome.steps,
            wall_s=outcome.wall_s,
            compile_s=outcome.compile_s,
            vehicles=_flown_vehicles(flown),
            deadlines=None if paced is None or not paced.count else paced.as_dict(),
        )
        if flown.draws:
            summary["drawn"] = flown.draws
        summarized = replace(log, summary=summary)
        summary["metrics"] |= survey_metrics(summarized, flown, flight.seed)
        summary["metrics"] |= flock_metrics(summarized, flown)
        if is_scored(self.scenario):
            summary["metrics"] |= task_metrics(self.scenario, flight.state)
        return summary

    def _scenario_of(self, flight: FlownFlight) -> Scenario:
        """Return the scenario with all vehicles that have flown in a flight."""
        names = flight.layout.columns.keys()
        return self.scenario if names == self.scenario.vehicles.keys() else self.flown


def _flown_vehicles(scenario: Scenario) -> dict[str, FlownVehicle]:
    """Return the properties of vehicles, once for those of an entry, which share their parts."""
    found: dict[str, FlownVehicle] = {}
    time_constants = scenario.time_constants()
    by_parts: dict[tuple[int, ...], FlownVehicle] = {}
    for name, own in scenario.vehicles.items():
        parts = (own.dynamics, own.guidance.component, own.sensors, own.faults)
        key = tuple(map(id, parts))
        if key not in by_parts:
            by_parts[key] = _flown_vehicle(own, scenario.rate_hz, time_constants[name])
        found[name] = by_parts[key]
    return found


def _flown_vehicle(
    vehicle: AssembledVehicle, rate_hz: float, time_constants: Mapping[str, TimeConstant]
) -> FlownVehicle:
    guidance = vehicle.guidance.component
    return FlownVehicle(
        vehicle.model,
        guidance.tracked,
        guidance.planned_waypoints(),
        _actuators(vehicle),
        {
            name: FlownSensor(
                part.every / rate_hz,
                always_valid=issubclass(part.component.sensor.measures, GnssMeasurement),
            )
            for name, part in vehicle.sensors.items()
        },
        time_constants,
        coarse_steps(time_constants, rate_hz),
    )


def _actuators(vehicle: AssembledVehicle) -> Actuators:
    """Return the limits of a vehicle's actuator command, and which of its actuators fail."""
    dynamics = vehicle.dynamics
    bounds = dynamics.command_bounds
    if not bounds:
        return Actuators()
    off = dynamics.off()
    given = given_fields(off)
    limits = {
        name: (float(low), float(high)) for name, (low, high) in bounds.items() if name not in given
    }
    off_numbers = {name: float(number) for name, number in to_columns(off).items()}
    return Actuators(
        limits, off_numbers, _failure_times(vehicle, limits, off_numbers), dynamics.is_vessel
    )


def _failure_times(
    vehicle: AssembledVehicle,
    limits: Mapping[str, tuple[float, float]],
    off: Mapping[str, float],
) -> dict[str, float]:
    """Return when actuators fail, by the columns of the command that a fault changes."""
    # neither zero nor the same for any two actuators
    probe = {
        name: low + (high - low) * 0.5 / (1.0 + place / len(limits))
        for place, (name, (low, high)) in enumerate(limits.items())
    }
    before = {**off, **probe}
    failed_s: dict[str, float] = {}
    for fault in vehicle.faults:
        command = from_columns(type(vehicle.dynamics.off()), before)
        for name, number in to_columns(fault.apply(command, fault.at_s)).items():
            if float(number) != before[name]:
                failed_s.setdefault(name, float(fault.at_s))
    return failed_s
