"""Convex solids for contact engines and renderers, of plain numbers."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

SolidShape = Literal["plane", "box", "sphere", "cylinder", "capsule", "hull"]

Points = Float[np.ndarray, "points 3"]
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
# thickness of a surface, so that no body passes through it within a step
THICKNESS_M = 0.02
# edges and areas below this length, and its square, count as zero
LEAST_M = 1e-9


@dataclass(frozen=True)
class Solid:
    """Convex solid, in the axes of its body or of the world.

    Attributes:
        shape: the type of shape; a plane fills the half-space below its own z = 0.
        sizes_m: half the sides of a box, the radius of a sphere, radius and half length along z of
            a cylinder or capsule; empty for other shapes.
        position_m: the position of the center.
        attitude: the attitude as a quaternion (w, x, y, z).
        corners_m: the corners of a hull; None for other shapes.
    """

    shape: SolidShape
    sizes_m: tuple[float, ...] = ()
    position_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    attitude: tuple[float, float, float, float] = UPRIGHT
    corners_m: Points | None = None

    @classmethod
    def at(
        cls, shape: SolidShape, sizes_m: tuple[Real, ...], position_m: Vec3, attitude: Quaternion
    ) -> "Solid":
        """Return a solid from numbers of any type."""
        q = attitude
        return cls(
            shape,
            tuple(float(size) for size in sizes_m),
            (float(position_m.x), float(position_m.y), float(position_m.z)),
            (float(q.w), float(q.x), float(q.y), float(q.z)),
        )


def strips(one_m: Points, other_m: Points) -> tuple[Solid, ...]:
    """Return the surface between two polylines of equal length as flat plates."""
    quads = np.stack([one_m[:-1], one_m[1:], other_m[1:], other_m[:-1]], axis=1)
    return tuple(solid for quad in quads if (solid := sheet(quad)) is not None)


def sheet(corners_m: Points) -> Solid | None:
    """Return a flat plate with the given corners, thickened to both sides; None without area."""
    edges = corners_m[1:] - corners_m[0]
    crosses = np.cross(edges[:-1], edges[1:])
    normal = crosses.sum(axis=0)
    area = float(np.linalg.norm(normal))
    if area < LEAST_M**2:
        return None
    aside = normal / area * (0.5 * THICKNESS_M)
    return Solid("hull", corners_m=np.concatenate([corners_m - aside, corners_m + aside]))
