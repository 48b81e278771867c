"""``kittiwake plot``: draw a run again."""

from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'kittiwake run' wrote.")]


def plot(
    folder: Folder,
    sensor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Draw the pages of this sensor only; repeatable."),
    ] = None,
) -> None:
    """Draw a run's pictures from its log, also of a run that was cut off.

    The overview, for each field that probes have met a map of their samples, for each team that
    flocks its paths and how it kept together, and for each vehicle with sensors pages of them
    beside what they would say without errors; with --sensor, only these pages.
    """
    from kittiwake.analysis.flock_pages import save_flock_pages
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.overview import save_overview
    from kittiwake.analysis.sensor_pages import save_sensor_pages
    from kittiwake.analysis.survey_maps import save_survey_maps
    from kittiwake.runtime.run_folder import PICTURE_FILE

    log = Log.read(folder)
    if not sensor:
        save_overview(log, folder / PICTURE_FILE)
        typer.echo(f"The picture is {folder / PICTURE_FILE}")
        for page in save_survey_maps(log, folder):
            typer.echo(f"What its probes found: {page}")
        for page in save_flock_pages(log, folder):
            typer.echo(f"Who flew together: {page}")
    for page in save_sensor_pages(log, folder, sensor or ()):
        typer.echo(f"Its sensors: {page}")
