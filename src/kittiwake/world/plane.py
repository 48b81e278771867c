"""Infinite planes, and parts of planes."""

from abc import abstractmethod
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body, Clearance
from kittiwake.world.ray import MIN_SLOPE, AbstractObstacle, Ray


class AbstractPlane(AbstractObstacle):
    """Infinite plane, visible from both sides."""

    @property
    @abstractmethod
    def normal(self) -> Vec3:
        """Unit normal of the plane."""

    @abstractmethod
    def height_over_m(self, point_world_m: Vec3) -> Real:
        """Return the signed distance of a point along the normal."""

    @override
    def distance_m(self, ray: Ray) -> Real:
        return distance_to_plane_m(self.height_over_m(ray.origin_m), self.normal.dot(ray.direction))

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        del ray, distance_m
        return self.normal

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        return Clearance(jnp.abs(self.height_over_m(point_world_m)), self.normal).gap_m(body)

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        return []


def distance_to_part_m(ray: Ray, z_m: Real, part: Callable[[Vec3], Flag]) -> Real:
    """Return the distance along a ray to the part of a horizontal plane where ``part`` is true."""
    distance = distance_to_plane_m(ray.origin_m.z - z_m, ray.direction.z)
    point = ray.at(jnp.where(jnp.isfinite(distance), distance, 0.0))
    return jnp.where(part(point), distance, jnp.inf)


def distance_to_plane_m(height_m: Real, slope: Real) -> Real:
    """Return the distance along a line to a plane, from the height above it and the slope."""
    crosses = jnp.abs(slope) > MIN_SLOPE
    distance = -height_m / jnp.where(crosses, slope, 1.0)
    return jnp.where(crosses & (distance >= 0.0), distance, jnp.inf)
