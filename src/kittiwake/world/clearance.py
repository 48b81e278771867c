"""Clearance between a vehicle's bounding box and solids or surfaces.

Distances are measured from a point; inside a solid they are negative: the distance to the surface.
A body is a box about that point. The clearance from a convex solid is the distance d less the
support h of the box along the direction n to it, h(n) = 1/2 sum_i s_i |n_i|, with its sides s. If
it is positive the two are separate, because a plane normal to n lies between them; if negative it
means contact, except that the corner of a box may pass an edge of the solid closer than this
distance.
"""

from typing import NamedTuple

import jax.numpy as jnp

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real, multiply
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

EAST, NORTH, UP = Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0)


class Body(Module):
    """Bounding box about its center."""

    q_world_from_body: Quaternion
    size_body_m: Vec3

    @property
    def radius_m(self) -> Real:
        """Radius of the sphere around the box."""
        return multiply(0.5, self.size_body_m.norm())

    def reach_m(self, direction_world: Vec3) -> Real:
        """Return the half extent of the box along a direction of unit length."""
        own, size = self.q_world_from_body.inverse().rotate(direction_world), self.size_body_m
        components = Vec3(jnp.abs(own.x), jnp.abs(own.y), jnp.abs(own.z))
        return multiply(0.5, components.dot(size))

    def rotated(self, q_other_from_world: Quaternion) -> "Body":
        """Return the same box in other axes."""
        return Body(q_other_from_world * self.q_world_from_body, self.size_body_m)


POINT = Body(Quaternion.identity(), Vec3(0.0, 0.0, 0.0))


class Clearance(NamedTuple):
    """Distance of the nearest point of a shape, and direction to it; the direction may be zero."""

    distance_m: Real
    direction: Vec3

    @classmethod
    def along(cls, vector_m: Vec3) -> "Clearance":
        """Return the clearance of the end point of a vector."""
        length_m = vector_m.norm()
        return cls(length_m, vector_m / jnp.where(length_m > 0.0, length_m, 1.0))

    def gap_m(self, body: Body) -> Real:
        """Return the distance less the body's extent."""
        return self.distance_m - body.reach_m(self.direction)


def between(along_m: Real, half_m: Real, axis: Vec3) -> Clearance:
    """Return the clearance from a solid layer between two planes, ``along_m`` from its middle."""
    outwards = jnp.where(along_m < 0.0, -1.0, 1.0)
    return Clearance(jnp.abs(along_m) - half_m, axis * outwards)


def prism(section: Clearance, ends: Clearance) -> Clearance:
    """Return the clearance from a prism of a cross section between two ends.

    Beyond an edge both vectors are perpendicular; inside, the shorter one leads out.
    """
    aside_m, ahead_m = jnp.maximum(section.distance_m, 0.0), jnp.maximum(ends.distance_m, 0.0)
    outside = Clearance.along(section.direction * aside_m + ends.direction * ahead_m)
    inside = outside.distance_m <= 0.0
    to_side = section.distance_m > ends.distance_m
    exit_m = jnp.where(to_side, section.distance_m, ends.distance_m)

    def component(axis: str) -> Real:
        side, end = getattr(section.direction, axis), getattr(ends.direction, axis)
        return jnp.where(inside, jnp.where(to_side, side, end), getattr(outside.direction, axis))

    return Clearance(
        jnp.where(inside, exit_m, outside.distance_m),
        Vec3(component("x"), component("y"), component("z")),
    )


def cuboid(point_m: Vec3, half_m: Vec3) -> Clearance:
    """Return the clearance from a box about the origin."""
    section = prism(between(point_m.x, half_m.x, EAST), between(point_m.y, half_m.y, NORTH))
    return prism(section, between(point_m.z, half_m.z, UP))
