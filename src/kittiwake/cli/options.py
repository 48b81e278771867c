"""Options that several commands take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from kittiwake.core.errors import CockpitError

Duration = Annotated[
    str | None, typer.Option(metavar="S", help="Simulated seconds, instead of the scenario's.")
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed of every random stream.")]
OutFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the results, runs/NAME-TIME unless given."),
]
SummaryJson = Annotated[
    bool, typer.Option("--json", help="Print summary.json alone on standard output.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but mistakes.")]


def note_early_end(early_end: str | None, folder: Path) -> None:
    """Say on standard error that a run did not come to its end, if it did not."""
    if early_end is not None:
        typer.echo(f"Note: {folder}: {early_end}.", err=True)


def refuse(options: Mapping[str, object], whom: str) -> None:
    """Refuses options that are given and mean nothing.

    Raises:
        CockpitError: with the first of them.
    """
    for name, value in options.items():
        if value not in (None, False) and value != []:
            message = f"{name} does not go with {whom}"
            raise CockpitError(message)
