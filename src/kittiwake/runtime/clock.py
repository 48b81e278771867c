"""Real-time clock of flights and servers: speed, lateness, pause and single steps."""

import threading
from math import inf
from time import monotonic

from kittiwake.core.errors import CommandError
from kittiwake.runtime.deadlines import Deadlines

# a live flight that is later than this does not catch up
LATE_S = 0.25
# longest time of one wait, after which the caller checks whether the flight is to end
MAX_WAIT_S = 0.1


class RealTimeClock:
    """Pacing by the wall clock, which can be paused and stepped.

    ``speed`` 2 is twice real time; infinity is as fast as possible. What is more than ``late_s`` of
    wall time late does not catch up.

    Attributes:
        deadlines: how late the blocks of the present flight began.
    """

    def __init__(self, speed: float = 1.0, late_s: float = LATE_S) -> None:
        self._late_s = late_s
        self._changed = threading.Condition()
        self._speed, self._paused, self._single_steps, self._ended = speed, False, 0, False
        self._reference: tuple[float, float] | None = None
        # simulated time of the last block that was let through
        self._passed_s: float | None = None
        self.deadlines = Deadlines()

    @property
    def speed(self) -> float:
        """Speed as a multiple of real time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not speed > 0.0:
            message = f"`speed`: got {speed}; must be above 0"
            raise CommandError(message)
        with self._changed:
            self._speed, self._reference, self._passed_s = speed, None, None
            self._changed.notify_all()

    @property
    def paused(self) -> bool:
        """True while the flight is paused."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        with self._changed:
            self._paused, self._single_steps = paused, 0
            self._reference = self._passed_s = None
            self._changed.notify_all()

    def step(self) -> None:
        """Let one block through while the flight is paused."""
        with self._changed:
            self._single_steps += self._paused
            self._changed.notify_all()

    def begin(self) -> None:
        """Begin another flight: forget requested steps, but stay paused."""
        with self._changed:
            self._single_steps, self._reference, self._passed_s = 0, None, None
            self.deadlines = Deadlines()

    def end(self) -> None:
        """Let everything through from now on."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def wait(self, time_s: float) -> bool:
        """Return True if a simulated time has come; waits for it, but not for long."""
        with self._changed:
            left_s = self.left_s(time_s)
            if left_s > 0.0:
                self._changed.wait(min(left_s, MAX_WAIT_S))
                left_s = self.left_s(time_s)
            if left_s <= 0.0:
                self._count(time_s, -left_s)
            if left_s <= 0.0 and self._single_steps:
                self._single_steps -= 1
            return left_s <= 0.0

    def _count(self, time_s: float, late_s: float) -> None:
        """Count the deadline of a block that begins now, unless the clock does not pace it."""
        if self._ended or self._paused or self._speed == inf:
            return
        if self._passed_s is not None:
            self.deadlines.add(late_s, (time_s - self._passed_s) / self._speed)
        self._passed_s = time_s

    def left_s(self, time_s: float) -> float:
        """Return the wall time until a simulated time, negative if late; infinity while paused."""
        if self._ended:
            return 0.0
        if self._paused:
            return 0.0 if self._single_steps else inf
        if self._speed == inf:
            return 0.0
        now_s = monotonic()
        left_s = -self.lateness_s(time_s, now_s)
        if self._reference is None or left_s < -self._late_s:
            self._reference = now_s, time_s
        return left_s

    def lateness_s(self, time_s: float, now_s: float | None = None) -> float:
        """Return the wall time since a simulated time was due, which is negative before."""
        now_s = monotonic() if now_s is None else now_s
        wall_s, simulated_s = self._reference or (now_s, time_s)
        return now_s - wall_s - (time_s - simulated_s) / self._speed
