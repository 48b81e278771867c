"""A topic of a vehicle, and what is said on it."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64, Int64

from kittiwake.adapters.ros.plain import PlainMessage

Row: TypeAlias = Float64[np.ndarray, " columns"]
# where in a row some numbers stand
Columns: TypeAlias = Int64[np.ndarray, " numbers"]


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
