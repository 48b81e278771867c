"""A topic of a vehicle: what is said on it, and how often."""

from collections.abc import Callable
from math import floor
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64, Int64

from kittiwake.adapters.ros.messages.plain import PlainMessage

Row: TypeAlias = Float64[np.ndarray, " columns"]
# where in a row some numbers stand
Columns: TypeAlias = Int64[np.ndarray, " numbers"]
# for rounding, so that a moment that is due is not missed
SLACK = 1e-6


class Topic(NamedTuple):
    """Something that a vehicle tells.

    Attributes:
        name: relative to its namespace.
        kind: of its messages.
        message: of a row and its time in nanoseconds; None where there is nothing to tell.
    """

    name: str
    kind: str
    message: Callable[[Row, int], PlainMessage | None]


class Rhythm:
    """So often, from a share of the first period on."""

    def __init__(self, rate_hz: float, share: float = 0.0) -> None:
        self._rate_hz, self._late = rate_hz, SLACK - share
        self._period = -1

    def due(self, time_s: float) -> bool:
        """Whether a new period has begun since it was asked last."""
        period = floor(time_s * self._rate_hz + self._late)
        if period == self._period:
            return False
        self._period = period
        return True
