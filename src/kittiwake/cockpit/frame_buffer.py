"""What a flight that goes on looks like now, and has looked like for a while."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.frame import Frame

TRAIL_S, TRAIL_HZ = 10.0, 10.0
# of one vehicle, for plots
HISTORY_S = 60.0
# of one with more columns, as cameras have, less is kept
MANY = 500


@runtime_checkable
class FrameSource(Protocol):
    """A flight to look at: one that goes on, or a log."""

    def frame(self) -> Frame | None:
        """What there is to see now; None before anything is."""
        ...

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """The time and some columns of a vehicle, over the last seconds."""
        ...


class FrameBuffer:
    """Keeps what a flight posts; who looks gets the newest, and nobody waits for anybody.

    Of all vehicles it keeps where they were, of the ``watched`` ones everything.
    """

    def __init__(self, columns: Mapping[str, Sequence[str]]) -> None:
        self._columns = {name: list(names) for name, names in columns.items()}
        self._lock = threading.Lock()
        self._rows: dict[str, np.ndarray] = {}
        self._trails: dict[str, deque[np.ndarray]] = {}
        self._noted_s = -np.inf
        self._histories: dict[str, deque[np.ndarray]] = {next(iter(columns)): deque()}

    def post(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """A block of a flight; one that is no later than the last one begins anew."""
        with self._lock:
            time_s = float(next(iter(block.values()))[-1, 0])
            if self._rows and time_s <= next(iter(self._rows.values()))[0]:
                self._forget()
            # copies, for a view would keep the whole block
            self._rows = {name: rows[-1].copy() for name, rows in block.items()}
            if time_s - self._noted_s >= 1.0 / TRAIL_HZ - 1e-9:
                self._noted_s = time_s
                for name, row in self._rows.items():
                    length = round(TRAIL_S * TRAIL_HZ)
                    self._trails.setdefault(name, deque(maxlen=length)).append(row[1:4].copy())
            for name, history in self._histories.items():
                history.append(self._rows[name])
                longest_s = HISTORY_S * min(1.0, MANY / len(self._columns[name]))
                while history[0][0] < time_s - longest_s:
                    history.popleft()

    def watch(self, vehicles: Iterable[str]) -> None:
        """Everything of these vehicles is kept from now on, and of no others."""
        with self._lock:
            self._histories = {name: self._histories.get(name, deque()) for name in vehicles}

    def frame(self) -> Frame | None:
        """The newest row of all vehicles, and their trails."""
        with self._lock:
            if not self._rows:
                return None
            time_s = float(next(iter(self._rows.values()))[0])
            trails = {
                name: np.array([*places, self._rows[name][1:4]])
                for name, places in self._trails.items()
            }
            return Frame(time_s, dict(self._rows), trails)

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """The time and some columns of a watched vehicle; nothing of another."""
        names = ["time_s", *columns]
        with self._lock:
            kept = [*self._histories.get(vehicle, ())]
        if not kept:
            return np.empty((0, len(names)))
        places = [self._columns[vehicle].index(name) for name in names]
        since_s = kept[-1][0] - span_s
        return np.array([row[places] for row in kept if row[0] >= since_s])

    def _forget(self) -> None:
        self._trails.clear()
        for history in self._histories.values():
            history.clear()
        self._noted_s = -np.inf
