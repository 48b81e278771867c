"""Waypoints from a file, as a component's parameter."""

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float


class Route(eqx.Module):
    """Waypoints in the order of their visit, with their source file."""

    source: str = eqx.field(static=True)
    positions_world_m: Float[Array | np.ndarray, "places 3"]
