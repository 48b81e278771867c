"""Sweep: many runs of one scenario with other values, seeds and controllers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.log import Log
from kittiwake.analysis.run_folder import default_folder, results_folder, write_scenario
from kittiwake.analysis.sweep_results import SweepResults
from kittiwake.core.arguments import FILE, FUNCTION, TEXT, WHOLE, ArgumentRule, checked_arguments
from kittiwake.core.errors import LogError, ScenarioError
from kittiwake.core.precision import Precision
from kittiwake.runtime.sweeps.cluster import fly_on_cluster
from kittiwake.runtime.sweeps.plan import PLAN_FILE, SweepPlan, code_folders, simulation_of
from kittiwake.runtime.sweeps.rows import Row, flown_logs
from kittiwake.runtime.sweeps.store import SweepStore
from kittiwake.runtime.sweeps.workers import Flights, Progress, chunks, fly_shared
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.document import written
from kittiwake.scenario.load import AllowedCode, load_in_python
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.variations import Variations, variations

MAX_RUNS = 10_000_000
MAPPING = ArgumentRule(
    lambda value: isinstance(value, Mapping),
    'a mapping of keys to values, such as {"world.wind.from_deg": [0, 90]}',
)


def _no_progress(flown: int, runs: int) -> None:
    del flown, runs


@checked_arguments(
    vary=MAPPING,
    seeds=WHOLE,
    runs=WHOLE,
    workers=WHOLE,
    ray=TEXT,
    out=FILE,
    progress=FUNCTION,
)
def sweep(
    scenario: str | PathLike[str] | Scenario,
    vary: Mapping[str, Any] | None = None,
    *,
    seeds: int | None = None,
    runs: int | None = None,
    controllers: Sequence[str] = (),
    overrides: Mapping[str, Any] | None = None,
    workers: int | None = None,
    ray: str | None = None,
    out: str | PathLike[str] | None = None,
    precision: Precision = "float64",
    allow_code: AllowedCode = None,
    progress: Progress = _no_progress,
) -> SweepResults:
    """Fly a scenario with all combinations of some values, each with the same seeds.

    Runs whose fleets differ in numbers alone share their compiled program. What the scenario has
    under ``randomize`` is drawn from each seed. The rows are written as they are flown, so that
    ``resume_sweep`` continues a sweep that was cut off.

    Args:
        scenario: a library name, the path of a file, or a scenario.
        vary: for each key several values, or a distribution such as ``{"normal": [0, 1]}``, from
            which each seed draws.
        seeds: number of runs of each combination, whose seeds count up from the scenario's; one
            by default.
        runs: number of runs in place of ``seeds``, which are then as many as are needed.
        controllers: controllers to compare, as for ``compare``; the scenario's by default.
        overrides: changes to the scenario, such as ``{"time.duration_s": 20}``.
        workers: number of processes that fly, one by default; of a cluster all processors.
        ray: address of a Ray cluster whose tasks fly, or ``local`` for one of this machine.
        out: the folder of the results; a new one under ``runs`` by default.
        precision: the floating-point format.
        allow_code: the folder whose Python files the scenario may load, or several.
        progress: called with the number of flown runs and that of all.

    Raises:
        ScenarioError: for values that no run can fly.
        LogError: if the folder holds a sweep, or cannot be written.
        MissingExtraError: without pyarrow, or Ray if it is named.
    """
    base = (
        scenario if isinstance(scenario, Scenario) else load_in_python(scenario, None, allow_code)
    )
    given = variations(vary or {})
    items = [f"{key}={written(value)}" for key, value in (overrides or {}).items()]
    code = code_folders(allow_code)
    default = default_folder(f"sweep-{base.name}")
    with results_folder(None if out is None else Path(fspath(out)), default) as folder:
        plan = _begin(
            base,
            given,
            folder,
            items=items,
            seeds=seeds,
            runs=runs,
            controllers=tuple(controllers),
            code=code,
            precision=precision,
        )
        return _fly(Flights(folder, plan, code), workers, ray, progress)


@checked_arguments(folder=FILE, workers=WHOLE, ray=TEXT, progress=FUNCTION)
def resume_sweep(
    folder: str | PathLike[str],
    *,
    workers: int | None = None,
    ray: str | None = None,
    allow_code: AllowedCode = None,
    progress: Progress = _no_progress,
) -> SweepResults:
    """Fly the runs of a sweep that have no row yet, and return the results of all.

    Args:
        folder: the folder of the sweep.
        workers: number of processes that fly, one by default; of a cluster all processors.
        ray: address of a Ray cluster whose tasks fly, or ``local`` for one of this machine.
        allow_code: the folder whose Python files the scenario may load, or several.
        progress: called with the number of flown runs and that of all.

    Raises:
        LogError: if the folder holds no sweep, or cannot be written.
    """
    path = Path(fspath(folder))
    flights = Flights(path, SweepPlan.read(path), code_folders(allow_code))
    return _fly(flights, workers, ray, progress)


@checked_arguments(folder=FILE)
def sweep_logs(
    folder: str | PathLike[str],
    runs: Iterable[int] | None = None,
    *,
    allow_code: AllowedCode = None,
) -> Iterator[tuple[int, Log]]:
    """Fly runs of a sweep again, and yield the number and the log of each.

    They have the bits of the first time on the same kind of processor. Runs that were refused are
    left out.

    Args:
        folder: the folder of the sweep.
        runs: numbers of runs; all by default.
        allow_code: the folder whose Python files the scenario may load, or several.

    Raises:
        LogError: if the folder holds no sweep, or there is no such run.
    """
    path = Path(fspath(folder))
    plan = SweepPlan.read(path)
    numbers = range(plan.runs) if runs is None else [*runs]
    code = code_folders(allow_code)
    for part in chunks(numbers, 1):
        logs = {run.number: log for run, log in flown_logs(path, plan, part, code)}
        for number in part:
            if isinstance(log := logs[number], Log):
                yield number, log


def _begin(
    base: Scenario,
    given: Variations,
    folder: Path,
    *,
    items: Sequence[str] = (),
    seeds: int | None = None,
    runs: int | None = None,
    controllers: tuple[str, ...] = (),
    code: tuple[str, ...] = (),
    precision: Precision = "float64",
) -> SweepPlan:
    """Write scenario and plan of a sweep into its folder, and return the plan.

    Raises:
        ScenarioError: for values that the first run cannot fly, or too many runs.
        LogError: if the folder holds a sweep, or cannot be written.
    """
    if (folder / PLAN_FILE).exists():
        message = f"'{folder}' holds a sweep; continue it with --resume, or name another folder"
        raise LogError(message)
    if seeds is not None and runs is not None:
        message = "`seeds` and `runs`: give one of both; runs / combinations are the seeds"
        raise ScenarioError(message)
    for name, number in (("seeds", seeds), ("runs", runs)):
        if number is not None and number < 1:
            message = f"`{name}`: got {number}; must be at least 1"
            raise ScenarioError(message)
    changed = with_changes(base, [*items, *given.items()])
    plan = SweepPlan(
        name=changed.name,
        runs=0,
        seeds=1,
        first_seed=changed.seed,
        grid=given.grid,
        controllers=controllers,
        precision=precision,
    )
    of_each = seeds if runs is None else ceil(runs / plan.combinations)
    of_each = 1 if of_each is None else of_each
    total = plan.combinations * of_each if runs is None else runs
    if total > MAX_RUNS:
        message = f"the sweep would have {total:,} runs; at most {MAX_RUNS:,}"
        raise ScenarioError(message)
    plan = replace(plan, runs=total, seeds=of_each)
    SweepStore(folder)
    write_scenario(folder, portable(changed, changed.seed, changed.duration_s))
    # wrong keys and values are found before anything is flown
    simulation_of(folder, plan, plan.run(0), code)
    plan.write(folder)
    return plan


def results_of(folder: Path) -> SweepResults:
    """Return the results of a sweep up to now.

    Raises:
        LogError: if the folder holds no sweep, or cannot be read.
    """
    return SweepResults(folder, SweepPlan.read(folder).grid, SweepStore(folder).frame())


def _fly(
    flights: Flights, workers: int | None, ray: str | None, progress: Progress
) -> SweepResults:
    """Fly the runs that have no row yet, and return the results of all.

    Raises:
        ScenarioError: for less than one worker.
        LogError: if the rows cannot be written.
    """
    if workers is not None and workers < 1:
        message = f"`workers`: got {workers}; must be at least 1"
        raise ScenarioError(message)
    folder, runs = flights.folder, flights.plan.runs
    store = SweepStore(folder)
    flown = store.flown()
    missing = [number for number in range(runs) if number not in flown]
    done = runs - len(missing)
    progress(done, runs)
    for rows in _flown(flights, missing, workers, ray):
        store.add(rows)
        done += len(rows)
        progress(done, runs)
    store.join()
    return SweepResults(folder, flights.plan.grid, store.frame())


def _flown(
    flights: Flights, missing: Sequence[int], workers: int | None, ray: str | None
) -> Iterator[list[Row]]:
    """Yield the rows of runs, flown by this process, by workers, or by a cluster."""
    if ray is not None:
        return fly_on_cluster(flights, missing, ray, workers)
    if workers is None or workers == 1:
        return map(flights.rows, chunks(missing, 1))
    return fly_shared(flights, chunks(missing, workers), workers)
