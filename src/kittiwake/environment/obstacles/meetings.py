"""Where a ray meets the surfaces that obstacles are made of.

All is about a shape's own centre and along its own axes. Lengths and directions that are too small
to divide by are left out, far below what a shape in metres can show, so that no derivative
overflows, not in single precision either and not where a ray misses, touches or runs along a
surface.

Sources: boxes as three pairs of planes (Kay and Kajiya 1986, "Ray tracing complex scenes");
triangles by Moeller and Trumbore (1997), "Fast, minimum storage ray/triangle intersection";
quadratic equations solved without cancellation (Press et al. 2007, "Numerical Recipes", section
5.6).
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import jax.numpy as jnp

from kittiwake.core.ray import Ray
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3

# what is smaller is not divided by: its inverse square is still a number in single precision
LEAST_SLOPE = 1e-12
LEAST_DIVISOR = 1e-15
LEAST_DISCRIMINANT = 1e-30


class Meeting(NamedTuple):
    """A place where a ray may meet a surface: how far along, and whether it does."""

    t: Real
    exists: Flag


def first(meetings: Sequence[Meeting]) -> Real:
    """How far the nearest place is that exists and does not lie behind the origin."""
    distances = [jnp.where(exists & (t >= 0.0), t, jnp.inf) for t, exists in meetings]
    return reduce(jnp.minimum, distances)


def level(ray: Ray, z_m: Real) -> Meeting:
    """With a whole plane across the z axis."""
    crosses = jnp.abs(ray.direction.z) > LEAST_SLOPE
    return Meeting((z_m - ray.origin_m.z) / jnp.where(crosses, ray.direction.z, 1.0), crosses)


def ball(ray: Ray, radius_m: Real) -> list[Meeting]:
    """With the surface of a ball."""
    o, d = ray.origin_m, ray.direction
    return roots(d.dot(d), o.dot(d), o.dot(o) - radius_m * radius_m)


def tube(ray: Ray, radius_m: Real, half_height_m: Real) -> list[Meeting]:
    """With the side of a cylinder about the z axis."""
    o, d = ray.origin_m, ray.direction
    ways = roots(across2(d), o.x * d.x + o.y * d.y, across2(o) - radius_m * radius_m)
    return [Meeting(t, exists & (jnp.abs(ray.at(t).z) <= half_height_m)) for t, exists in ways]


def block(ray: Ray, half_m: Vec3) -> Real:
    """How far the surface of a box is; the ray's direction need not be of unit length."""
    enters, leaves = -jnp.inf, jnp.inf
    for axis in "xyz":
        origin, slope, half = (getattr(v, axis) for v in (ray.origin_m, ray.direction, half_m))
        slope = jnp.where(jnp.abs(slope) < LEAST_SLOPE, LEAST_SLOPE, slope)
        one, other = (-half - origin) / slope, (half - origin) / slope
        enters = jnp.maximum(enters, jnp.minimum(one, other))
        leaves = jnp.minimum(leaves, jnp.maximum(one, other))
    met = (enters <= leaves) & (leaves >= 0.0)
    return jnp.where(met, jnp.where(enters >= 0.0, enters, leaves), jnp.inf)


def triangle(ray: Ray, one: Vec3, two: Vec3, three: Vec3) -> Meeting:
    """With a triangle, from either side."""
    side, other_side = two - one, three - one
    p = ray.direction.cross(other_side)
    determinant = side.dot(p)
    crosses = jnp.abs(determinant) > LEAST_DIVISOR
    scale = 1.0 / jnp.where(crosses, determinant, 1.0)
    way = ray.origin_m - one
    q = way.cross(side)
    u, v = way.dot(p) * scale, ray.direction.dot(q) * scale
    inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
    return Meeting(other_side.dot(q) * scale, crosses & inside)


def roots(a: Real, b: Real, c: Real) -> list[Meeting]:
    """The solutions of a t^2 + 2 b t + c = 0; a may be zero."""
    discriminant = b * b - a * c
    crosses = discriminant > LEAST_DISCRIMINANT
    root = jnp.where(crosses, jnp.sqrt(jnp.where(crosses, discriminant, 1.0)), 0.0)
    q = -(b + jnp.where(b >= 0.0, root, -root))
    real = discriminant >= 0.0
    curved, moving = jnp.abs(a) > LEAST_DIVISOR, jnp.abs(q) > LEAST_DIVISOR
    far = jnp.where(curved, q, 0.0) / jnp.where(curved, a, 1.0)
    near = jnp.where(moving, c, 0.0) / jnp.where(moving, q, 1.0)
    return [Meeting(far, real & curved), Meeting(near, real & moving)]


def across2(v: Vec3) -> Real:
    """The squared distance from the z axis."""
    return v.x * v.x + v.y * v.y
