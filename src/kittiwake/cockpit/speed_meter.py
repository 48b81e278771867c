"""Measured speed of a flight: simulated time per wall time over the last seconds."""

from collections import deque

SPAN_S = 2.0
# shorter spans depend on the length of a block
LEAST_SPAN_S = 0.5


class SpeedMeter:
    """Ratio of simulated to wall time over the last ``SPAN_S`` of wall time."""

    def __init__(self) -> None:
        self._times: deque[tuple[float, float]] = deque()

    def add(self, simulated_s: float, wall_s: float) -> None:
        """Add a pair of times; an earlier simulated time begins another flight."""
        if self._times and simulated_s < self._times[-1][0]:
            self.clear()
        self._times.append((simulated_s, wall_s))
        while len(self._times) > 2 and self._times[1][1] <= wall_s - SPAN_S:
            self._times.popleft()

    def clear(self) -> None:
        """Forget all times, as after a pause or another asked speed."""
        self._times.clear()

    @property
    def factor(self) -> float | None:
        """Measured ratio; None before it is known."""
        if not self._times:
            return None
        simulated_s = self._times[-1][0] - self._times[0][0]
        wall_s = self._times[-1][1] - self._times[0][1]
        return simulated_s / wall_s if wall_s >= LEAST_SPAN_S else None
