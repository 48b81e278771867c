"""Parts of moving bodies: instances of a look, and their poses."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.look import Look


class BodyPart(NamedTuple):
    """Instances of a look, and the vehicle of each instance.

    Platforms of the world have no vehicles.
    """

    name: str
    look: Look
    instances: int
    vehicles: tuple[str, ...]


class Poses(NamedTuple):
    """Poses of the instances of a part in world axes."""

    positions_world_m: Float[np.ndarray, "n 3"]
    q_world_from_part: Float[np.ndarray, "n 4"]
