"""Where a ray meets the surfaces that obstacles are made of.

All is about a shape's own center and along its own axes. What is too small to divide by is left
out, far below what a shape in meters can show, so that no derivative overflows, not in single
precision either and not where a ray misses, touches or runs along a surface.

Triangles reach beyond their edges by as much as rounding can move a ray, so that none passes
between two that share an edge or a corner; one that is seen from its edge to within rounding is not
met. A round surface is met where the ray's distance from its center or axis allows it, which is
taken from a vector product: the difference of the squares b^2 and a c, each as large as the squared
distance of the origin, would leave nothing of a small ball far away.

Sources: boxes as three pairs of planes (Kay and Kajiya 1986, "Ray tracing complex scenes");
triangles by Moeller and Trumbore (1997), "Fast, minimum storage ray/triangle intersection";
quadratic equations solved without cancellation (Press et al. 2007, "Numerical Recipes", section
5.6).
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import jax.numpy as jnp

from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.ray import LEAST_SLOPE, Ray

# what is smaller is not divided by: its inverse square is still a number in single precision
LEAST_DIVISOR = 1e-15
LEAST_DISCRIMINANT = 1e-30
# more than the roundings on the way to the determinants of a triangle, in parts of their products
ROUNDINGS = 8.0


class Meeting(NamedTuple):
    """A place where a ray may meet a surface: how far along, and whether it does."""

    t: Real
    exists: Flag


def first(meetings: Sequence[Meeting]) -> Real:
    """How far the nearest place is that exists and does not lie behind the origin."""
    distances = [jnp.where(exists & (t >= 0.0), t, jnp.inf) for t, exists in meetings]
    return reduce(jnp.minimum, distances)


def ball(ray: Ray, radius_m: Real) -> list[Meeting]:
    """With the surface of a ball."""
    o, d = ray.origin_m, ray.direction
    aside, a, square = o.cross(d), d.dot(d), radius_m * radius_m
    return roots(a, o.dot(d), o.dot(o) - square, a * square - aside.dot(aside))


def tube(ray: Ray, radius_m: Real, half_height_m: Real) -> list[Meeting]:
    """With the side of a cylinder about the z axis."""
    o, d = ray.origin_m, ray.direction
    aside, a, square = o.x * d.y - o.y * d.x, across2(d), radius_m * radius_m
    along = o.x * d.x + o.y * d.y
    ways = roots(a, along, across2(o) - square, a * square - aside * aside)
    return [Meeting(t, exists & (jnp.abs(ray.at(t).z) <= half_height_m)) for t, exists in ways]


def block(ray: Ray, half_m: Vec3) -> Real:
    """How far the surface of a box is; the ray's direction need not be of unit length."""
    enters, leaves = span(ray, half_m)
    met = (enters <= leaves) & (leaves >= 0.0)
    return jnp.where(met, jnp.where(enters >= 0.0, enters, leaves), jnp.inf)


def span(ray: Ray, half_m: Vec3) -> tuple[Real, Real]:
    """Where a ray's whole line enters a box and leaves it again, the other way round if never."""
    enters, leaves = -jnp.inf, jnp.inf
    for axis in "xyz":
        origin, slope, half = (getattr(v, axis) for v in (ray.origin_m, ray.direction, half_m))
        level = jnp.abs(slope) < LEAST_SLOPE
        inverse = jnp.where(level, 0.0, 1.0 / jnp.where(level, 1.0, slope))
        # along a pair of planes a ray is always between them, or never
        always = jnp.where(jnp.abs(origin) <= half, jnp.inf, -jnp.inf)
        middle, off = -origin * inverse, jnp.where(level, always, half * jnp.abs(inverse))
        enters, leaves = jnp.maximum(enters, middle - off), jnp.minimum(leaves, middle + off)
    return enters, leaves


def triangle(ray: Ray, one: Vec3, two: Vec3, three: Vec3) -> Meeting:
    """With a triangle, from either side."""
    side, other_side, way = two - one, three - one, ray.origin_m - one
    p, q = ray.direction.cross(other_side), way.cross(side)
    determinant = side.dot(p)
    rounding = ROUNDINGS * float(jnp.finfo(jnp.result_type(determinant)).eps)
    length, other_length, away = (_extent(v) for v in (side, other_side, way))
    # u, v and 1, all times the size of the determinant, and what rounding may make of them
    sign, whole = jnp.where(determinant < 0.0, -1.0, 1.0), jnp.abs(determinant)
    u, v = way.dot(p) * sign, ray.direction.dot(q) * sign
    off_u, off_v = rounding * away * other_length, rounding * away * length
    off_whole = rounding * length * other_length
    crosses = whole > off_whole
    inside = (u >= -off_u) & (v >= -off_v) & (u + v <= whole + off_whole + off_u + off_v)
    return Meeting(other_side.dot(q) / jnp.where(crosses, determinant, 1.0), crosses & inside)


def roots(a: Real, b: Real, c: Real, discriminant: Real) -> list[Meeting]:
    """The solutions of a t^2 + 2 b t + c = 0; a may be zero, the discriminant is b^2 - a c."""
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


def _extent(v: Vec3) -> Real:
    """At least the length, without a root."""
    return jnp.abs(v.x) + jnp.abs(v.y) + jnp.abs(v.z)
