"""Reproduction of published results."""

from collections.abc import Callable, Iterator, Sequence
from math import nan
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from kittiwake.analysis.log import Log
from kittiwake.analysis.reproduction import (
    measures_models,
    measures_motion,
    measures_statistics,
    measures_tables,
)
from kittiwake.analysis.reproduction.measures import measured
from kittiwake.analysis.reproduction.publication import (
    Publication,
    PublishedFlight,
    PublishedNumber,
    names,
    read_publication,
)
from kittiwake.analysis.reproduction.reference_tables import reference_path
from kittiwake.analysis.reproduction.report import JudgedItem, Report
from kittiwake.analysis.reproduction.verdict import Measured, judged_numbers, judged_orders
from kittiwake.analysis.run_folder import default_folder, results_folder
from kittiwake.core.arguments import FILE, FUNCTION, checked_arguments
from kittiwake.core.errors import KittiwakeError, ScenarioError, did_you_mean
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.load import load_in_python

# their import registers their measures
MEASURE_MODULES = (measures_models, measures_motion, measures_statistics, measures_tables)


def _no_progress(done: int, total: int) -> None:
    del done, total


@checked_arguments(out=FILE, progress=FUNCTION)
def reproduce(
    publications: Sequence[str] = (),
    *,
    items: Sequence[str] = (),
    full: bool = False,
    out: str | PathLike[str] | None = None,
    progress: Callable[[int, int], None] = _no_progress,
) -> tuple[Report, Path]:
    """Fly published results again, and write a report.

    Args:
        publications: the publications; all of them if empty.
        items: the tables, figures and statements, by name; all of them if empty.
        full: whether to fly all seeds and plausible other values, and all items.
        out: folder of the report; a new one under ``runs`` by default.
        progress: called with the numbers of flights that are done and of all.

    Returns:
        The report, and the folder with its pages.

    Raises:
        ScenarioError: for an unknown publication.
        LogError: if the report cannot be written.
    """
    chosen = [_with_items(read_publication(name), items) for name in publications or names()]
    plans = [_Plan(publication, full=full) for publication in chosen]
    total, done = sum(plan.count for plan in plans), 0
    folder = None if out is None else Path(fspath(out))
    stem = "-".join(publications) if publications else "all"
    with results_folder(folder, default_folder(f"reproduce-{stem}")) as made:
        parts = []
        progress(done, total)
        for plan in plans:
            for _ in plan.fly():
                done += 1
                progress(done, total)
            plan.measure_models()
            parts.append((plan.publication, tuple(plan.judged())))
        report = Report(tuple(parts), full)
        report.write(made)
    return report, made


def _with_items(publication: Publication, items: Sequence[str]) -> Publication:
    """Return a publication with some of its items, or all."""
    chosen = [item for item in publication.items if not items or item.name in items]
    return replace(publication, items=chosen)


class _Plan:
    """Flights of a publication, and the numbers measured in them."""

    def __init__(self, publication: Publication, *, full: bool) -> None:
        self.publication, self._full = publication, full
        self.items = [item for item in publication.items if full or item.quick]
        self._values: dict[tuple[str, str], Measured] = {}
        self._logs: dict[str, Log] = {}
        used = [name for item in self.items for name in item.flights()]
        unknown = [name for name in used if name not in publication.flights]
        if unknown:
            known = did_you_mean(unknown[0], [*publication.flights])
            message = f"{publication.name}.yaml: there is no flight '{unknown[0]}'. {known}"
            raise ScenarioError(message)
        self._flights = {name: publication.flights[name] for name in dict.fromkeys(used)}

    @property
    def count(self) -> int:
        """Number of flights."""
        return sum(len(_runs(own, full=self._full)) for own in self._flights.values())

    def fly(self) -> Iterator[None]:
        """Fly all, with a pause after each flight."""
        for name, flight in self._flights.items():
            numbers = [
                (item.name, number)
                for item in self.items
                for number in item.numbers
                if number.flight == name
            ]
            seeds: dict[tuple[str, str], list[float]] = {}
            others: dict[tuple[str, str], list[float]] = {}
            for run in _runs(flight, full=self._full):
                log = _flown(flight, run)
                self._logs.setdefault(name, log)
                found = others if run.changes else seeds
                for item, number in numbers:
                    found.setdefault((item, number.name), []).append(_value(log, number))
                yield
            for key, values in seeds.items():
                self._values[key] = Measured.of(values, others.get(key, ()))

    def measure_models(self) -> None:
        """Measure the numbers that require no flight."""
        for item in self.items:
            for number in item.numbers:
                if number.flight is None:
                    found = Measured.of([_value(None, number)])
                    self._values[item.name, number.name] = found

    def judged(self) -> Iterator[JudgedItem]:
        """Yield the items with their verdicts."""
        for item in self.items:
            ours = {
                number.name: self._values.get((item.name, number.name), Measured(nan, nan, nan, 0))
                for number in item.numbers
            }
            logs = {name: self._logs[name] for name in item.flights()}
            numbers, orders = judged_numbers(item, ours), judged_orders(item, ours)
            yield JudgedItem(item, tuple(numbers), tuple(orders), logs)


class _Run(NamedTuple):
    """Seed of a flight, and what is changed beside the overrides of the data file."""

    seed: int
    changes: dict[str, Any]


def _runs(flight: PublishedFlight, *, full: bool) -> list[_Run]:
    """Return the seeds, and then each other value; of the quick set the first seed alone."""
    if not full:
        return [_Run(0, {})]
    others = [_Run(0, {key: value}) for key, values in flight.vary.items() for value in values]
    return [*(_Run(seed, {}) for seed in range(flight.seeds)), *others]


def _flown(flight: PublishedFlight, run: _Run) -> Log:
    files = {path: str(reference_path(name)) for path, name in flight.files.items()}
    overrides = {**flight.overrides, **files, **run.changes}
    simulation = Simulation(load_in_python(flight.scenario, overrides))
    if not flight.teleports:
        return simulation.run(seed=run.seed)
    steps = round(simulation.scenario.duration_s * simulation.scenario.rate_hz)
    placed = {round(own.at_s * simulation.scenario.rate_hz): own for own in flight.teleports}
    simulation.reset(run.seed)
    for tick in range(steps):
        if tick in placed:
            simulation.set_state(placed[tick].vehicle, **placed[tick].motion)
        simulation.step()
    return simulation.log()


def _value(log: Log | None, number: PublishedNumber) -> float:
    try:
        return measured(log, number.measure)
    except KittiwakeError as error:
        message = f"{number.name}: {error}"
        raise ScenarioError(message) from None
