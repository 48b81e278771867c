"""Triangle mesh in one color."""

from typing import NamedTuple

from jaxtyping import Float32, Int32
from numpy import ndarray


class ColoredMesh(NamedTuple):
    """Triangle mesh in body axes, with color and opacity; both sides are visible."""

    vertices_m: Float32[ndarray, "vertices 3"]
    faces: Int32[ndarray, "faces 3"]
    rgb: tuple[int, int, int]
    opacity: float = 1.0
