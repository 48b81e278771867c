"""Which steps of a flight are kept in its log."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64, Int64


@dataclass
class Thinning:
    """Thins the rows of one vehicle, block by block.

    Whether a sensor's sample is new is asked of each step, and told of the steps since the row
    before: between two rows that are kept no sample passes unseen.

    Attributes:
        every: a row is kept of each so many steps.
        rate_hz: of the steps.
        columns: what the rows hold, time first.
    """

    every: int
    rate_hz: float
    columns: tuple[str, ...]
    # by sensor, how many samples have come since the last row that was kept
    _waiting: Int64[np.ndarray, " sensors"] = field(init=False)

    def __post_init__(self) -> None:
        self._fresh = [
            place
            for place, name in enumerate(self.columns)
            if name.startswith("sensor.") and name.endswith(".fresh")
        ]
        self._waiting = np.zeros(len(self._fresh), np.int64)

    def thinned(
        self, rows: Float64[np.ndarray, "_rows _columns"], told_s: set[float], *, ended: bool
    ) -> Float64[np.ndarray, "_kept _columns"]:
        """The rows that are kept: at each so many steps, at these times, and where it ended."""
        if self.every == 1:
            return rows
        ticks = np.rint(rows[:, 0] * self.rate_hz).astype(np.int64)
        kept = (ticks % self.every == 0) | np.isin(rows[:, 0], list(told_s))
        kept[-1] |= ended
        thinned = rows[kept]
        thinned[:, self._fresh] = self._new_in(rows[:, self._fresh] > 0.0, kept)
        return thinned

    def _new_in(
        self, fresh: Bool[np.ndarray, "_rows sensors"], kept: Bool[np.ndarray, " _rows"]
    ) -> Bool[np.ndarray, "_kept sensors"]:
        """Whether a sample has come since the row before, of the rows that are kept."""
        came = self._waiting + np.cumsum(fresh, axis=0)
        told = np.concatenate([np.zeros_like(came[:1]), came[kept]])
        self._waiting = came[-1] - told[-1]
        return np.diff(told, axis=0) > 0
