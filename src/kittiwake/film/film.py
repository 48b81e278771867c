"""Films and still pictures of a flight, rendered offscreen from its log.

A film runs in real time. A flight that would last longer than ``MAX_FILM_S`` is shown faster, and
the caption states the speed.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from kittiwake.analysis.log import Log
from kittiwake.core.errors import LogError
from kittiwake.film.camera_path import camera_path
from kittiwake.film.film_file import ffmpeg, write_gif, write_mp4
from kittiwake.film.film_settings import FPS, WIDTH, FilmSettings
from kittiwake.film.flight_renderer import FlightRenderer
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.log_playback import LogPlayback

# number of pictures from which a GIF's palette is computed
SAMPLES = 8

Picture = UInt8[np.ndarray, "height width 3"]


def film(
    log: Log,
    scenario: Scenario,
    path: Path,
    settings: FilmSettings | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> None:
    """Write a film of a flight; ``progress`` gets the number of drawn pictures and of all.

    Raises:
        LogError: if there is nothing of the flight to film.
        MissingExtraError: if a required library is missing.
    """
    settings = settings or FilmSettings()
    if settings.format == "mp4":
        ffmpeg()
    playback = LogPlayback(log, scenario)
    times_s, speed = settings.timing(playback)
    followed = settings.followed(playback)
    renderer = FlightRenderer(playback, log, settings.size, followed, samples=0)
    fps, aspect = FPS[settings.format], settings.size[0] / settings.size[1]
    # a GIF with a static background is small
    drifting = settings.format == "mp4"
    views = camera_path(
        playback,
        renderer.bodies,
        times_s,
        aspect=aspect,
        fps=fps,
        follow=followed,
        drifting=drifting,
    )

    def pictures() -> Iterator[Picture]:
        for number, picture in enumerate(renderer.pictures(times_s, views, speed), 1):
            yield picture
            progress(number, len(times_s))

    if settings.format == "mp4":
        write_mp4(path, pictures(), fps)
        return
    chosen = np.unique(np.linspace(0, len(views) - 1, SAMPLES).round().astype(int))
    samples = [*renderer.pictures([times_s[i] for i in chosen], [views[i] for i in chosen], speed)]
    # drawn again, so that rotors turn in the order of the film
    write_gif(path, samples, pictures(), fps)


def still(
    log: Log,
    scenario: Scenario,
    time_s: float,
    width: int = WIDTH,
    height: int | None = None,
    follow: str | None = None,
) -> Picture:
    """Return a picture of a flight at a time, without caption.

    Raises:
        LogError: if the time is outside the flight.
        MissingExtraError: if a required library is missing.
    """
    playback = LogPlayback(log, scenario)
    begin, end = playback.span_s
    if not begin <= time_s <= end:
        message = f"there is nothing at {time_s:g} s; the flight lasts from {begin:g} to {end:g} s"
        raise LogError(message)
    settings = FilmSettings(width=width, follow=follow)
    followed = settings.followed(playback)
    size = settings.size[0], height or settings.size[1]
    renderer = FlightRenderer(playback, log, size, followed)
    aspect = size[0] / size[1]
    (view,) = camera_path(
        playback, renderer.bodies, [time_s], aspect=aspect, fps=FPS["mp4"], follow=followed
    )
    return renderer.drawn(playback.scene_state(time_s), view)
