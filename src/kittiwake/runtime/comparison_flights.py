"""Flights of a comparison of controllers on one scenario with the same seeds."""

from collections.abc import Callable, Mapping, Sequence
from math import inf
from os import PathLike, fspath
from typing import Any

from kittiwake.analysis.comparison import Comparison
from kittiwake.analysis.log import COMPLETED, Log
from kittiwake.analysis.response import COMMAND, Trial, command_spans, response
from kittiwake.analysis.table import Table
from kittiwake.core.arguments import WHOLE, ArgumentRule, checked_arguments
from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.document import Override, written
from kittiwake.scenario.load import AllowedCode
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.variants import variants


def _several(example: str) -> ArgumentRule:
    """Return the rule of a mapping, or of several items."""
    return ArgumentRule(
        lambda value: (
            isinstance(value, Mapping | Sequence)
            and not isinstance(value, str)
            and all(isinstance(key, str) for key in (value if isinstance(value, Mapping) else ()))
        ),
        f"several items, such as {example}",
    )


@checked_arguments(
    scenario=ArgumentRule(
        lambda value: isinstance(value, str | PathLike | Scenario),
        "a library name, the path of a file, or a kw.Scenario",
        lambda value: "sim.scenario" if isinstance(value, Simulation) else "",
    ),
    controllers=_several('["position", "lee"]'),
    seeds=WHOLE,
    overrides=_several('{"time.duration_s": 20}'),
    noise=_several('{"position_m": 0.1}'),
)
def compare(
    scenario: str | PathLike[str] | Scenario,
    controllers: Sequence[str] | Mapping[str, Any],
    *,
    seeds: int = 1,
    overrides: Mapping[str, Any] | Sequence[str] | None = None,
    noise: Mapping[str, Any] | Sequence[str] | None = None,
    allow_code: AllowedCode = None,
) -> Comparison:
    """Fly each controller on the same scenario and seeds, which count up from the scenario's.

    The result is a sequence of trials, with ``frame()`` and ``plot()``.

    Args:
        scenario: a library name, the path of a file, or a scenario.
        controllers: names, or classes of files such as ``mine.py:MyController``, of which several
            that form one cascade are joined by ``+``; or controllers by names of one's own, such as
            ``{"lee": kw.control.Lee(), "mine": MyController(2.0)}``.
        seeds: number of flights of each.
        overrides: changes to the scenario, such as ``{"time.duration_s": 20}``, or a list such as
            ``["time.duration_s=20"]``.
        noise: standard deviations for the estimator ``noisy-truth``, such as
            ``{"position_m": 0.1}``, which replaces the scenario's estimator; others are zero.
            None keeps the scenario's.
        allow_code: the folder whose Python files the scenario may load, or several.

    Raises:
        ScenarioError: for a controller that does not fly a vehicle of this scenario.
    """
    if not controllers:
        message = '`controllers`: got none; must be several, such as ["position", "lee"]'
        raise ScenarioError(message)
    if seeds < 1:
        message = f"`seeds`: got {seeds}; must be at least 1"
        raise ScenarioError(message)
    items = [
        Override(item, f"overrides={{'{item.partition('=')[0]}': ...}}")
        for item in _items(overrides or ())
    ]
    deviations = None if noise is None else _items(noise)
    source = scenario if isinstance(scenario, Scenario) else fspath(scenario)
    compared = variants(source, controllers, items, deviations, allow_code)
    return Comparison(tuple(fly(compared, seeds=seeds)))


def _items(given: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """Return the given items, each as ``KEY=VALUE``."""
    if isinstance(given, Mapping):
        return [f"{key}={written(value)}" for key, value in given.items()]
    return list(given)


def fly(
    compared: Mapping[str, Scenario],
    *,
    seeds: int = 1,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Trial]:
    """Fly each of these scenarios, which differ only in their controllers.

    Args:
        compared: scenarios by the names of their controllers.
        seeds: number of flights of each.
        progress: called with a description of each flight before it begins.
    """
    flights: list[tuple[str, int, Log]] = []
    for name, variant in compared.items():
        simulation = Simulation(variant)
        for seed in range(variant.seed, variant.seed + seeds):
            progress(f"{name}, seed {seed}")
            flights.append((name, seed, simulation.run(seed=seed)))
    spans = _spans(compared, [log.tables for *_, log in flights])
    return [
        Trial(
            name,
            vehicle,
            seed,
            _status(log, vehicle),
            response(log.tables[vehicle], _bounds(parts, log.tables[vehicle]), spans[vehicle]),
            log.tables[vehicle],
            (log.summary or {})["reason"],
        )
        for name, seed, log in flights
        for vehicle, parts in compared[name].vehicles.items()
    ]


def _status(log: Log, vehicle: str) -> str:
    """Return how the flight of a vehicle ended; one that turned over has not completed it."""
    summary = log.summary or {}
    status = str(summary["status"])
    time_s = summary["metrics"].get("turned_over_s", {}).get(vehicle)
    return status if status != COMPLETED or time_s is None else f"turned over at {time_s:.4g} s"


def _spans(
    compared: Mapping[str, Scenario], flights: Sequence[Mapping[str, Table]]
) -> dict[str, dict[str, float]]:
    """Return by vehicle the largest span of each of its commands in any of the flights."""
    vehicles = {name: parts for one in compared.values() for name, parts in one.vehicles.items()}
    of_each = {name: [tables[name] for tables in flights] for name in vehicles}
    return {
        name: command_spans(of_each[name], _bounds(parts, of_each[name][0]))
        for name, parts in vehicles.items()
        if flights
    }


def _bounds(vehicle: AssembledVehicle, flight: Table) -> dict[str, tuple[float, float]]:
    """Return the bounds of each recorded actuator command; infinite for one without bounds."""
    recorded = [name.removeprefix(COMMAND) for name in flight.columns if name.startswith(COMMAND)]
    bounds = vehicle.dynamics.command_bounds
    ranges = {name: bounds.get(name, (-inf, inf)) for name in recorded}
    return {name: (float(low), float(high)) for name, (low, high) in ranges.items()}
