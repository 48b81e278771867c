"""When a live flight goes on."""

import threading
from math import inf
from time import monotonic

from kittiwake.core.errors import CommandError

# a flight that is later than this does not try to catch up
LATE_S = 0.25
# whoever waits for it looks around after so long
MOMENT_S = 0.1


class RealTimeClock:
    """Keeps a flight to the clock on the wall, at a speed, unless it is paused.

    ``speed`` 2 is twice as fast; infinity as fast as it goes.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._turned = threading.Condition()
        self._speed, self._paused, self._single, self._ended = speed, False, 0, False
        self._from: tuple[float, float] | None = None

    @property
    def speed(self) -> float:
        """Times real time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not speed > 0.0:
            message = f"a speed of {speed} is not allowed; must be above 0"
            raise CommandError(message)
        with self._turned:
            self._speed, self._from = speed, None
            self._turned.notify_all()

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        with self._turned:
            self._paused, self._single, self._from = paused, 0, None
            self._turned.notify_all()

    def step(self) -> None:
        """Lets one block through while it is paused."""
        with self._turned:
            self._single += self._paused
            self._turned.notify_all()

    def begin(self) -> None:
        """Of another flight, of which no steps have been asked; a pause stays."""
        with self._turned:
            self._single, self._from = 0, None

    def end(self) -> None:
        """Lets everything through from now on."""
        with self._turned:
            self._ended = True
            self._turned.notify_all()

    def wait(self, time_s: float) -> bool:
        """Whether a simulated time has come; waits for it, but not for long."""
        with self._turned:
            left_s = self._left_s(time_s)
            if left_s > 0.0:
                self._turned.wait(min(left_s, MOMENT_S))
                left_s = self._left_s(time_s)
            if left_s <= 0.0 and self._single:
                self._single -= 1
            return left_s <= 0.0

    def _left_s(self, time_s: float) -> float:
        """How long it is to a simulated time."""
        if self._ended:
            return 0.0
        if self._paused:
            return 0.0 if self._single else inf
        if self._speed == inf:
            return 0.0
        now_s = monotonic()
        begun_s, simulated_s = self._from or (now_s, time_s)
        left_s = begun_s + (time_s - simulated_s) / self._speed - now_s
        if self._from is None or left_s < -LATE_S:
            self._from = now_s, time_s
        return left_s
