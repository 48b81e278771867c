"""Solids as a physics engine takes them: convex, of plain numbers, before anything is compiled."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

Kind = Literal["plane", "box", "sphere", "cylinder", "capsule", "hull"]

Points = Float[np.ndarray, "points 3"]
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
# of a surface that has none itself, so that nothing falls through between two steps
THICKNESS_M = 0.02
# smaller edges and areas are none
LEAST_M = 1e-9


@dataclass(frozen=True)
class Solid:
    """A convex solid in the axes of what it belongs to.

    Attributes:
        kind: a plane fills all below its own z = 0.
        sizes_m: of a box half its sides, of a sphere its radius, of a cylinder or capsule its
            radius and half its length along z; nothing for others.
        place_m: of its center.
        attitude: as a quaternion (w, x, y, z).
        corners_m: of a hull, in the axes of what it belongs to.
    """

    kind: Kind
    sizes_m: tuple[float, ...] = ()
    place_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    attitude: tuple[float, float, float, float] = UPRIGHT
    corners_m: Points | None = None

    @classmethod
    def at(
        cls, kind: Kind, sizes_m: tuple[Any, ...], place_m: Vec3, attitude: Quaternion
    ) -> "Solid":
        """From numbers of any type."""
        q = attitude
        return cls(
            kind,
            tuple(float(size) for size in sizes_m),
            (float(place_m.x), float(place_m.y), float(place_m.z)),
            (float(q.w), float(q.x), float(q.y), float(q.z)),
        )


def strips(one_m: Points, other_m: Points) -> tuple[Solid, ...]:
    """The surface between two lines of equally many points, a flat piece after the other."""
    quads = np.stack([one_m[:-1], one_m[1:], other_m[1:], other_m[:-1]], axis=1)
    return tuple(solid for quad in quads if (solid := sheet(quad)) is not None)


def sheet(corners_m: Points) -> Solid | None:
    """A flat piece of a surface as thick as needed, to both sides; None if it has no area."""
    edges = corners_m[1:] - corners_m[0]
    crosses = np.cross(edges[:-1], edges[1:])
    normal = crosses.sum(axis=0)
    area = float(np.linalg.norm(normal))
    if area < LEAST_M**2:
        return None
    aside = normal / area * (0.5 * THICKNESS_M)
    return Solid("hull", corners_m=np.concatenate([corners_m - aside, corners_m + aside]))
