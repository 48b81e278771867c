"""Playback of a log in real time."""

import threading
from collections.abc import Sequence
from time import monotonic

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.scene_state import SceneState


class Replay:
    """Source of scene states that plays a log at a chosen speed and stops at its end."""

    def __init__(self, playback: LogPlayback) -> None:
        self.playback, self.events = playback, playback.events
        self.begin_s, self.end_s = playback.span_s
        self._lock = threading.Lock()
        self._speed, self._paused = 1.0, False
        self._start_s, self._start_wall_s = self.begin_s, monotonic()

    @property
    def time_s(self) -> float:
        """Current playback time."""
        with self._lock:
            return self._now_s()

    @time_s.setter
    def time_s(self, time_s: float) -> None:
        with self._lock:
            self._start_s = min(max(time_s, self.begin_s), self.end_s)
            self._start_wall_s = monotonic()

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

    def scene_state(self) -> SceneState:
        """Return the scene state at the current time."""
        return self.playback.scene_state(self.time_s)

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a vehicle over the last seconds."""
        track, now_s = self.playback.tracks[vehicle], self.time_s
        indices = [
            self.playback.flight.columns[vehicle].index(name) for name in ("time_s", *columns)
        ]
        begin, end = np.searchsorted(track.times_s, [now_s - span_s, now_s + 1e-9])
        return track.values[begin : max(int(end), int(begin) + 1)][:, indices]

    def _now_s(self) -> float:
        if self._paused:
            return self._start_s
        elapsed_s = (monotonic() - self._start_wall_s) * self._speed
        return min(self._start_s + elapsed_s, self.end_s)
