"""Options shared by several commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from kittiwake.core.errors import CockpitError

Duration = Annotated[
    str | None,
    typer.Option(
        metavar="S|until-done",
        help="Simulated seconds, not the scenario's; until-done: until all guidance is done.",
    ),
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed of every random stream.")]
OutFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of the results; default runs/NAME-TIME."),
]
SummaryJson = Annotated[
    bool, typer.Option("--json", help="Print summary.json alone on standard output.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def warn_of_early_end(early_end: str | None, folder: Path) -> None:
    """Print a warning on standard error if a run ended early."""
    if early_end is not None:
        typer.echo(f"Warning: {folder}: {early_end}.", err=True)


def refuse(options: Mapping[str, object], mode: str) -> None:
    """Refuse options that have no effect in a mode of a command.

    Raises:
        CockpitError: if one of them is given.
    """
    for name, value in options.items():
        if value not in (None, False) and value != []:
            message = f"`{name}`: not allowed with {mode}"
            raise CockpitError(message)
