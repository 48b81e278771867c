"""``kittiwake reproduce``: published results beside ours."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.options import Quiet

if TYPE_CHECKING:
    from kittiwake.analysis.reproduction.report import Report


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="micklisch, qrsim, uav-usv, matlab-drone or uav-gazebo; all unless given.",
            show_default=False,
        ),
    ] = None,
    *,
    full: Annotated[
        bool,
        typer.Option("--full", help="Fly all items, seeds and plausible values of constants."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the report, runs/reproduce-NAME-TIME by default."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the numbers with their verdicts alone.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Fly the published results of five simulators again, and compare.

    Writes a report in Markdown and HTML with published and own numbers, differences, verdicts and
    figures.
    """
    from kittiwake.cli.progress import progress_bar
    from kittiwake.runtime.reproduction.reproduce import reproduce as reproduce_results

    keep_compiled()
    names = () if name is None else (name,)
    with progress_bar("flying", shown=not (as_json or quiet)) as progress:
        report, folder = reproduce_results(names, full=full, out=out, progress=progress)
    if as_json:
        sys.stdout.write(json.dumps(report.figures()) + "\n")
    elif not quiet:
        _show(report, folder)


def _show(report: "Report", folder: Path) -> None:
    """Print the number of each verdict, and what differs."""
    from rich.console import Console
    from rich.table import Column, Table

    from kittiwake.analysis.reproduction.verdict import Verdict

    console = Console()
    table = Table(Column("publication"), *map(str, Verdict))
    for publication, _ in report.parts:
        counts = report.verdicts(publication.name)
        table.add_row(publication.name, *(str(counts[verdict]) for verdict in Verdict))
    console.print(table)
    for publication, items in report.parts:
        for own in items:
            for number in own.numbers:
                if number.verdict is Verdict.DIFFERS:
                    words = f"{publication.name}, {own.item.place}: {number.number.name}: "
                    words += f"published {number.published:.4g}, ours {number.ours.value:.4g}"
                    console.print(words, highlight=False, markup=False, soft_wrap=True)
    console.print(f"The report is {folder / 'report.html'}, and index.md for the documentation.")
