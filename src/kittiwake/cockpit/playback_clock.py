"""Clock of a playback: a time in a recorded span that advances at a chosen speed."""

import threading
from collections.abc import Callable
from time import monotonic


class PlaybackClock:
    """Time of a playback, which stops at the end of the span.

    Args:
        span_s: returns the first and the last time, which may grow.
        time_s: time at which it begins; the first one by default.
    """

    def __init__(
        self, span_s: Callable[[], tuple[float, float]], time_s: float | None = None
    ) -> None:
        self._span_s = span_s
        self._lock = threading.Lock()
        self._speed, self._paused = 1.0, False
        self._start_s = span_s()[0] if time_s is None else self._limited(time_s)
        self._start_wall_s = monotonic()

    @property
    def time_s(self) -> float:
        """Current playback time."""
        with self._lock:
            return self._now_s()

    @time_s.setter
    def time_s(self, time_s: float) -> None:
        with self._lock:
            self._start_s, self._start_wall_s = self._limited(time_s), monotonic()

    @property
    def speed(self) -> float:
        """Playback speed relative to real time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        with self._lock:
            self._start_s, self._start_wall_s = self._now_s(), monotonic()
            self._speed = speed

    @property
    def paused(self) -> bool:
        """True while playback is paused."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        with self._lock:
            self._start_s, self._start_wall_s = self._now_s(), monotonic()
            self._paused = paused

    def _now_s(self) -> float:
        if self._paused:
            return self._start_s
        elapsed_s = (monotonic() - self._start_wall_s) * self._speed
        return min(self._start_s + elapsed_s, self._span_s()[1])

    def _limited(self, time_s: float) -> float:
        begin_s, end_s = self._span_s()
        return min(max(time_s, begin_s), end_s)
