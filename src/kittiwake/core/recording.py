"""Recorded file as a component's parameter: times and columns of numbers."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float


class Recording(eqx.Module):
    """Recorded rows in order of time; the last row is valid until ``end_s``."""

    columns: tuple[str, ...] = eqx.field(static=True)
    source: str = eqx.field(static=True)
    end_s: float = eqx.field(static=True)
    time_s: Float[Array | np.ndarray, " rows"]
    values: Float[Array | np.ndarray, "rows columns"]
