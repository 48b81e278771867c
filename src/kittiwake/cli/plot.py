"""``kittiwake plot``: pictures and films of a recorded run."""

from pathlib import Path
from typing import Annotated

import typer

from kittiwake.cli.film import FilmOptions, film_into, still_into
from kittiwake.cli.options import warn_of_early_end
from kittiwake.core.errors import ScenarioError

SCENE = "Films and pictures of the scene"

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'kittiwake run' wrote.")]
Sensors = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Draw the pages of this sensor only; repeatable."),
]
Film = Annotated[
    bool, typer.Option("--film", rich_help_panel=SCENE, help="Make a film of the flight.")
]
Still = Annotated[
    str | None,
    typer.Option(
        metavar="S", rich_help_panel=SCENE, help="Draw the scene at this time, as still.png."
    ),
]
FilmFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="mp4|gif",
        rich_help_panel=SCENE,
        help="Format of the film; default mp4.",
    ),
]
Width = Annotated[
    str | None,
    typer.Option(
        metavar="PX",
        rich_help_panel=SCENE,
        help="Width; default 1280, for a GIF 640; height: 9/16.",
    ),
]
Speed = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        rich_help_panel=SCENE,
        help="Ratio to real time; default 1, unless the film would be long.",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="S", rich_help_panel=SCENE, help="Start of the film."),
]
Until = Annotated[
    str | None, typer.Option(metavar="S", rich_help_panel=SCENE, help="End of the film.")
]
Follow = Annotated[
    str | None,
    typer.Option(
        metavar="VEHICLE", rich_help_panel=SCENE, help="Look at this vehicle, not at all of them."
    ),
]


def plot(
    folder: Folder,
    sensor: Sensors = None,
    *,
    film: Film = False,
    still: Still = None,
    film_format: FilmFormat = None,
    width: Width = None,
    speed: Speed = None,
    begin: From = None,
    until: Until = None,
    follow: Follow = None,
) -> None:
    """Draw the pictures of a run from its log, also of a run that was cut off.

    These are the overview, maps of the samples of probes, paths and cohesion of flocks, and
    pages of the sensors beside their error-free readings; with --sensor, only these pages. With
    --film only a film of the flight, film.mp4 or film.gif, and with --still only a picture of the
    scene; neither needs a screen.
    """
    options = FilmOptions(film_format, width, speed, begin, until, follow)
    if not film:
        options.check_without_film(still=still is not None)
    if film or still is not None:
        if sensor:
            message = "`--sensor`: not allowed with --film or --still"
            raise ScenarioError(message)
        if film:
            film_into(folder, options)
        if still is not None:
            still_into(folder, still, options)
        return
    _draw_pages(folder, sensor or [])


def _draw_pages(folder: Path, sensors: list[str]) -> None:
    from kittiwake.analysis.flock_pages import save_flock_pages
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.overview import save_overview
    from kittiwake.analysis.sensor_pages import save_sensor_pages
    from kittiwake.analysis.survey_maps import save_survey_maps
    from kittiwake.runtime.run_folder import PICTURE_FILE

    log = Log.read(folder)
    warn_of_early_end(log.early_end, folder)
    if not sensors:
        save_overview(log, folder / PICTURE_FILE)
        typer.echo(f"The picture is {folder / PICTURE_FILE}")
        for page in save_survey_maps(log, folder):
            typer.echo(f"Survey map: {page}")
        for page in save_flock_pages(log, folder):
            typer.echo(f"Flock: {page}")
    for page in save_sensor_pages(log, folder, sensors):
        typer.echo(f"Sensors: {page}")
