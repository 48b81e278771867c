"""Round solids: spheres, cylinders, capsules."""

from functools import reduce
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.solid import Solid
from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.obstacles.intersections import Intersection, ball, first, radius2, tube
from kittiwake.environment.obstacles.nearest import about
from kittiwake.environment.obstacles.outlines import arc, circle, uprights
from kittiwake.environment.obstacles.placed import AbstractPlaced
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, UP, Body, Clearance, between, prism
from kittiwake.world.plane import distance_to_part_m
from kittiwake.world.ray import AbstractObstacle, Ray


class Sphere(AbstractObstacle):
    """Sphere.

    Attributes:
        center_world_m: position of the center.
        radius_m: radius.
    """

    center_world_m: Vec3
    radius_m: Annotated[Real, POSITIVE]

    @override
    def distance_m(self, ray: Ray) -> Real:
        own = Ray(ray.origin_m - self.center_world_m, ray.direction)
        return first(ball(own, self.radius_m))

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        return ray.at(distance_m) - self.center_world_m

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        return about(point_world_m - self.center_world_m, self.radius_m).gap_m(body)

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        center, radius = np.asarray(self.center_world_m.array), float(self.radius_m)
        return [circle(radius, axis) + center for axis in "xyz"]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        return (Solid.at("sphere", (self.radius_m,), self.center_world_m, Quaternion.identity()),)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Sphere"]:
        return {"ball": cls(Vec3(4.0, 2.0, 10.0), 1.5)}


class Cylinder(AbstractPlaced):
    """Cylinder with flat ends about its own z axis; a pitch of a right angle lays it down.

    Attributes:
        radius_m: radius.
        height_m: length along its z axis.
    """

    center_world_m: Vec3
    radius_m: Annotated[Real, POSITIVE]
    height_m: Annotated[Real, POSITIVE]
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_along_m(self, ray_own: Ray) -> Real:
        half, square = 0.5 * self.height_m, self.radius_m * self.radius_m
        ends = [
            distance_to_part_m(ray_own, z_m, lambda point: radius2(point) <= square)
            for z_m in (-half, half)
        ]
        return reduce(jnp.minimum, ends, first(tube(ray_own, self.radius_m, half)))

    @override
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        outwards = Vec3(point_own_m.x, point_own_m.y, 0.0)
        to_side = jnp.abs(outwards.norm() - self.radius_m)
        on_end = jnp.abs(jnp.abs(point_own_m.z) - 0.5 * self.height_m) < to_side
        return Vec3(
            jnp.where(on_end, 0.0, outwards.x),
            jnp.where(on_end, 0.0, outwards.y),
            jnp.where(on_end, 1.0, 0.0),
        )

    @override
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        section = about(Vec3(point_own_m.x, point_own_m.y, 0.0), self.radius_m)
        return [prism(section, between(point_own_m.z, 0.5 * self.height_m, UP))]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        return self.solid("cylinder", self.radius_m, 0.5 * self.height_m)

    @override
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        radius, half = float(self.radius_m), 0.5 * float(self.height_m)
        ends = [circle(radius, "z", at) for at in (-half, half)]
        return [*ends, *uprights(radius, half)]

    @classmethod
    @override
    def examples(cls) -> dict[str, "Cylinder"]:
        return {
            "pole": cls(
                center_world_m=Vec3(4.0, 2.0, 10.0), radius_m=0.8, height_m=4.0, yaw_rad=0.2
            )
        }


class Capsule(AbstractPlaced):
    """Cylinder of ``height_m`` about its own z axis with a hemisphere on each end.

    Attributes:
        radius_m: radius.
        height_m: length of the cylinder between the hemispheres.
    """

    center_world_m: Vec3
    radius_m: Annotated[Real, POSITIVE]
    height_m: Annotated[Real, POSITIVE]
    yaw_rad: Real = 0.0
    pitch_rad: Real = 0.0
    roll_rad: Real = 0.0

    @override
    def distance_along_m(self, ray_own: Ray) -> Real:
        half = 0.5 * self.height_m
        intersections = tube(ray_own, self.radius_m, half)
        for upwards in (1.0, -1.0):
            about_end = Ray(ray_own.origin_m - Vec3(0.0, 0.0, upwards * half), ray_own.direction)
            intersections += [
                Intersection(t, exists & (about_end.at(t).z * upwards >= 0.0))
                for t, exists in ball(about_end, self.radius_m)
            ]
        return first(intersections)

    @override
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        half = 0.5 * self.height_m
        beyond = point_own_m.z - jnp.clip(point_own_m.z, -half, half)
        return Vec3(point_own_m.x, point_own_m.y, beyond)

    @override
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        return [about(self.normal_at(point_own_m), self.radius_m)]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        return self.solid("capsule", self.radius_m, 0.5 * self.height_m)

    @override
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        radius, half = float(self.radius_m), 0.5 * float(self.height_m)
        over = [
            arc(radius, "x", 0.0, np.pi),  # from y over z
            arc(radius, "y", -0.5 * np.pi, 0.5 * np.pi),  # from -x over z
        ]
        up = np.array([0.0, 0.0, half])
        ends = [line for one in over for line in (one + up, -(one + up))]
        return [*ends, *(circle(radius, "z", at) for at in (-half, half)), *uprights(radius, half)]

    @classmethod
    @override
    def examples(cls) -> dict[str, "Capsule"]:
        return {
            "pill": cls(
                center_world_m=Vec3(4.0, 2.0, 10.0), radius_m=0.8, height_m=4.0, yaw_rad=0.2
            )
        }
