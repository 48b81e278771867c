"""``kittiwake compare``: several controllers on one scenario, as a table and pictures."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.check import AllowCode, Overrides, Scenario, show_warnings
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.core.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kittiwake.analysis.response import Trial

MAX_SEEDS = 10_000


def compare(
    scenario: Scenario,
    controllers: Annotated[
        str,
        typer.Option(
            metavar="A,B,C",
            help="Controllers to compare, each a name or FILE.py:CLASS; + joins several into one "
            "cascade.",
        ),
    ],
    overrides: Overrides = None,
    *,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, max=MAX_SEEDS, help="Flights per controller.")
    ] = 1,
    noise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Noise of the estimates in place of the scenario's estimator, such as "
            "position_m=0.05; the keys are those of 'kittiwake list noisy-truth', others are 0. "
            "May be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the results, runs/NAME-TIME unless given."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures alone, as an array.")
    ] = False,
    allow_code: AllowCode = None,
) -> None:
    """Fly several controllers on the same scenario and seeds; write a table and pictures."""
    from rich.console import Console

    from kittiwake.analysis.comparison_metrics import failures, metrics, save_table, summaries
    from kittiwake.analysis.plots.comparison import save_pictures
    from kittiwake.analysis.response import missing_roughness
    from kittiwake.analysis.run_folder import default_folder, results_folder
    from kittiwake.cli.comparison_table import comparison_tables
    from kittiwake.runtime.comparison_flights import fly
    from kittiwake.scenario.variants import variants

    keep_compiled()
    names = [name.strip() for name in controllers.split(",") if name.strip()]
    if len(set(names)) < max(len(names), 1):
        message = (
            f"`--controllers`: got {controllers}; must be different names, separated by commas"
        )
        raise ScenarioError(message)
    compared = variants(scenario, names, overrides or (), noise, allow_code)
    show_warnings(next(iter(compared.values())).unused_randomization())
    if (warning := missing_roughness()) is not None:
        show_warnings([warning])
    default = default_folder(f"compare-{Path(scenario).stem}")
    with (
        results_folder(out, default) as folder,
        Console(stderr=True).status("compiling", spinner="line") as status,
    ):
        trials = fly(compared, seeds=seeds, progress=status.update)
        save_table(trials, folder)
        pictures = save_pictures(trials, folder)
    if as_json:
        sys.stdout.write(json.dumps(metrics(trials)) + "\n")
        return
    console = Console()
    console.print(*comparison_tables(summaries(trials), console.width))
    for line in failures(trials):
        console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(_files(trials, pictures, folder), highlight=False, markup=False, soft_wrap=True)


def _files(trials: "Sequence[Trial]", pictures: "Sequence[str]", folder: Path) -> str:
    """Return a line with the files of the results, and the number of drawn vehicles."""
    from kittiwake.analysis.comparison_metrics import TABLE_FILE

    files = f"{', '.join([TABLE_FILE, *pictures[:-1]])} and {pictures[-1]} are in {folder}"
    vehicles = len({trial.vehicle for trial in trials})
    if vehicles == len(pictures):
        return files
    return f"{files}; the first {len(pictures)} of {vehicles} vehicles are drawn"
