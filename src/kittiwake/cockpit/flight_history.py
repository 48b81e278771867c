"""Past rows of a live flight, in bounded memory.

Rows of all vehicles are kept in single precision at up to ``HISTORY_HZ``. When they exceed the
memory limit, every second one is removed and the rate is halved, so that the whole flight is kept.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Float64

from kittiwake.scene.interpolated_rows import PoseColumns, interpolated_row
from kittiwake.scene.scene_state import EqualTrails, SceneState

MAX_BYTES = 64 * 2**20
HISTORY_HZ = 30.0
TRAIL_S, TRAIL_HZ = 10.0, 10.0
# memory of a frame besides its values
FRAME_BYTES = 400
# first columns of every row
POSITION = slice(1, 4)
# tolerance of times that were rounded
TICK_S = 1e-9


class _Frame(NamedTuple):
    """Rows of all vehicles at a time, one after another, and the place of each."""

    places: Mapping[str, slice]
    values: Float32[np.ndarray, " values"]


class FlightHistory:
    """Rows of all vehicles over the whole flight."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self.clear()

    def clear(self) -> None:
        """Forget all rows, as for another flight."""
        self._times_s: list[float] = []
        self._frames: list[_Frame] = []
        self._interval_s, self._bytes = 1.0 / HISTORY_HZ, 0

    @property
    def span_s(self) -> tuple[float, float]:
        """First and last time; both 0 without rows."""
        return (self._times_s[0], self._times_s[-1]) if self._times_s else (0.0, 0.0)

    def add(self, time_s: float, rows: Mapping[str, Float64[np.ndarray, " _columns"]]) -> None:
        """Add the rows of a later time, unless it follows the last one too soon."""
        if self._times_s and time_s < self._times_s[-1] + self._interval_s - TICK_S:
            return
        places = self._frames[-1].places if self._frames else {}
        if [(name, place.stop - place.start) for name, place in places.items()] != [
            (name, len(row)) for name, row in rows.items()
        ]:
            places = _places(rows)
        values = np.concatenate([*rows.values()]).astype(np.float32)
        self._times_s.append(time_s)
        self._frames.append(_Frame(places, values))
        self._bytes += values.nbytes + FRAME_BYTES
        if self._bytes > self._max_bytes:
            self._thin()

    def scene_state(self, time_s: float, poses: Mapping[str, Sequence[PoseColumns]]) -> SceneState:
        """Return the scene state at a time.

        Args:
            time_s: the time.
            poses: columns of the poses to interpolate, by vehicle.
        """
        index = max(bisect_right(self._times_s, time_s) - 1, 0)
        frame = self._frames[index]
        following = self._frames[min(index + 1, len(self._frames) - 1)]
        begin_s, end_s = self._times_s[index], self._times_s[min(index + 1, len(self._times_s) - 1)]
        share = (
            0.0 if end_s <= begin_s else min(max(0.0, time_s - begin_s) / (end_s - begin_s), 1.0)
        )
        rows = {}
        for name, place in frame.places.items():
            row = frame.values[place].astype(float)
            if name in following.places and share > 0.0:
                later = following.values[following.places[name]].astype(float)
                row = interpolated_row(row, later, share, poses[name])
            row[0] = time_s
            rows[name] = row
        return SceneState(time_s, rows, self._trails(index, rows))

    def history(
        self,
        vehicle: str,
        indices: Sequence[int],
        begin_s: float,
        end_s: float,
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a vehicle between two times."""
        first = bisect_left(self._times_s, begin_s)
        last = bisect_right(self._times_s, end_s + TICK_S)
        rows = [
            (time_s, *frame.values[frame.places[vehicle]][list(indices)])
            for time_s, frame in zip(
                self._times_s[first:last], self._frames[first:last], strict=True
            )
            if vehicle in frame.places
        ]
        return np.array(rows, float).reshape(-1, 1 + len(indices))

    def _trails(
        self, index: int, rows: Mapping[str, Float64[np.ndarray, " _columns"]]
    ) -> EqualTrails:
        """Return the positions before a frame; none from before vehicles came or went."""
        places = self._frames[index].places
        first = bisect_left(self._times_s, self._times_s[index] - TRAIL_S)
        step = max(1, round(1.0 / (TRAIL_HZ * self._interval_s)))
        frames = [one for one in self._frames[first : index + 1 : step] if one.places is places]
        starts = np.array([place.start for place in places.values()])
        components = starts[:, None] + np.arange(POSITION.start, POSITION.stop)
        points = [frame.values[components].astype(float) for frame in frames]
        points.append(np.array([rows[name][POSITION] for name in places]))
        return EqualTrails({name: number for number, name in enumerate(places)}, points)

    def _thin(self) -> None:
        self._interval_s *= 2.0
        self._times_s, self._frames = self._times_s[::2], self._frames[::2]
        self._bytes = sum(frame.values.nbytes + FRAME_BYTES for frame in self._frames)


def _places(rows: Mapping[str, Float64[np.ndarray, " _columns"]]) -> dict[str, slice]:
    ends = np.cumsum([len(row) for row in rows.values()]).tolist()
    return {
        name: slice(end - len(row), end)
        for (name, row), end in zip(rows.items(), ends, strict=True)
    }
