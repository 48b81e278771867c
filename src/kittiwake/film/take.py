"""What of a flight is filmed, how large and how fast."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from kittiwake.core.errors import LogError, ScenarioError, did_you_mean
from kittiwake.scene.log_playback import LogPlayback

Format = Literal["mp4", "gif"]

FPS: dict[Format, float] = {"mp4": 25.0, "gif": 12.5}
# of film; a GIF of more would be very large
LONGEST_S: dict[Format, float] = {"mp4": 60.0, "gif": 20.0}
SPEEDS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)
WIDTH, LEAST_WIDTH, MOST_WIDTH = 1280, 160, 3840
ASPECT = 16.0 / 9.0
# an hour of film
MOST_PICTURES = 90_000


@dataclass(frozen=True)
class Take:
    """What of a flight is filmed, and how.

    Attributes:
        format: of the file.
        width: in pixels; the height follows.
        speed: of the film; by None what makes it short enough.
        from_s: where it begins in the flight, by None at its start.
        until_s: where it ends.
        follow: the vehicle to look at, by None all of them.
    """

    format: Format = "mp4"
    width: int | None = None
    speed: float | None = None
    from_s: float | None = None
    until_s: float | None = None
    follow: str | None = None

    def __post_init__(self) -> None:
        if self.width is not None and not LEAST_WIDTH <= self.width <= MOST_WIDTH:
            allowed = f"must be from {LEAST_WIDTH} to {MOST_WIDTH} pixels"
            _refuse("--width", float(self.width), allowed)
        if self.speed is not None and not 0.0 < self.speed < inf:
            _refuse("--speed", self.speed, "must be a number above 0")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, both even, as H.264 wants them."""
        width = self.width or (WIDTH if self.format == "mp4" else WIDTH // 2)
        return 2 * round(0.5 * width), 2 * round(0.5 * width / ASPECT)

    def span_s(self, reel: LogPlayback) -> tuple[float, float]:
        """Between which times of a flight it is.

        Raises:
            LogError: if the flight has nothing there.
        """
        begin, end = reel.span_s
        first = begin if self.from_s is None else self.from_s
        last = end if self.until_s is None else min(self.until_s, end)
        if not begin <= first <= last:
            message = (
                f"there is nothing to film from {first:g} to {last:g} s; the flight lasts from "
                f"{begin:g} to {end:g} s"
            )
            raise LogError(message)
        return first, last

    def timing(self, reel: LogPlayback) -> tuple[list[float], float]:
        """The flight's time in each picture, and how fast the film is.

        Raises:
            LogError: if the flight has nothing there, or the film would never end.
        """
        (begin, end), fps = self.span_s(reel), FPS[self.format]
        speed = self.speed
        if speed is None:
            wanted = (end - begin) / LONGEST_S[self.format]
            speed = next((known for known in SPEEDS if known >= wanted), wanted)
        count = (end - begin) / speed * fps
        if count > MOST_PICTURES:
            message = (
                f"a film at {speed:g} times the flight's speed would have {count:.3g} pictures, "
                f"and {MOST_PICTURES} are allowed; raise --speed, or lower --until"
            )
            raise LogError(message)
        # the last picture is not after the end
        return [begin + speed * number / fps for number in range(int(count + 1e-9) + 1)], speed

    def followed(self, reel: LogPlayback) -> str | None:
        """The vehicle to look at.

        Raises:
            LogError: if the log has no such vehicle.
        """
        if self.follow is not None and self.follow not in reel.tracks:
            known = did_you_mean(self.follow, list(reel.tracks))
            message = f"this log has no vehicle '{self.follow}'. {known}"
            raise LogError(message)
        return self.follow


def _refuse(option: str, given: float, allowed: str) -> None:
    message = f"{option} {given:g} is not allowed; {allowed}"
    raise ScenarioError(message)
