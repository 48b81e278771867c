"""Buffer of the rows of a live flight."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.cockpit.flight_history import TRAIL_HZ, TRAIL_S, FlightHistory
from kittiwake.scene.interpolated_rows import pose_columns
from kittiwake.scene.scene_state import EqualTrails, SceneState

# time span of the rows kept for plots
HISTORY_S = 60.0
# vehicles with more columns, for example cameras, keep proportionally less
MAX_COLUMNS = 500


@runtime_checkable
class FrameSource(Protocol):
    """Source of scene states: a live flight or a log."""

    def scene_state(self) -> SceneState | None:
        """Return the current scene state; None before the first one."""
        ...

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a vehicle over the last seconds."""
        ...


class FrameBuffer:
    """Latest scene state, trails and column histories of a live flight, without blocking it.

    Rows of all vehicles are kept over the whole flight at a lower rate, all rows of the last minute
    only for the selected ones.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[str]],
        initial: Mapping[str, Float64[np.ndarray, "_rows _columns"]] = MappingProxyType({}),
    ) -> None:
        """Create the buffer; the ``initial`` rows are shown until the first block."""
        self._columns = {name: list(names) for name, names in columns.items()}
        self._poses = {name: pose_columns(names) for name, names in columns.items()}
        self._lock = threading.Lock()
        self._rows: dict[str, np.ndarray] = {name: rows[-1] for name, rows in initial.items()}
        # positions of all vehicles at TRAIL_HZ, and at the newest time
        self._trail: deque[np.ndarray] = deque(maxlen=round(TRAIL_S * TRAIL_HZ))
        self._newest_world_m = np.empty((0, 3))
        self._indices: dict[str, int] = {}
        self._last_trail_s = -np.inf
        self._histories: dict[str, deque[np.ndarray]] = {next(iter(columns)): deque()}
        self._past = FlightHistory()

    def post(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Append a block of rows; an earlier time than the last one clears the buffer."""
        with self._lock:
            time_s = float(next(iter(block.values()))[-1, 0])
            if self._rows and time_s <= next(iter(self._rows.values()))[0]:
                self._clear()
            # copies: a view would keep the whole block in memory
            self._rows = {name: rows[-1].copy() for name, rows in block.items()}
            self._past.add(time_s, self._rows)
            self._add_to_trail(time_s)
            for name, history in self._histories.items():
                if name not in block:
                    continue  # the vehicle has been removed
                history.append(self._rows[name])
                span_s = HISTORY_S * min(1.0, MAX_COLUMNS / len(self._columns[name]))
                while history[0][0] < time_s - span_s:
                    history.popleft()

    def add_columns(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Know the columns of vehicles that have been added, so that they can be selected."""
        with self._lock:
            self._columns |= {name: list(names) for name, names in columns.items()}
            self._poses |= {name: pose_columns(names) for name, names in columns.items()}

    def select_vehicles(self, vehicles: Iterable[str]) -> None:
        """Keep complete rows of these vehicles from now on, and of no others."""
        with self._lock:
            self._histories = {name: self._histories.get(name, deque()) for name in vehicles}

    def scene_state(self) -> SceneState | None:
        """Return the newest row and the trail of each vehicle."""
        with self._lock:
            if not self._rows:
                return None
            time_s = float(next(iter(self._rows.values()))[0])
            points = [*self._trail, self._newest_world_m] if self._trail else []
            return SceneState(time_s, dict(self._rows), EqualTrails(self._indices, points))

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a selected vehicle; no rows for others."""
        names = ["time_s", *columns]
        with self._lock:
            rows = [*self._histories.get(vehicle, ())]
        if not rows:
            return np.empty((0, len(names)))
        indices = [self._columns[vehicle].index(name) for name in names]
        start_s = rows[-1][0] - span_s
        return np.array([row[indices] for row in rows if row[0] >= start_s])

    @property
    def span_s(self) -> tuple[float, float]:
        """First and newest time of the flight; both 0 before it."""
        with self._lock:
            return self._past.span_s

    def past_scene_state(self, time_s: float) -> SceneState:
        """Return the scene state at a time of the span."""
        with self._lock:
            return self._past.scene_state(time_s, self._poses)

    def past_history(
        self, vehicle: str, columns: Sequence[str], begin_s: float, end_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a vehicle between two times of the span."""
        with self._lock:
            indices = [self._columns[vehicle].index(name) for name in columns]
            return self._past.history(vehicle, indices, begin_s, end_s)

    def _add_to_trail(self, time_s: float) -> None:
        """Add positions; trails begin again where vehicles came or went."""
        if self._indices.keys() != self._rows.keys():
            self._indices = {name: index for index, name in enumerate(self._rows)}
            self._trail.clear()
        self._newest_world_m = np.concatenate([row[1:4] for row in self._rows.values()])
        self._newest_world_m = self._newest_world_m.reshape(-1, 3)
        if not self._trail or time_s - self._last_trail_s >= 1.0 / TRAIL_HZ - 1e-9:
            self._last_trail_s = time_s
            self._trail.append(self._newest_world_m)

    def _clear(self) -> None:
        self._trail.clear()
        self._past.clear()
        for history in self._histories.values():
            history.clear()
        self._last_trail_s = -np.inf
