"""``kittiwake plot``: draw a run again."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'kittiwake run' wrote.")]


def plot(folder: Folder) -> None:
    """Draw a run's pictures from its log, also of a run that was cut off.

    The overview, and for each vehicle with sensors a page of them against the truth.
    """
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.overview import save_overview
    from kittiwake.analysis.sensor_pages import save_sensor_pages
    from kittiwake.runtime.run_folder import PICTURE_FILE

    log = Log.read(folder)
    save_overview(log, folder / PICTURE_FILE)
    typer.echo(f"The picture is {folder / PICTURE_FILE}")
    for page in save_sensor_pages(log, folder):
        typer.echo(f"Its sensors: {page}")
