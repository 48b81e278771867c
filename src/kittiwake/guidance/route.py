"""Places from a file as a component's parameter."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float


class Route(eqx.Module):
    """Places in the order in which they are visited, and the file that they are from."""

    source: str = eqx.field(static=True)
    positions_world_m: Float[Array | np.ndarray, "places 3"]
