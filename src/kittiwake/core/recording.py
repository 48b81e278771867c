"""Recorded file as a component's parameter: times and columns of numbers."""

import numpy as np
from jaxtyping import Array, Float

from kittiwake.pytree import Module, field


class Recording(Module):
    """Recorded rows in order of time; the last row is valid until ``end_s``."""

    columns: tuple[str, ...] = field(static=True)
    source: str = field(static=True)
    end_s: float = field(static=True)
    time_s: Float[Array | np.ndarray, " rows"]
    values: Float[Array | np.ndarray, "rows columns"]
