"""``kittiwake tune``: values of a scenario with which its flights are better."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kittiwake.cli.check import AllowCode, Overrides, show_warnings
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.options import Quiet

if TYPE_CHECKING:
    from kittiwake.analysis.tuning_result import Score, TuningResult


MAX_LEFT_OUT = 10


def tune(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A library name, or the path of a YAML file.")
    ],
    overrides: Overrides = None,
    *,
    free: Annotated[
        list[str],
        typer.Option(
            metavar="KEY[=low:high]",
            help="A number that may change, optionally between limits. In KEY an asterisk stands "
            "for any text, as in 'vehicles.drone.controller.*'. May be repeated.",
        ),
    ],
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="What to make small: a number of the flights' summaries by its column in a "
            "sweep, such as drone.touchdown.offset_m; the tracking error unless given.",
        ),
    ] = None,
    maximize: Annotated[bool, typer.Option("--maximize", help="Make it large instead.")] = False,
    method: Annotated[
        Literal["gradient", "cma-es"] | None,
        typer.Option(help="The gradient where it applies, else CMA-ES, unless given."),
    ] = None,
    evaluations: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Most candidates; 25 by gradient, 300 by CMA-ES."),
    ] = None,
    seeds: Annotated[int, typer.Option(metavar="N", min=1, help="Flights of each candidate.")] = 4,
    unseen: Annotated[
        int,
        typer.Option(metavar="N", min=1, help="Flights with other seeds that judge the result."),
    ] = 20,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="New or empty folder for the results, runs/tune-NAME-TIME by default.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print tuning.json alone, without the candidates.")
    ] = False,
    quiet: Quiet = False,
    allow_code: AllowCode = None,
) -> None:
    """Look for values of a scenario with which its flights are better.

    Writes the tuned scenario, the part of it that was tuned, and a picture of before and after.
    """
    from kittiwake.cli.progress import progress_bar
    from kittiwake.runtime.tuning.tune import TRACKING
    from kittiwake.runtime.tuning.tune import tune as tune_scenario
    from kittiwake.scenario.free_values import parse_free
    from kittiwake.scenario.load import load_scenario

    keep_compiled()
    shown = not (as_json or quiet)
    loaded = load_scenario(scenario, overrides or [], logged=True, allow_code=allow_code)
    if shown:
        show_warnings(loaded.unused_randomization())
    with progress_bar("tuning", shown=shown) as progress:
        result = tune_scenario(
            loaded,
            parse_free(free),
            objective=TRACKING if objective is None else objective,
            maximize=maximize,
            method=method,
            evaluations=evaluations,
            seeds=seeds,
            unseen=unseen,
            out=out,
            allow_code=allow_code,
            progress=progress,
        )
    if as_json:
        figures = {"folder": str(result.folder), **result.figures()}
        del figures["evaluations"]
        sys.stdout.write(json.dumps(figures) + "\n")
    elif not quiet:
        _show(result)


def _show(result: "TuningResult") -> None:
    """Print the values and what they are worth."""
    from rich.console import Console
    from rich.table import Column, Table

    console = Console()
    values = Table(Column("value", overflow="fold"), "before", "after", "factor")
    for path, before, after in zip(result.paths, result.before, result.after, strict=True):
        factor = f"{after / before:.3g}" if before else ""
        values.add_row(path, f"{before:.5g}", f"{after:.5g}", factor)
    console.print(values)
    worth = Table(result.objective, "before", "after", "failed before", "failed after")
    for words, (first, last) in (("tuning", result.seeds), ("unseen", result.unseen)):
        worth.add_row(
            f"{first.flights} {words} seeds",
            _mean(first),
            _mean(last),
            *map(_failed, (first, last)),
        )
    console.print(worth)
    lines = [f"Left out: {path} {reason}." for path, reason in result.left_out.items()]
    if len(lines) > MAX_LEFT_OUT:
        lines[MAX_LEFT_OUT:] = [f"and {len(lines) - MAX_LEFT_OUT} more are left out."]
    lines += [f"{path} is at its limit {limit:g}." for path, limit in result.at_limits.items()]
    if result.refusals:
        lines.append(
            f"{len(result.refusals)} of {len(result.evaluations)} candidates were refused, the "
            f"first one for: {result.refusals[0]}"
        )
    lines += [f"Method: {result.method}" + (f", as {result.reason}" if result.reason else "") + "."]
    if result.gradient is not None:
        slope, quotient = result.gradient
        lines.append(
            f"Slope of the mean squared error at the start: {slope:.5g}; {quotient:.5g} by "
            "differences."
        )
    lines.append(f"Fly it: kittiwake run {result.folder / 'scenario.yaml'}")
    lines.append(f"Values and picture are in {result.folder}: tuned.yaml, tuning.png")
    console.print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)


def _mean(score: "Score") -> str:
    return f"{score.value:.5g}"


def _failed(score: "Score") -> str:
    return f"{score.failures} of {score.flights}"
