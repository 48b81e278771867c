"""Topics of a vehicle and their rates."""

from collections.abc import Callable
from math import floor
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64, Int64

from kittiwake.adapters.ros.messages.plain import PlainMessage

Row: TypeAlias = Float64[np.ndarray, " columns"]
# column indices in a row
Columns: TypeAlias = Int64[np.ndarray, " numbers"]
# share of a period that absorbs rounding errors of times
TOLERANCE = 1e-6


class Topic(NamedTuple):
    """Topic of a vehicle.

    Attributes:
        name: relative to the vehicle's namespace.
        type_name: type of its messages.
        message: returns the message of a row and its time in nanoseconds, or None for no message.
    """

    name: str
    type_name: str
    message: Callable[[Row, int], PlainMessage | None]


class RateLimiter:
    """Limit of a topic's rate.

    Args:
        rate_hz: the rate.
        phase: delay of the first message, as a share of a period.
    """

    def __init__(self, rate_hz: float, phase: float = 0.0) -> None:
        self._rate_hz, self._offset = rate_hz, TOLERANCE - phase
        self._period = -1

    def due(self, time_s: float) -> bool:
        """Return True if a new period has begun since the last call."""
        period = floor(time_s * self._rate_hz + self._offset)
        if period == self._period:
            return False
        self._period = period
        return True
