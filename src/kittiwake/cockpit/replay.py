"""A log that is played."""

import threading
from collections.abc import Sequence
from time import monotonic

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.frame import Frame
from kittiwake.scene.log_playback import LogPlayback


class Replay:
    """Plays a reel from its beginning, at a speed, and stops at its end."""

    def __init__(self, reel: LogPlayback) -> None:
        self.reel, self.events = reel, reel.events
        self.begin_s, self.end_s = reel.span_s
        self._lock = threading.Lock()
        self._speed, self._paused = 1.0, False
        self._from_s, self._since_s = self.begin_s, monotonic()

    @property
    def time_s(self) -> float:
        """How far it has come."""
        with self._lock:
            return self._now_s()

    @time_s.setter
    def time_s(self, time_s: float) -> None:
        with self._lock:
            self._from_s = min(max(time_s, self.begin_s), self.end_s)
            self._since_s = monotonic()

    @property
    def speed(self) -> float:
        """Times real time."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        with self._lock:
            self._from_s, self._since_s = self._now_s(), monotonic()
            self._speed = speed

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        with self._lock:
            self._from_s, self._since_s = self._now_s(), monotonic()
            self._paused = paused

    def frame(self) -> Frame:
        """What the log says of this time."""
        return self.reel.frame(self.time_s)

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """The time and some columns of a vehicle, over the last seconds."""
        track, now_s = self.reel.tracks[vehicle], self.time_s
        places = [self.reel.show.columns[vehicle].index(name) for name in ("time_s", *columns)]
        begin, end = np.searchsorted(track.times_s, [now_s - span_s, now_s + 1e-9])
        return track.values[begin : max(int(end), int(begin) + 1)][:, places]

    def _now_s(self) -> float:
        if self._paused:
            return self._from_s
        passed_s = (monotonic() - self._since_s) * self._speed
        return min(self._from_s + passed_s, self.end_s)
