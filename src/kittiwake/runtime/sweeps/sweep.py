"""Sweep: many runs of one scenario with other values, seeds and controllers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from os import PathLike, fspath
from pathlib import Path
from random import Random
from typing import Any

from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.log import Log
from kittiwake.analysis.run_folder import (
    default_folder,
    locked,
    new_results,
    remove_contents,
    write_scenario,
)
from kittiwake.analysis.sweep_results import LOST, REFUSED, SweepResults
from kittiwake.core.arguments import (
    COUNT,
    FILE,
    FUNCTION,
    OVERRIDES,
    TEXT,
    WHOLE,
    ArgumentRule,
    checked_arguments,
    several,
)
from kittiwake.core.errors import KittiwakeError, LogError, ScenarioError
from kittiwake.core.precision import Precision
from kittiwake.runtime.sweeps.cluster import fly_on_cluster
from kittiwake.runtime.sweeps.plan import SweepPlan, code_folders, is_sweep
from kittiwake.runtime.sweeps.rows import Row, flown_logs, require_columns, seeded_simulation
from kittiwake.runtime.sweeps.store import SweepStore
from kittiwake.runtime.sweeps.workers import Flights, Progress, chunks, fly_shared
from kittiwake.scenario.changing import with_changes
from kittiwake.scenario.load import AllowedCode, overridden
from kittiwake.scenario.randomization import refuse_drawn
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.variations import Variations, variations

MAX_RUNS = 10_000_000
# runs of which one must be allowed, so that wrong keys are found before anything is flown
MAX_TRIED = 200
VARIED = ArgumentRule(
    lambda value: isinstance(value, Mapping),
    'a mapping of keys to values, such as {"world.wind.from_deg": [0, 90]}',
)


def _no_progress(flown: int, runs: int) -> None:
    del flown, runs


@checked_arguments(
    vary=VARIED,
    seeds=COUNT,
    runs=COUNT,
    controllers=several("names", '["position", "lee"]'),
    overrides=OVERRIDES,
    workers=COUNT,
    ray=TEXT,
    success=TEXT,
    worst_by=TEXT,
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
    success: str | None = None,
    worst_by: str | None = None,
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
        success: what a completed run must meet to count as a success, such as ``x <= 2`` for a
            column ``x``.
        worst_by: column by whose largest values runs are the worst.
        out: the folder of the results, which must be empty; a new one under ``runs`` by default.
        precision: the floating-point format.
        allow_code: the folder whose Python files the scenario may load, or several.
        progress: called with the number of flown runs and that of all.

    Raises:
        ScenarioError: for values that no run can fly.
        LogError: if the folder is not empty, or cannot be written.
        MissingExtraError: without pyarrow, or Ray if it is named.
    """
    base = overridden(scenario, overrides, allow_code)
    given = variations(vary or {})
    code = code_folders(allow_code)
    path = None if out is None else Path(fspath(out))
    if path is not None and is_sweep(path):
        message = (
            f"'{path}' holds a sweep; continue it with --resume, in Python "
            f"kw.resume_sweep('{path}'), or name another folder"
        )
        raise LogError(message)
    with new_results(path, default_folder(f"sweep-{base.name}")) as folder:
        store = SweepStore(folder)
        try:
            plan = _begin(
                base,
                given,
                folder,
                seeds=seeds,
                runs=runs,
                controllers=tuple(controllers),
                code=code,
                precision=precision,
                success=success,
                worst_by=worst_by,
            )
            return _fly(Flights(folder, plan, code), store, workers, ray, progress)
        except BaseException:
            if not store.flown():
                remove_contents(folder)
            raise


@checked_arguments(
    folder=FILE, workers=COUNT, ray=TEXT, success=TEXT, worst_by=TEXT, progress=FUNCTION
)
def resume_sweep(
    folder: str | PathLike[str],
    *,
    workers: int | None = None,
    ray: str | None = None,
    success: str | None = None,
    worst_by: str | None = None,
    allow_code: AllowedCode = None,
    progress: Progress = _no_progress,
) -> SweepResults:
    """Fly the runs of a sweep that have no row yet, and return the results of all.

    Args:
        folder: the folder of the sweep.
        workers: number of processes that fly, one by default; of a cluster all processors.
        ray: address of a Ray cluster whose tasks fly, or ``local`` for one of this machine.
        success: what a success is, in place of that of the sweep.
        worst_by: column by whose largest values runs are the worst, in place of that of the sweep.
        allow_code: the folder whose Python files the scenario may load, or several.
        progress: called with the number of flown runs and that of all.

    Raises:
        LogError: if the folder holds no sweep, cannot be written, or another process flies it.
    """
    path = Path(fspath(folder))
    plan = SweepPlan.read(path)
    code = code_folders(allow_code)
    with locked(path):
        judged = plan.judged_by(success, worst_by)
        if judged != plan:
            judged.write(path)
        return _fly(Flights(path, judged, code), SweepStore(path), workers, ray, progress)


@checked_arguments(folder=FILE, runs=several("whole numbers", "[0, 5]"))
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
    for number in numbers if runs is not None else ():
        WHOLE.require("runs", number)
        plan.run(number)
    return _logs(path, plan, numbers, code_folders(allow_code))


def _logs(
    path: Path, plan: SweepPlan, numbers: Sequence[int], code: tuple[str, ...]
) -> Iterator[tuple[int, Log]]:
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
    seeds: int | None,
    runs: int | None,
    controllers: tuple[str, ...],
    code: tuple[str, ...],
    precision: Precision,
    success: str | None,
    worst_by: str | None,
) -> SweepPlan:
    """Write scenario and plan of a sweep into its folder, and return the plan.

    Raises:
        ScenarioError: for values that no run can fly, or too many runs.
        LogError: for a condition of another form, or if the folder cannot be written.
    """
    if seeds is not None and runs is not None:
        message = "`seeds` and `runs`: give one of both; runs / combinations are the seeds"
        raise ScenarioError(message)
    changed = with_changes(base, given.items())
    for path in given.grid:
        refuse_drawn(changed, path, "vary: ")
    plan = SweepPlan(
        name=changed.name,
        runs=0,
        seeds=1,
        first_seed=changed.seed,
        grid=given.grid,
        controllers=controllers,
        precision=precision,
    ).judged_by(success, worst_by)
    of_each = seeds if runs is None else ceil(runs / plan.combinations)
    of_each = 1 if of_each is None else of_each
    total = plan.combinations * of_each if runs is None else runs
    if total > MAX_RUNS:
        message = f"the sweep would have {total:,} runs; at most {MAX_RUNS:,}"
        raise ScenarioError(message)
    plan = replace(plan, runs=total, seeds=of_each)
    write_scenario(folder, portable(changed, changed.seed, changed.duration_s))
    _require_allowed(folder, plan, code)
    plan.write(folder)
    return plan


def _require_allowed(folder: Path, plan: SweepPlan, code: tuple[str, ...]) -> None:
    """Refuse a sweep of which no run is allowed, as with a misspelled key.

    Raises:
        ScenarioError: that of the first one.
    """
    tried = Random(0).sample(range(plan.runs), min(plan.runs, MAX_TRIED))
    refusals: list[KittiwakeError] = []
    for number in sorted(tried):
        try:
            seeded_simulation(folder, plan, plan.run(number), code)
        except KittiwakeError as error:
            refusals.append(error)
        else:
            return
    raise refusals[0]


def results_of(folder: Path) -> SweepResults:
    """Return the results of a sweep up to now.

    Raises:
        LogError: if the folder holds no sweep, or cannot be read.
    """
    return _results(SweepStore(folder), SweepPlan.read(folder))


def _results(store: SweepStore, plan: SweepPlan) -> SweepResults:
    return SweepResults(store.folder, plan.grid, store.frame(), plan.success, plan.worst_by)


def _fly(
    flights: Flights,
    store: SweepStore,
    workers: int | None,
    ray: str | None,
    progress: Progress,
) -> SweepResults:
    """Fly the runs that have no row yet, and return the results of all.

    Raises:
        LogError: if the rows cannot be written, or do not have the columns by which they are
            judged.
    """
    runs = flights.plan.runs
    flown = store.flown()
    missing = [number for number in range(runs) if number not in flown]
    done = runs - len(missing)
    progress(done, runs)
    names = flights.plan.judging_columns()
    try:
        for rows in _flown(flights, missing, workers, ray):
            if names and (known := [row for row in rows if row["status"] not in (REFUSED, LOST)]):
                _require_columns(flights, known, names)
                names = []
            store.add(rows)
            done += len(rows)
            progress(done, runs)
        assert done == runs, f"{done} of {runs} runs have a row"
        store.join()
        results = _results(store, flights.plan)
        # all columns are known only now
        results.worst()
    except BaseException as stopped:
        if done:
            aim = (
                "To go on"
                if done < runs
                else "To judge them otherwise, with --success or --worst-by"
            )
            words = (
                f"{done} of {runs} runs are flown. {aim}: kittiwake sweep --resume {store.folder}"
            )
            stopped.add_note(f"{words}, in Python kw.resume_sweep('{store.folder}', ...)")
        raise
    return results


def _require_columns(flights: Flights, rows: Sequence[Row], names: Sequence[str]) -> None:
    """Refuse columns by which runs are judged, if neither these rows nor others can have them.

    Raises:
        LogError: with the nearest column.
    """
    try:
        require_columns(rows, names)
    except LogError:
        if not _differ_in_structure(flights):
            raise


def _differ_in_structure(flights: Flights) -> bool:
    """Return True if runs differ in more than numbers, so that they may have other columns."""
    numbers = flights.plan.first_of_each_value()
    first = None
    for number in numbers[:: len(numbers) // MAX_TRIED + 1]:
        run = flights.plan.run(number)
        try:
            program = seeded_simulation(
                flights.folder, flights.plan, run, flights.code
            ).simulation.program
        except KittiwakeError:
            continue
        first = first or program
        if not first.fits(program.fleet):
            return True
    return False


def _flown(
    flights: Flights, missing: Sequence[int], workers: int | None, ray: str | None
) -> Iterator[list[Row]]:
    """Yield the rows of runs, flown by this process, by workers, or by a cluster."""
    if ray is not None:
        return fly_on_cluster(flights, missing, ray, workers)
    if workers is None or workers == 1:
        return map(flights.rows, chunks(missing, 1))
    return fly_shared(flights, chunks(missing, workers), workers)
