"""Parts of moving bodies: instances of a mesh, and their poses."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.colored_mesh import ColoredMesh


class BodyPart(NamedTuple):
    """Instances of a mesh, and the vehicle of each instance.

    Platforms of the world have no vehicles.
    """

    name: str
    mesh: ColoredMesh
    instances: int
    vehicles: tuple[str, ...]


class Poses(NamedTuple):
    """Poses of the instances of a part in world axes."""

    positions_world_m: Float[np.ndarray, "n 3"]
    q_world_from_part: Float[np.ndarray, "n 4"]
