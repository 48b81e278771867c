"""Waypoints from a file, as a component's parameter."""

import numpy as np
from jaxtyping import Array, Float

from kittiwake.pytree import Module, field


class Route(Module):
    """Waypoints in the order of their visit, with their source file."""

    source: str = field(static=True)
    positions_world_m: Float[Array | np.ndarray, "places 3"]
