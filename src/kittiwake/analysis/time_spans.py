"""Spans of a flight's time in which a condition holds."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64


@dataclass(frozen=True)
class TimeSpans:
    """Time in which a condition holds at the rows of a log, each until the next one.

    Attributes:
        share: its share of the logged time.
        total_s: all of it.
        longest_s: the longest span without interruption.
        longest_from_s: the time at which that begins; None without one.
    """

    share: float
    total_s: float
    longest_s: float
    longest_from_s: float | None

    @classmethod
    def of(
        cls, time_s: Float64[np.ndarray, " rows"], holds: Bool[np.ndarray, " rows"]
    ) -> "TimeSpans":
        """Return the spans of a condition that is given for each of at least two rows."""
        if not holds.any():
            return cls(0.0, 0.0, 0.0, None)
        changes = np.flatnonzero(np.diff(holds[:-1].astype(np.int8), prepend=0, append=0))
        begins_s, lengths_s = time_s[changes[::2]], np.diff(time_s[changes])[::2]
        flown_s, total_s = float(time_s[-1] - time_s[0]), float(lengths_s.sum())
        if not len(lengths_s):
            return cls(0.0, 0.0, 0.0, None)
        longest = int(lengths_s.argmax())
        return cls(total_s / flown_s, total_s, float(lengths_s[longest]), float(begins_s[longest]))
