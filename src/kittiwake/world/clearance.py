"""How near solids and surfaces are, and how far a body reaches towards them.

A distance is counted from a point; inside of a solid it is negative: the way out. A body is a box
about that point. What is left between it and a convex solid is the distance d less the support h of
the box along the way n there, h(n) = 1/2 sum_i s_i |n_i|, with its sides s. A positive rest keeps
the two apart, because the plane across n lies between them; a negative one is contact, save that
the corner of a box may pass an edge of the solid closer than it says.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real, product
from kittiwake.geometry.vec3 import Vec3

EAST, NORTH, UP = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)


class Body(eqx.Module):
    """A box about its middle, as large as what it stands for."""

    q_world_from_body: Quaternion
    size_body_m: Vec3

    @property
    def radius_m(self) -> Real:
        """Of the ball around it: the longest that it reaches."""
        return product(0.5, self.size_body_m.norm())

    def reach_m(self, direction_world: Vec3) -> Real:
        """How far it reaches along a direction of unit length, forwards as backwards."""
        own, size = self.q_world_from_body.inverse().rotate(direction_world), self.size_body_m
        parts = Vec3(jnp.abs(own.x), jnp.abs(own.y), jnp.abs(own.z))
        return product(0.5, parts.dot(size))

    def turned(self, q_other_from_world: Quaternion) -> "Body":
        """The same in other axes."""
        return Body(q_other_from_world * self.q_world_from_body, self.size_body_m)


POINT = Body(Quaternion.identity(), Vec3(0.0, 0.0, 0.0))


class Clearance(NamedTuple):
    """The nearest place of something: how far, and where along; the direction may be zero there."""

    distance_m: Real
    direction: Vec3

    @classmethod
    def along(cls, way_m: Vec3) -> "Clearance":
        """What lies at the end of a way."""
        length_m = way_m.norm()
        return cls(length_m, way_m / jnp.where(length_m > 0.0, length_m, 1.0))

    def left_m(self, body: Body) -> Real:
        """The distance without what a body takes of it."""
        return self.distance_m - body.reach_m(self.direction)


def between(along_m: Real, half_m: Real, axis: Vec3) -> Clearance:
    """A pair of planes, of which a point is so far from the middle; what lies between is solid."""
    outwards = jnp.where(along_m < 0.0, -1.0, 1.0)
    return Clearance(jnp.abs(along_m) - half_m, axis * outwards)


def prism(section: Clearance, ends: Clearance) -> Clearance:
    """What a section is that goes on along an axis across it, between two ends.

    Beyond an edge the ways to both make a right angle; inside the shorter one leads out.
    """
    aside_m, ahead_m = jnp.maximum(section.distance_m, 0.0), jnp.maximum(ends.distance_m, 0.0)
    outside = Clearance.along(section.direction * aside_m + ends.direction * ahead_m)
    inside = outside.distance_m <= 0.0
    to_side = section.distance_m > ends.distance_m
    way_out = jnp.where(to_side, section.distance_m, ends.distance_m)

    def part(axis: str) -> Real:
        side, end = getattr(section.direction, axis), getattr(ends.direction, axis)
        return jnp.where(inside, jnp.where(to_side, side, end), getattr(outside.direction, axis))

    return Clearance(
        jnp.where(inside, way_out, outside.distance_m), Vec3(part("x"), part("y"), part("z"))
    )


def cuboid(point_m: Vec3, half_m: Vec3) -> Clearance:
    """A box about the origin."""
    section = prism(between(point_m.x, half_m.x, EAST), between(point_m.y, half_m.y, NORTH))
    return prism(section, between(point_m.z, half_m.z, UP))
