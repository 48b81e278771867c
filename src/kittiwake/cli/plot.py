"""``kittiwake plot``: draw a run again, or film it."""

from pathlib import Path
from typing import Annotated

import typer

from kittiwake.cli.film import TakeWords, film_into, still_into
from kittiwake.cli.options import note_early_end
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
        "--format", metavar="mp4|gif", rich_help_panel=SCENE, help="Of the film; mp4 unless given."
    ),
]
Width = Annotated[
    str | None,
    typer.Option(
        metavar="PX", rich_help_panel=SCENE, help="1280 unless given, of a GIF 640; height: 9/16."
    ),
]
Speed = Annotated[
    str | None,
    typer.Option(
        metavar="X",
        rich_help_panel=SCENE,
        help="Times the flight's, real time unless the film would be long.",
    ),
]
From = Annotated[
    str | None,
    typer.Option("--from", metavar="S", rich_help_panel=SCENE, help="Where the film begins."),
]
Until = Annotated[
    str | None, typer.Option(metavar="S", rich_help_panel=SCENE, help="Where the film ends.")
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
    """Draw a run's pictures from its log, also of a run that was cut off.

    The overview, for each field that probes have met a map of their samples, for each team that
    flocks its paths and how it kept together, and for each vehicle with sensors pages of them
    beside what they would say without errors; with --sensor, only these pages. With --film only a
    film of the flight, film.mp4 or film.gif, and with --still only a picture of the scene; neither
    needs a screen.
    """
    words = TakeWords(film_format, width, speed, begin, until, follow)
    if not film:
        words.refuse_film_only(still=still is not None)
    if film or still is not None:
        if sensor:
            message = "--sensor is about pages of sensors, and --film and --still draw none"
            raise ScenarioError(message)
        if film:
            film_into(folder, words)
        if still is not None:
            still_into(folder, still, words)
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
    note_early_end(log.early_end, folder)
    if not sensors:
        save_overview(log, folder / PICTURE_FILE)
        typer.echo(f"The picture is {folder / PICTURE_FILE}")
        for page in save_survey_maps(log, folder):
            typer.echo(f"What its probes found: {page}")
        for page in save_flock_pages(log, folder):
            typer.echo(f"Who flew together: {page}")
    for page in save_sensor_pages(log, folder, sensors):
        typer.echo(f"Its sensors: {page}")
