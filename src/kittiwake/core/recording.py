"""A recorded file as a component's parameter: times with columns of numbers."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float


class Recording(eqx.Module):
    """Rows in order of time; ``end_s`` is when the last row's values stop to hold."""

    columns: tuple[str, ...] = eqx.field(static=True)
    source: str = eqx.field(static=True)
    end_s: float = eqx.field(static=True)
    time_s: Float[Array | np.ndarray, " rows"]
    values: Float[Array | np.ndarray, "rows columns"]
