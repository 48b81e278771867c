"""``kittiwake plot``: pictures and films of a recorded run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from kittiwake.cli.check import AllowCode
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.film import FilmOptions, film_into, still_into
from kittiwake.cli.options import refuse, warn_of_early_end
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.extras import require_cockpit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kittiwake.analysis.log import Log
    from kittiwake.analysis.plots.style import PlotStyle


class PictureForm(TypedDict):
    """Style and format of pictures."""

    style: "PlotStyle"
    file_format: str


SCENE = "Films and pictures of the scene"

Folder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="A folder that 'kittiwake run' or 'kittiwake sweep' wrote."),
]
Second = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DIR2]",
        help="A second run, drawn dashed over the first one.",
        show_default=False,
    ),
]
Style = Annotated[
    str,
    typer.Option(metavar="report|paper", help="Paper: a column of 3.5 inches, 8 point, no title."),
]
Only = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Draw only these panels, such as position,speed."),
]
Sensors = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Draw the pages of this sensor only; repeatable."),
]
Film = Annotated[
    bool, typer.Option("--film", rich_help_panel=SCENE, help="Make a film of the flight.")
]
Html = Annotated[
    bool,
    typer.Option(
        "--html",
        rich_help_panel=SCENE,
        help="Write flight.html: the flight in 3-D with charts, in one file for any browser.",
    ),
]
Still = Annotated[
    str | None,
    typer.Option(
        metavar="S", rich_help_panel=SCENE, help="Draw the scene at this time, as still.png."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="png|pdf|svg",
        help="Format of the pictures; default png. With --film mp4 or gif; default mp4.",
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


Runs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="Of a sweep, fly so many runs again for bands.png, the percentiles over time; "
        "default 100, 0 for none.",
    ),
]
Success = Annotated[
    str | None,
    typer.Option(
        metavar="CONDITION", help="Of a sweep, what a success is, as for 'kittiwake sweep'."
    ),
]
# runs of a sweep whose percentiles are drawn
BAND_RUNS = 100


def plot(
    folder: Folder,
    second: Second = None,
    sensor: Sensors = None,
    *,
    film: Film = False,
    html: Html = False,
    still: Still = None,
    file_format: Format = None,
    style: Style = "report",
    only: Only = None,
    width: Width = None,
    speed: Speed = None,
    begin: From = None,
    until: Until = None,
    follow: Follow = None,
    runs: Runs = None,
    success: Success = None,
    allow_code: AllowCode = None,
) -> None:
    """Draw the pictures of a run from its log, also of a run that was cut off.

    These are the overview, maps of the samples of probes, paths and cohesion of flocks, estimates
    beside the truth, and sensors beside their error-free readings; with --sensor, only these. With
    --only or a second run, only the overview is drawn. With --film only a film of the flight,
    film.mp4 or film.gif, and with --still only a picture of the scene; neither needs a screen.
    With --html only a static page, flight.html, is written.
    Of a sweep two pages are drawn, also while it is flown: sweep.png, and bands.png of runs that
    are flown again.
    """
    from kittiwake.runtime.sweeps.plan import is_sweep

    options = FilmOptions(file_format, width, speed, begin, until, follow)
    if not film:
        options.check_without_film(still=still is not None)
    if is_sweep(folder):
        given = {"--sensor": sensor, "--only": only, "DIR2": second, "--film": film}
        refuse({**given, "--html": html, "--still": still}, "a sweep")
        count = BAND_RUNS if runs is None else runs
        _draw_sweep(folder, count, success, allow_code, _form(file_format, style))
        return
    refuse({"--runs": runs, "--success": success, "--allow-code": allow_code}, "a run")
    if not film and still is None and not html:
        names = None if only is None else [name.strip() for name in only.split(",")]
        _draw_pages(folder, second, sensor or [], names, _form(file_format, style))
        return
    given = {"--sensor": sensor, "--only": only, "DIR2": second}
    _refuse_with_scene({**given, "--style": style if style != "report" else None})
    if html:
        _write_page(folder)
    if film:
        film_into(folder, options)
    if still is not None:
        still_into(folder, still, options)


def _refuse_with_scene(given: "Mapping[str, object]") -> None:
    """Raise an error for options of the other pictures.

    Raises:
        ScenarioError: if one of them is given.
    """
    for option, value in given.items():
        if value:
            message = f"`{option}`: not allowed with --film, --html or --still"
            raise ScenarioError(message)


def _write_page(folder: Path) -> None:
    """Write the static page of a flight."""
    require_cockpit()
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.run_folder import PAGE_FILE
    from kittiwake.cli.progress import progress_bar
    from kittiwake.cockpit.flight_page.document import flight_page

    log = Log.read(folder)
    warn_of_early_end(log.early_end, folder)
    with progress_bar("drawing frame", shown=True) as progress:
        page = flight_page(log, progress)
    page.save(folder / PAGE_FILE)
    typer.echo(f"The page is {folder / PAGE_FILE}")


def _draw_sweep(
    folder: Path,
    count: int,
    success: str | None,
    allow_code: list[Path] | None,
    form: PictureForm,
) -> None:
    """Draw the pages of a sweep, the second one of some runs that are flown again."""
    from kittiwake.analysis.plots.sweep import save_picture
    from kittiwake.analysis.plots.sweep_bands import PICTURE, draw_bands
    from kittiwake.cli.progress import progress_bar
    from kittiwake.runtime.sweeps.sweep import results_of, sweep_logs

    results = results_of(folder)
    typer.echo(f"The picture is {save_picture(results, success, **form)}")
    flown = results.flown()["run"].tolist()
    count = min(count, len(flown))
    chosen = [flown[place * len(flown) // count] for place in range(count)]
    if not chosen:
        return
    keep_compiled()
    with progress_bar("flying", shown=True) as progress:

        def logs() -> "Iterator[Log]":
            for done, (_, log) in enumerate(sweep_logs(folder, chosen, allow_code=allow_code)):
                progress(done + 1, len(chosen))
                yield log

        page = draw_bands(logs(), form["style"])
    path = folder / f"{PICTURE}.{form['file_format']}"
    page.save(path)
    typer.echo(f"Percentiles: {path}")


def _form(file_format: str | None, style: str) -> PictureForm:
    """Return style and format of the pictures.

    Raises:
        ScenarioError: if one of them is unknown.
    """
    from kittiwake.analysis.plots.style import FORMATS, STYLES

    file_format = file_format or "png"
    for option, given, allowed in (("--format", file_format, FORMATS), ("--style", style, STYLES)):
        if given not in allowed:
            message = f"`{option}`: got {given}; unknown. {did_you_mean(given, allowed)}"
            raise ScenarioError(message)
    return {"style": STYLES[style], "file_format": file_format}


def _draw_pages(
    folder: Path,
    second: Path | None,
    sensors: list[str],
    only: list[str] | None,
    form: PictureForm,
) -> None:
    from kittiwake.analysis.log import Log
    from kittiwake.analysis.plots import save_overview
    from kittiwake.analysis.plots.estimation import save_estimation_pages
    from kittiwake.analysis.plots.flock import save_flock_pages
    from kittiwake.analysis.plots.overview import SecondRun
    from kittiwake.analysis.plots.sensors import save_sensor_pages
    from kittiwake.analysis.plots.survey import save_survey_maps
    from kittiwake.analysis.run_folder import PICTURE_FILE

    if sensors and (only is not None or second is not None):
        message = "`--sensor`: not allowed with --only or a second run"
        raise ScenarioError(message)
    log = Log.read(folder)
    warn_of_early_end(log.early_end, folder)
    other, path = None, (folder / PICTURE_FILE).with_suffix(f".{form['file_format']}")
    if second is not None:
        names = (folder.resolve().name, second.resolve().name)
        shown = names if names[0] != names[1] else (str(folder), str(second))
        other = SecondRun(Log.read(second), shown, second)
        warn_of_early_end(other.log.early_end, second)
        path = path.with_stem(f"{path.stem}-with-{names[1]}")
    if not sensors:
        save_overview(log, path, style=form["style"], only=only or (), second=other)
        typer.echo(f"The picture is {path}")
        if only is not None or second is not None:
            return
        others = {
            "Survey map": save_survey_maps,
            "Flock": save_flock_pages,
            "Estimate": save_estimation_pages,
        }
        for title, save in others.items():
            for page in save(log, folder, **form):
                typer.echo(f"{title}: {page}")
    for page in save_sensor_pages(log, folder, sensors, **form):
        typer.echo(f"Sensors: {page}")
