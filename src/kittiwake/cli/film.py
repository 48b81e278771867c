"""Films and pictures of a run's scene, for ``kittiwake plot``."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from kittiwake.cli.options import warn_of_early_end
from kittiwake.core.errors import LogError, ScenarioError, did_you_mean

if TYPE_CHECKING:
    from kittiwake.analysis.log import Log
    from kittiwake.film.film_settings import FilmSettings
    from kittiwake.scenario.scenario import Scenario

FORMATS = ("mp4", "gif")


class FilmOptions(NamedTuple):
    """Options of a film as given on the command line."""

    format: str | None
    width: str | None
    speed: str | None
    begin: str | None
    until: str | None
    follow: str | None

    def check_without_film(self, *, still: bool) -> None:
        """Raise an error for options of films without --film; a still has some of them, too.

        Raises:
            ScenarioError: if such an option is given.
        """
        only_film = {
            "--format": self.format,
            "--speed": self.speed,
            "--from": self.begin,
            "--until": self.until,
        }
        with_still = {"--width": self.width, "--follow": self.follow}
        for option, value in {**only_film, **({} if still else with_still)}.items():
            pictured = option == "--format" and value not in FORMATS
            if value is not None and not pictured:
                message = f"`{option}`: requires --film"
                raise ScenarioError(message)

    def settings(self) -> "FilmSettings":
        """Return the parsed options.

        Raises:
            ScenarioError: if an option has an invalid value.
        """
        from kittiwake.film.film_settings import FilmSettings

        if self.format not in (None, *FORMATS):
            message = (
                f"`--format`: got {self.format}; unknown. {did_you_mean(self.format, [*FORMATS])}"
            )
            raise ScenarioError(message)
        return FilmSettings(
            "gif" if self.format == "gif" else "mp4",
            None if self.width is None else round(_number("--width", self.width)),
            None if self.speed is None else _number("--speed", self.speed),
            None if self.begin is None else _number("--from", self.begin),
            None if self.until is None else _number("--until", self.until),
            self.follow,
        )


def film_into(folder: Path, options: FilmOptions) -> None:
    """Write the film and print its path."""
    from kittiwake.analysis.run_folder import FILM_GIF, FILM_MP4
    from kittiwake.film.film import film

    settings = options.settings()
    log, scenario = _read(folder)
    path = folder / (FILM_GIF if settings.format == "gif" else FILM_MP4)
    with show_frames() as progress:
        film(log, scenario, path, settings, progress)
    typer.echo(f"The film is {path}")


def still_into(folder: Path, time: str, options: FilmOptions) -> None:
    """Write a picture of the scene and print its path."""
    from PIL import Image

    from kittiwake.analysis.output_file import output_file
    from kittiwake.analysis.run_folder import STILL_FILE
    from kittiwake.film.film import still

    time_s, settings = _number("--still", time), options._replace(format=None).settings()
    log, scenario = _read(folder)
    with show_frames():
        picture = still(log, scenario, time_s, settings.size[0], follow=settings.follow)
    with output_file(folder / STILL_FILE) as unfinished:
        Image.fromarray(picture).save(unfinished)
    typer.echo(f"The picture is {folder / STILL_FILE}")


@contextmanager
def show_frames(
    text: str = "filming {} of {} pictures",
) -> Generator[Callable[[int, int], None]]:
    """Show a progress bar over counted items on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("setting up", total=None)

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description=text.format(done, total))

        yield show


def _read(folder: Path) -> "tuple[Log, Scenario]":
    from kittiwake.analysis.log import SCENARIO_FILE, Log
    from kittiwake.scenario.load import load_recorded

    log = Log.read(folder)
    warn_of_early_end(log.early_end, folder)
    if not (folder / SCENARIO_FILE).is_file():
        message = (
            f"'{folder}' holds no {SCENARIO_FILE}, which describes the scene. Restore the "
            "file that 'kittiwake run' wrote."
        )
        raise LogError(message)
    return log, load_recorded(folder / SCENARIO_FILE)


def _number(option: str, written: str) -> float:
    with suppress(ValueError):
        if isfinite(float(written)):
            return float(written)
    message = f"`{option}`: got {written}; must be a finite number"
    raise ScenarioError(message)
