"""Films and pictures of a flight, made without a screen from its log.

A film is in real time; a flight that would last longer than ``LONGEST_S`` is shown faster, and the
picture says how much.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import UInt8

from kittiwake.analysis.log import Log
from kittiwake.core.errors import LogError
from kittiwake.film.camera_path import camera_path
from kittiwake.film.film_file import ffmpeg, write_gif, write_mp4
from kittiwake.film.location import Location
from kittiwake.film.take import FPS, WIDTH, Take
from kittiwake.scenario.scenario import Scenario
from kittiwake.scene.log_playback import LogPlayback

# of a GIF, so many pictures give the colors
SAMPLES = 8

Picture = UInt8[np.ndarray, "height width 3"]


def film(
    log: Log,
    scenario: Scenario,
    path: Path,
    take: Take | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> None:
    """Writes a film of a flight; ``progress`` is told how many pictures of all are drawn.

    Raises:
        LogError: if there is nothing of the flight to film.
        MissingExtraError: without the libraries that it takes.
    """
    take = take or Take()
    if take.format == "mp4":
        ffmpeg()
    reel = LogPlayback(log, scenario)
    times_s, speed = take.timing(reel)
    followed = take.followed(reel)
    location = Location(reel, log, take.size)
    fps, aspect = FPS[take.format], take.size[0] / take.size[1]
    # where all else stands still, a GIF is small
    drifting = take.format == "mp4"
    shot = (reel, location.cast, times_s)
    views = camera_path(*shot, aspect=aspect, fps=fps, follow=followed, drifting=drifting)

    def pictures() -> Iterator[Picture]:
        for number, (time_s, view) in enumerate(zip(times_s, views, strict=True)):
            yield location.picture(time_s, view, speed)
            progress(number + 1, len(times_s))

    if take.format == "mp4":
        write_mp4(path, pictures(), fps)
        return
    chosen = np.unique(np.linspace(0, len(views) - 1, SAMPLES).round().astype(int))
    samples = [location.picture(times_s[i], views[i], speed) for i in chosen]
    # drawn anew: rotors go on from where they were
    write_gif(path, samples, pictures(), fps)


def still(
    log: Log,
    scenario: Scenario,
    time_s: float,
    width: int = WIDTH,
    height: int | None = None,
    follow: str | None = None,
) -> Picture:
    """A picture of a flight at a time, without words.

    Raises:
        LogError: if the flight has no such time.
        MissingExtraError: without the libraries that it takes.
    """
    reel = LogPlayback(log, scenario)
    begin, end = reel.span_s
    if not begin <= time_s <= end:
        message = f"there is nothing at {time_s:g} s; the flight lasts from {begin:g} to {end:g} s"
        raise LogError(message)
    take = Take(width=width, follow=follow)
    followed = take.followed(reel)
    size = take.size[0], height or take.size[1]
    location = Location(reel, log, size)
    shot = (reel, location.cast, [time_s])
    (view,) = camera_path(*shot, aspect=size[0] / size[1], fps=FPS["mp4"], follow=followed)
    return location.drawn(reel.frame(time_s), view)
