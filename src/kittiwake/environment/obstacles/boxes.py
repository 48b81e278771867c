"""Solids with flat faces: boxes, platforms, inclined slabs."""

import math
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.solid import Solid
from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.environment.obstacles.intersections import block
from kittiwake.environment.obstacles.nearest import parallelogram
from kittiwake.environment.obstacles.outlines import box_edges
from kittiwake.environment.obstacles.placed import AbstractPlaced, q_world_from_own
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import EAST, POINT, Body, Clearance, between, cuboid, prism
from kittiwake.world.ray import AbstractObstacle, Ray

# below a right angle, at which a slab would be infinite
LEAN_RAD = Bounds(-1.5, 1.5)


class Box(AbstractPlaced):
    """Solid between three pairs of planes.

    Attributes:
        sides_m: lengths of the sides.
    """

    center_world_m: Vec3
    sides_m: Annotated[Vec3, POSITIVE]
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_along_m(self, ray_own: Ray) -> Real:
        return block(ray_own, self.sides_m * 0.5)

    @override
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        return _face_normal(point_own_m, self.sides_m * 0.5)

    @override
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        return [cuboid(point_own_m, self.sides_m * 0.5)]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        half = self.sides_m * 0.5
        return self.solid("box", half.x, half.y, half.z)

    @override
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        return box_edges(np.asarray(self.sides_m.array))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Box"]:
        return {
            "turned": cls(
                center_world_m=Vec3(4.0, 2.0, 10.0),
                sides_m=Vec3(1.0, 2.0, 3.0),
                yaw_rad=0.3,
                pitch_rad=0.2,
                roll_rad=0.1,
            )
        }


class Platform(AbstractObstacle):
    """Plate; ``position_world_m`` is the center of its upper side.

    Attributes:
        position_world_m: center of the upper side.
        length_m: side along its x axis.
        width_m: side along its y axis.
        thickness_m: thickness below the upper side.
    """

    position_world_m: Vec3
    length_m: Annotated[Real, POSITIVE]
    width_m: Annotated[Real, POSITIVE]
    thickness_m: Annotated[Real, POSITIVE] = 0.1
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_m(self, ray: Ray) -> Real:
        return self._box().distance_m(ray)

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        return self._box().normal_world(ray, distance_m)

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        return self._box().clearance_m(point_world_m, body)

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        return self._box().outline_world()

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        return self._box().solids_world()

    def _box(self) -> Box:
        q = q_world_from_own(self.yaw_rad, self.pitch_rad, self.roll_rad)
        return Box(
            center_world_m=self.position_world_m
            + q.rotate(Vec3(0.0, 0.0, -0.5 * self.thickness_m)),
            sides_m=Vec3(self.length_m, self.width_m, self.thickness_m),
            yaw_rad=self.yaw_rad,
            pitch_rad=self.pitch_rad,
            roll_rad=self.roll_rad,
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Platform"]:
        return {"deck": cls(Vec3(4.0, 2.0, 10.0), 4.0, 2.0, 0.1)}


class Slab(AbstractPlaced):
    """Box sheared along y in proportion to the height: an inclined wall.

    Its faces are y = tan(lean) z - sides_y / 2 and y = tan(lean) z + sides_y / 2, so that
    ``lean_rad`` is their angle to the z axis; its ends along x are vertical, those along z
    horizontal.

    Attributes:
        sides_m: lengths of the sides.
        lean_rad: angle of the wall from the vertical.
    """

    center_world_m: Vec3
    sides_m: Annotated[Vec3, POSITIVE]
    lean_rad: Annotated[Real, LEAN_RAD]
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_along_m(self, ray_own: Ray) -> Real:
        unsheared = Ray(self._unsheared(ray_own.origin_m), self._unsheared(ray_own.direction))
        return block(unsheared, self.sides_m * 0.5)

    @override
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        n = _face_normal(self._unsheared(point_own_m), self.sides_m * 0.5)
        return Vec3(n.x, n.y, n.z - jnp.tan(self.lean_rad) * n.y)

    @override
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        half, slope = self.sides_m * 0.5, jnp.tan(self.lean_rad)
        side, shear = Vec3(0.0, half.y, 0.0), Vec3(0.0, slope * half.z, half.z)
        section = parallelogram(Vec3(0.0, point_own_m.y, point_own_m.z), side, shear)
        return [prism(section, between(point_own_m.x, half.x, EAST))]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        return (Solid("hull", corners_m=self.to_world(np.concatenate(self.outline()))),)

    @override
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        shear = np.eye(3)
        shear[1, 2] = math.tan(self.lean_rad)
        return [edge @ shear.T for edge in box_edges(np.asarray(self.sides_m.array))]

    def _unsheared(self, v: Vec3) -> Vec3:
        return Vec3(v.x, v.y - jnp.tan(self.lean_rad) * v.z, v.z)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Slab"]:
        return {
            "leaning": cls(
                center_world_m=Vec3(4.0, 2.0, 10.0), sides_m=Vec3(4.0, 0.5, 4.0), lean_rad=0.5
            )
        }


def _face_normal(point_m: Vec3, half_m: Vec3) -> Vec3:
    """Return the normal of the face of a box that is nearest to a point."""
    x, y, z = (jnp.abs(jnp.abs(getattr(point_m, a)) - getattr(half_m, a)) for a in "xyz")
    on_x, on_y = (x <= y) & (x <= z), y <= z
    return Vec3(
        jnp.where(on_x, 1.0, 0.0),
        jnp.where(on_y & ~on_x, 1.0, 0.0),
        jnp.where(on_x | on_y, 0.0, 1.0),
    )
