"""``kittiwake sweep``: many runs of one scenario, as a table with a row for each."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import AllowCode, OptionalScenario, Overrides, show_warnings
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.options import Quiet, refuse

if TYPE_CHECKING:
    import pandas
    from rich.table import Table

    from kittiwake.analysis.sweep_results import Rate, SweepResults

WORST, MAX_CAUSES = 5, 10


def sweep(
    scenario: OptionalScenario = None,
    overrides: Overrides = None,
    *,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=a,b,c",
            help="Values of a key, all combinations of which are flown: a,b,c, or low:high:count, "
            "or a distribution from which each seed draws, such as 'normal(mean, deviation)', "
            "uniform(a, b), log_uniform(a, b), choice(a, b). May be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Runs of each combination, one unless given."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of all runs, in place of --seeds."),
    ] = None,
    controllers: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="Controllers to compare, as for 'kittiwake compare'."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1024, help="Processes that fly, one unless given."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Ray cluster whose tasks fly, or 'local' for one of this machine. Join only "
            "clusters of your own.",
        ),
    ] = None,
    success: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION",
            help="What a completed run must meet to count as a success: a column, a comparison and "
            "a number, such as 'drone.touchdown.offset_m <= 0.3'. Kept for --resume.",
        ),
    ] = None,
    worst_by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column by whose largest values runs are the worst. Kept for --resume.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="New or empty folder for the results, runs/sweep-NAME-TIME by default.",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Fly the runs that the sweep in this folder lacks."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the rates and the worst runs alone, as an object.")
    ] = False,
    quiet: Quiet = False,
    allow_code: AllowCode = None,
) -> None:
    """Fly a scenario many times with other values and seeds; write a table and a picture.

    Each combination of the varied values is flown with the same seeds. What the scenario has under
    randomize is drawn from the seed. The table is written while it grows: a sweep that was cut off
    goes on with --resume.
    """
    from kittiwake.analysis.plots.sweep import save_picture
    from kittiwake.cli.progress import progress_bar
    from kittiwake.runtime.sweeps import sweep as sweeps
    from kittiwake.scenario.load import load_scenario
    from kittiwake.scenario.variations import parse_variations

    keep_compiled()
    shown = not (as_json or quiet)
    if resume is not None:
        given = {"SCENARIO": scenario, "--set": overrides, "--vary": vary, "--seeds": seeds}
        given |= {"--runs": runs, "--controllers": controllers, "--out": out}
        refuse(given, "--resume")
        with progress_bar("flying", shown=shown) as progress, _notes_if_stopped():
            results = sweeps.resume_sweep(
                resume,
                workers=workers,
                ray=ray,
                success=success,
                worst_by=worst_by,
                allow_code=allow_code,
                progress=progress,
            )
    else:
        if scenario is None:
            message = "missing; give a library name, or the path of a YAML file"
            raise typer.BadParameter(message, param_hint="'SCENARIO'")
        loaded = load_scenario(scenario, overrides or [], logged=True, allow_code=allow_code)
        if shown:
            show_warnings(loaded.unused_randomization())
        varied = parse_variations(vary or ())
        with progress_bar("flying", shown=shown) as progress, _notes_if_stopped():
            results = sweeps.sweep(
                loaded,
                {**varied.grid, **varied.drawn},
                seeds=seeds,
                runs=runs,
                controllers=[
                    name.strip() for name in (controllers or "").split(",") if name.strip()
                ],
                workers=workers,
                ray=ray,
                success=success,
                worst_by=worst_by,
                out=out,
                allow_code=allow_code,
                progress=progress,
            )
    save_picture(results)
    if as_json:
        sys.stdout.write(json.dumps(_figures(results)) + "\n")
    elif not quiet:
        _show(results)
    if not len(results.table) or not results.succeeded().any():
        raise typer.Exit(RUN_FAILED)


@contextmanager
def _notes_if_stopped() -> Generator[None]:
    """Print how to go on if a signal ends the command."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        for note in getattr(stopped, "__notes__", ("stopped before any run was flown",)):
            typer.echo(note, err=True)
        raise


def _figures(results: "SweepResults") -> dict[str, object]:
    """Return success rate, causes of failures and worst runs as plain data."""
    compared = {name: rate._asdict() for name, rate in _compared(results).items()}
    return {
        "folder": str(results.folder),
        **results.success()._asdict(),
        **({"controllers": compared} if compared else {}),
        "failures": results.failures(),
        "worst": results.worst(WORST)["run"].tolist(),
    }


def _compared(results: "SweepResults") -> "dict[str, Rate]":
    """Return the rate of success of each controller; empty if none are compared."""
    return results.rates("controllers") if "controllers" in results.varied() else {}


def _show(results: "SweepResults") -> None:
    """Print success rate, causes of failures and worst runs."""
    from rich.console import Console

    console = Console()
    for name, rate in {"": results.success(), **_compared(results)}.items():
        console.print(
            f"{name}{': ' if name else ''}{rate.successes} of {rate.runs} runs succeeded: "
            f"{rate.share:.1%}, between {rate.low:.1%} and {rate.high:.1%} with 95 % confidence.",
            highlight=False,
            markup=False,
        )
    failures = [f"{count} x {reason}" for reason, count in results.failures().items()]
    if len(failures) > MAX_CAUSES:
        failures[MAX_CAUSES:] = [f"and {len(failures) - MAX_CAUSES} more causes"]
    for line in failures:
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    worst = results.worst(WORST)
    console.print("Worst runs:", _table(results, worst))
    again = worst["run"][worst["run"].isin(results.flown()["run"])].tolist()
    lines = [f"Fly one again: kittiwake run {results.folder} --run {run}" for run in again[:1]]
    lines.append(f"Table and picture are in {results.folder}: runs.parquet, sweep.png")
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def _table(results: "SweepResults", worst: "pandas.DataFrame") -> "Table":
    """Return a table with a column for each run, which is narrow whatever the names."""
    from rich.table import Column, Table

    deciding = results.worst_by or results.deciding_column()
    names = ["seed", *results.varied(), "status", *([deciding] if deciding else [])]
    runs = [Column(str(run), overflow="fold") for run in worst["run"]]
    table = Table(Column("run", overflow="fold"), *runs)
    for name in dict.fromkeys(names):
        table.add_row(name, *map(_text, worst[name]))
    return table


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
