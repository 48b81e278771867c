"""Several controllers on one scenario and the same seeds."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from os import PathLike, fspath
from typing import Any

from kittiwake.analysis.response import COMMAND, Trial, command_spans, response
from kittiwake.analysis.table import Table
from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.document import written
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.variants import variants


def compare(
    scenario: str | PathLike[str],
    controllers: Sequence[str],
    *,
    seeds: int = 1,
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    noise: Mapping[str, Any] | Sequence[str] | None = None,
) -> list[Trial]:
    """Flies each on the same scenario and the same seeds, counted from the scenario's.

    Args:
        scenario: a library name, or the path of a file.
        controllers: names, or several joined by ``+`` that are to be flown together.
        seeds: how many flights of each.
        overrides: changes to the scenario, such as ``{"time.duration_s": 20}``, or a list such as
            ``["time.duration_s=20"]``.
        noise: deviations for the estimator ``noisy-truth``, such as ``{"position_m": 0.1}``, in
            place of the scenario's estimator; none of it if None.

    Raises:
        ScenarioError: for a controller that does not fly a vehicle of this scenario.
    """
    _refuse_text(controllers, "controllers", '["position", "lee"]')
    items = _items(overrides or (), "overrides", '{"time.duration_s": 20}')
    deviations = None if noise is None else _items(noise, "noise", '{"position_m": 0.1}')
    return fly(variants(fspath(scenario), controllers, items, deviations), seeds=seeds)


def _items(given: Mapping[str, Any] | Sequence[str], name: str, example: str) -> list[str]:
    """What was given, each as ``KEY=VALUE``."""
    _refuse_text(given, name, example)
    if isinstance(given, Mapping):
        return [f"{key}={written(value)}" for key, value in given.items()]
    return list(given)


def _refuse_text(given: object, name: str, example: str) -> None:
    if isinstance(given, str):
        message = f"{name} {given!r} is not allowed; give several at once, such as {example}"
        raise ScenarioError(message)


def fly(
    compared: Mapping[str, Scenario],
    *,
    seeds: int = 1,
    begun: Callable[[str], None] = lambda _: None,
) -> list[Trial]:
    """Flies each of these scenarios, which differ by their controllers alone.

    Args:
        compared: what is flown, by the names of the controllers.
        seeds: how many flights of each.
        begun: hears of each flight before it begins.
    """
    flights: list[tuple[str, int, str, Mapping[str, Table]]] = []
    for name, variant in compared.items():
        simulation = Simulation(variant)
        for seed in range(variant.seed, variant.seed + seeds):
            begun(f"{name}, seed {seed}")
            log = simulation.run(seed=seed)
            flights.append((name, seed, str((log.summary or {})["status"]), log.tables))
    spans = _spans(compared, [tables for *_, tables in flights])
    return [
        Trial(
            *(name, vehicle, seed, status),
            response(tables[vehicle], _bounds(parts, tables[vehicle]), spans[vehicle]),
            tables[vehicle],
        )
        for name, seed, status, tables in flights
        for vehicle, parts in compared[name].vehicles.items()
    ]


def _spans(
    compared: Mapping[str, Scenario], flights: Sequence[Mapping[str, Table]]
) -> dict[str, dict[str, float]]:
    """By vehicle, the largest span of each of its commands in any of the flights."""
    vehicles = {name: parts for one in compared.values() for name, parts in one.vehicles.items()}
    of_each = {name: [tables[name] for tables in flights] for name in vehicles}
    return {
        name: command_spans(of_each[name], _bounds(parts, of_each[name][0]))
        for name, parts in vehicles.items()
        if flights
    }


def _bounds(vehicle: Vehicle, flight: Table) -> dict[str, tuple[float, float]]:
    """Of each native command that was recorded; of one without bounds infinite ones."""
    recorded = [name.removeprefix(COMMAND) for name in flight.columns if name.startswith(COMMAND)]
    bounds = vehicle.dynamics.command_bounds
    ranges = {name: bounds.get(name, (-inf, inf)) for name in recorded}
    return {name: (float(low), float(high)) for name, (low, high) in ranges.items()}
