"""Deadlines of a flight in real time: how late its blocks began, and how many missed theirs."""

from collections import Counter
from dataclasses import dataclass, field
from math import ceil

# resolution of the lateness, so that a long flight has few different ones
RESOLUTION_S = 1e-5


@dataclass
class Deadlines:
    """Lateness of what a clock lets through.

    What begins later than the end of its own period has missed its deadline.

    Attributes:
        missed: number of missed deadlines.
    """

    missed: int = 0
    _lateness: Counter[int] = field(default_factory=Counter[int])

    @property
    def count(self) -> int:
        """Number of deadlines."""
        return self._lateness.total()

    def add(self, late_s: float, period_s: float) -> None:
        """Count what began so much wall time after it was due, with its period of wall time."""
        self.missed += late_s > period_s
        self._lateness[round(max(late_s, 0.0) / RESOLUTION_S)] += 1

    def percentile_s(self, share: float) -> float | None:
        """Return the lateness that a share of all do not exceed; None without any."""
        left = ceil(share * self.count)
        for late in sorted(self._lateness):
            left -= self._lateness[late]
            if left <= 0:
                return late * RESOLUTION_S
        return None

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the numbers of a summary."""
        jitter_s = self.percentile_s(0.99)
        return {
            "deadlines": self.count,
            "missed_deadlines": self.missed,
            "jitter_p99_ms": None if jitter_s is None else round(1e3 * jitter_s, 2),
        }
