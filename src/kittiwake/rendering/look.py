"""What a body looks like: triangles in a color."""

from typing import NamedTuple

from jaxtyping import Float32, Int32
from numpy import ndarray


class Look(NamedTuple):
    """Triangles in the axes of what they belong to, seen from both sides."""

    vertices_m: Float32[ndarray, "vertices 3"]
    faces: Int32[ndarray, "faces 3"]
    rgb: tuple[int, int, int]
    opacity: float = 1.0
