"""``kittiwake plot``: draw a run again."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'kittiwake run' wrote.")]


def plot(folder: Folder) -> None:
    """Draw a run's overview picture from its log, also of a run that was cut off."""
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.overview import save_overview
    from kittiwake.runtime.run_folder import PICTURE_FILE

    save_overview(Log.read(folder), folder / PICTURE_FILE)
    typer.echo(f"The picture is {folder / PICTURE_FILE}")
