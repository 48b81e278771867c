"""Settings of a film: format, size, speed and part of the flight."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from kittiwake.core.errors import LogError, ScenarioError, did_you_mean
from kittiwake.scene.log_playback import LogPlayback

Format = Literal["mp4", "gif"]

FPS: dict[Format, float] = {"mp4": 30.0, "gif": 12.5}
# default maximum length of a film; a longer GIF would be very large
MAX_FILM_S: dict[Format, float] = {"mp4": 60.0, "gif": 20.0}
SPEEDS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)
WIDTH, MIN_WIDTH, MAX_WIDTH = 1280, 160, 3840
ASPECT = 16.0 / 9.0
# an hour of film
MAX_PICTURES = 108_000


@dataclass(frozen=True)
class FilmSettings:
    """Settings of a film.

    Attributes:
        format: file format.
        width: width in pixels; the height follows from ``ASPECT``.
        speed: flight time per film time; None chooses a speed that makes the film short enough.
        from_s: flight time at which the film begins; None for the start.
        until_s: flight time at which the film ends; None for the end.
        follow: vehicle to look at; None for all.
    """

    format: Format = "mp4"
    width: int | None = None
    speed: float | None = None
    from_s: float | None = None
    until_s: float | None = None
    follow: str | None = None

    def __post_init__(self) -> None:
        if self.width is not None and not MIN_WIDTH <= self.width <= MAX_WIDTH:
            allowed = f"must be from {MIN_WIDTH} to {MAX_WIDTH} pixels"
            _refuse("--width", float(self.width), allowed)
        if self.speed is not None and not 0.0 < self.speed < inf:
            _refuse("--speed", self.speed, "must be a number above 0")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels, both even, as H.264 requires."""
        width = self.width or (WIDTH if self.format == "mp4" else WIDTH // 2)
        return 2 * round(0.5 * width), 2 * round(0.5 * width / ASPECT)

    def span_s(self, playback: LogPlayback) -> tuple[float, float]:
        """Return the flight times at which the film begins and ends.

        Raises:
            LogError: if the flight has nothing there.
        """
        begin, end = playback.span_s
        first = begin if self.from_s is None else self.from_s
        last = end if self.until_s is None else min(self.until_s, end)
        if not begin <= first <= last:
            message = (
                f"there is nothing to film from {first:g} to {last:g} s; the flight lasts from "
                f"{begin:g} to {end:g} s"
            )
            raise LogError(message)
        return first, last

    def timing(self, playback: LogPlayback) -> tuple[list[float], float]:
        """Return the flight time of each picture, and the speed of the film.

        Raises:
            LogError: if the flight has nothing there, or the film would be too long.
        """
        (begin, end), fps = self.span_s(playback), FPS[self.format]
        speed = self.speed
        if speed is None:
            least = (end - begin) / MAX_FILM_S[self.format]
            speed = next((known for known in SPEEDS if known >= least), least)
        count = (end - begin) / speed * fps
        if count > MAX_PICTURES:
            message = (
                f"a film at {speed:g} times the flight's speed would have {count:.3g} pictures, "
                f"and {MAX_PICTURES} are allowed; raise --speed, or lower --until"
            )
            raise LogError(message)
        # the last picture is not after the end
        return [begin + speed * number / fps for number in range(int(count + 1e-9) + 1)], speed

    def followed(self, playback: LogPlayback) -> str | None:
        """Return the vehicle to look at; None for all.

        Raises:
            LogError: if the log has no such vehicle.
        """
        if self.follow is not None and self.follow not in playback.tracks:
            known = did_you_mean(self.follow, list(playback.tracks))
            message = f"this log has no vehicle '{self.follow}'. {known}"
            raise LogError(message)
        return self.follow


def _refuse(option: str, given: float, allowed: str) -> None:
    message = f"`{option}`: got {given:g}; {allowed}"
    raise ScenarioError(message)
