"""Thinning of a flight's rows for its log."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64, Int64


@dataclass
class Thinning:
    """Thinning of one vehicle's rows, block by block.

    A sensor's flag ``fresh`` in a kept row is 1 if any step since the previous kept row had a new
    sample, so that no sample is missed.

    Attributes:
        every: number of steps per kept row.
        rate_hz: rate of the steps.
        columns: names of the columns, time first.
    """

    every: int
    rate_hz: float
    columns: tuple[str, ...]
    # by sensor, the number of samples since the last kept row
    _pending: Int64[np.ndarray, " sensors"] = field(init=False)

    def __post_init__(self) -> None:
        self._fresh = [
            index
            for index, name in enumerate(self.columns)
            if name.startswith("sensor.") and name.endswith(".fresh")
        ]
        self._pending = np.zeros(len(self._fresh), np.int64)

    def thinned(
        self, rows: Float64[np.ndarray, "_rows _columns"], events_s: set[float], *, ended: bool
    ) -> Float64[np.ndarray, "_kept _columns"]:
        """Return the kept rows: every so many steps, at events, and at the end of the flight."""
        if self.every == 1:
            return rows
        ticks = np.rint(rows[:, 0] * self.rate_hz).astype(np.int64)
        kept = ticks % self.every == 0
        if events_s:
            kept |= np.isin(rows[:, 0], list(events_s))
        kept[-1] |= ended
        thinned = rows[kept]
        if self._fresh:
            thinned[:, self._fresh] = self._fresh_since_kept(rows[:, self._fresh] > 0.0, kept)
        return thinned

    def memory(self) -> list[int]:
        """Return the numbers of samples since the last kept row as plain data."""
        return self._pending.tolist()

    def restore(self, memory: Sequence[int]) -> None:
        """Continue with the memory of another thinning of the same rows."""
        self._pending = np.array(memory, np.int64)

    def _fresh_since_kept(
        self, fresh: Bool[np.ndarray, "_rows sensors"], kept: Bool[np.ndarray, " _rows"]
    ) -> Bool[np.ndarray, "_kept sensors"]:
        """Return for each kept row True if a sample has come since the previous one."""
        counts = self._pending + np.cumsum(fresh, axis=0)
        at_rows = np.concatenate([np.zeros_like(counts[:1]), counts[kept]])
        self._pending = counts[-1] - at_rows[-1]
        return np.diff(at_rows, axis=0) > 0
