"""What the cast consists of: equal looks, and where they are."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.look import Look


class CastPart(NamedTuple):
    """Equal looks: how many there are, and of each the vehicle to which it belongs.

    Platforms of the world belong to none.
    """

    name: str
    look: Look
    instances: int
    vehicles: tuple[str, ...]


class Poses(NamedTuple):
    """Where the instances of a part are."""

    positions_world_m: Float[np.ndarray, "n 3"]
    q_world_from_part: Float[np.ndarray, "n 4"]
