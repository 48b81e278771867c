"""A log as something to look at, at any time of it."""

import threading
from collections.abc import Sequence
from time import monotonic

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.viewer.board import TRAIL_HZ, TRAIL_S
from kittiwake.viewer.frame import Frame


class Replay:
    """Plays a log from its beginning, at a speed, and stops at its end."""

    def __init__(self, log: Log) -> None:
        self._tables = {name: table for name, table in log.tables.items() if len(table.values)}
        self.events = log.events
        times = [table.values[:, 0] for table in self._tables.values()]
        self.begin_s = min(float(column[0]) for column in times)
        self.end_s = max(float(column[-1]) for column in times)
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
        return self.frame_at(self.time_s)

    def frame_at(self, time_s: float) -> Frame:
        """The last row of each vehicle up to a time, or its first one, and its way until there."""
        rows: dict[str, np.ndarray] = {}
        trails: dict[str, np.ndarray] = {}
        for name, table in self._tables.items():
            times = table.values[:, 0]
            place = max(int(np.searchsorted(times, time_s + 1e-9, "right")) - 1, 0)
            rows[name] = table.values[place]
            marks = np.arange(max(time_s - TRAIL_S, times[0]), time_s, 1.0 / TRAIL_HZ)
            before = np.clip(np.searchsorted(times, marks), 0, place)
            trails[name] = table.values[[*before, place], 1:4]
        return Frame(time_s, rows, trails)

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """The time and some columns of a vehicle, over the last seconds."""
        table = self._tables[vehicle]
        now_s, times = self.time_s, table.values[:, 0]
        begin, end = np.searchsorted(times, [now_s - span_s, now_s + 1e-9])
        places = [table.columns.index(name) for name in ("time_s", *columns)]
        return table.values[begin : max(int(end), int(begin) + 1)][:, places]

    def _now_s(self) -> float:
        if self._paused:
            return self._from_s
        passed_s = (monotonic() - self._since_s) * self._speed
        return min(self._from_s + passed_s, self.end_s)
