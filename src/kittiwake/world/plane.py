"""Planes, without end or in part."""

from abc import abstractmethod
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body, Clearance
from kittiwake.world.ray import LEAST_SLOPE, AbstractObstacle, Ray


class AbstractPlane(AbstractObstacle):
    """A plane without end, seen from both sides."""

    @property
    @abstractmethod
    def across_world(self) -> Vec3:
        """The direction across it, of unit length."""

    @abstractmethod
    def height_over_m(self, point_world_m: Vec3) -> Real:
        """How far a point is from it in that direction."""

    @override
    def distance_m(self, ray: Ray) -> Real:
        return to_level_m(self.height_over_m(ray.origin_m), self.across_world.dot(ray.direction))

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        del ray, distance_m
        return self.across_world

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        return Clearance(jnp.abs(self.height_over_m(point_world_m)), self.across_world).left_m(body)

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        return []


def to_part_m(ray: Ray, z_m: Real, part: Callable[[Vec3], Flag]) -> Real:
    """How far a part of the level at a height is; it is told of a point whether it is in it."""
    distance = to_level_m(ray.origin_m.z - z_m, ray.direction.z)
    there = ray.at(jnp.where(jnp.isfinite(distance), distance, 0.0))
    return jnp.where(part(there), distance, jnp.inf)


def to_level_m(height_m: Real, slope: Real) -> Real:
    """How far a level is along a line that begins so high over it and rises by so much a meter."""
    crosses = jnp.abs(slope) > LEAST_SLOPE
    distance = -height_m / jnp.where(crosses, slope, 1.0)
    return jnp.where(crosses & (distance >= 0.0), distance, jnp.inf)
