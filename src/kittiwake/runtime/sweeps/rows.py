"""Row of a run: what was varied and drawn, and its summary in numbers."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from kittiwake.analysis.log import Log
from kittiwake.analysis.sweep_results import REFUSED, unknown_column
from kittiwake.core.errors import KittiwakeError, LogError
from kittiwake.runtime.side_by_side import SeededSimulation, fly_all
from kittiwake.runtime.sweeps.plan import PlannedRun, SweepPlan, draws_of_run, simulation_of

Row: TypeAlias = dict[str, Any]

# of a summary, what is the same in all runs or differs from machine to machine
LEFT_OUT = {
    *("format", "scenario", "seed", "wall_s", "compile_s", "realtime_factor", "precision"),
    *("engine", "engine_reason", "model", "real_time"),
    # many numbers, of which ``warnings`` counts those that are worth a look
    *("actuators", "sensors", "time_constants"),
}
# sections of a summary whose entries stand for themselves
OPENED = ("vehicles", "metrics", "drawn")


def flown_rows(
    folder: Path, plan: SweepPlan, numbers: Sequence[int], code: tuple[str, ...] = ()
) -> list[Row]:
    """Fly some runs and return their rows; one that cannot be flown has the reason in its row."""
    rows = {
        run.number: row_without_flight(folder, plan, run, (REFUSED, str(log)), code)
        if isinstance(log, KittiwakeError)
        else head(plan, run) | dict(summary_columns(log.summary or {}))
        for run, log in flown_logs(folder, plan, numbers, code)
    }
    return [rows[number] for number in numbers]


def flown_logs(
    folder: Path, plan: SweepPlan, numbers: Sequence[int], code: tuple[str, ...] = ()
) -> Iterator[tuple[PlannedRun, Log | KittiwakeError]]:
    """Fly some runs and yield the log of each, or why it cannot be flown, in any order."""
    ready: list[tuple[PlannedRun, SeededSimulation]] = []
    for run in map(plan.run, numbers):
        try:
            ready.append((run, seeded_simulation(folder, plan, run, code)))
        except KittiwakeError as error:
            yield run, error
    for index, log in fly_all([own for _, own in ready]):
        yield ready[index][0], log


def seeded_simulation(
    folder: Path, plan: SweepPlan, run: PlannedRun, code: tuple[str, ...] = ()
) -> SeededSimulation:
    """Return the simulation of a run with the values that its seed draws.

    Raises:
        KittiwakeError: if it cannot be flown.
    """
    simulation = simulation_of(folder, plan, run, code).drawn(run.seed)
    simulation.scenario.check_flight()
    return SeededSimulation(simulation, run.seed)


def row_without_flight(
    folder: Path,
    plan: SweepPlan,
    run: PlannedRun,
    outcome: tuple[str, str],
    code: tuple[str, ...] = (),
) -> Row:
    """Return the row of a run without a summary, from its status and the reason for it."""
    drawn = dict(summary_columns({"drawn": draws_of_run(folder, run, code)}))
    return head(plan, run) | dict(zip(("status", "reason"), outcome, strict=True)) | drawn


def head(plan: SweepPlan, run: PlannedRun) -> Row:
    """Return the part of a row that is known before the flight."""
    controllers = {"controllers": run.controllers} if run.controllers else {}
    varied = {
        column: value
        for path, own in run.values.items()
        for column, value in (
            [(path, str(own))] if _has_text(plan.grid[path]) else _flat(path, own)
        )
    }
    return {"run": run.number, "seed": run.seed, **controllers, **varied}


def _has_text(values: Sequence[Any]) -> bool:
    """Return True if values are no numbers, so that their column is one of text."""
    return any(
        not isinstance(value, int | float | Sequence) or isinstance(value, str) for value in values
    )


def summary_columns(summary: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a summary of a run; the keys of nested sections are joined by dots."""
    for key, value in summary.items():
        if key in LEFT_OUT:
            continue
        if key in OPENED:
            yield from summary_columns(value)
        elif key in ("events", "warnings"):
            yield key, len(value)
        elif isinstance(value, Mapping):
            for inner, own in summary_columns(value):
                yield f"{key}.{inner}", own
        else:
            yield from _flat(key, value)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a value: a vector has one for each component."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        for place, component in enumerate(value):
            yield from _flat(f"{name}.{place}", component)
    else:
        yield name, value


def require_columns(rows: Sequence[Row], names: Sequence[str]) -> None:
    """Refuse names of columns that no row of a flight has.

    A section that does not apply to a flight, such as ``drone.touchdown``, is one empty column; it
    may have columns in other runs.

    Raises:
        LogError: with the nearest column.
    """
    for name in names:
        if not any(_may_have(row, name) for row in rows):
            columns = dict.fromkeys(column for row in rows for column in row)
            raise LogError(unknown_column(name, columns))


def _may_have(row: Row, name: str) -> bool:
    ends = (place for place, character in enumerate(name) if character == ".")
    return name in row or any(row.get(name[:end], name) is None for end in ends)
