"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

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
