"""Intersections of a ray with the surfaces of obstacles.

All shapes are in their own axes, about their own center. Divisors that are too small are excluded,
far below the scale of a shape in meters, so that no derivative overflows, even in single precision
and if a ray misses, touches or runs along a surface.

Triangles extend beyond their edges by the rounding error of a ray, so that no ray passes between
two that share an edge or a corner; one that is seen edge-on to within rounding is not hit. Hits of
a round surface depend on the ray's distance from its center or axis, which is computed from a
vector product: the difference of b^2 and a c, each as large as the squared distance of the origin,
would lose a small distant ball in rounding.

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
from kittiwake.world.ray import MIN_SLOPE, Ray

# divisors are larger: the inverse square of this is finite in single precision
MIN_DIVISOR = 1e-15
MIN_DISCRIMINANT = 1e-30
# bound of the rounding errors of a triangle's determinants, relative to their products
ROUNDINGS = 8.0


class Intersection(NamedTuple):
    """Possible intersection of a ray with a surface: its parameter, and a flag of its existence."""

    t: Real
    exists: Flag


def first(intersections: Sequence[Intersection]) -> Real:
    """Return the distance of the nearest intersection that exists and is not behind the origin."""
    distances = [jnp.where(exists & (t >= 0.0), t, jnp.inf) for t, exists in intersections]
    return reduce(jnp.minimum, distances)


def ball(ray: Ray, radius_m: Real) -> list[Intersection]:
    """Return the intersections with a sphere."""
    o, d = ray.origin_m, ray.direction
    cross, a, square = o.cross(d), d.dot(d), radius_m * radius_m
    return roots(a, o.dot(d), o.dot(o) - square, a * square - cross.dot(cross))


def tube(ray: Ray, radius_m: Real, half_height_m: Real) -> list[Intersection]:
    """Return the intersections with the lateral surface of a cylinder about the z axis."""
    o, d = ray.origin_m, ray.direction
    cross, a, square = o.x * d.y - o.y * d.x, radius2(d), radius_m * radius_m
    along = o.x * d.x + o.y * d.y
    solutions = roots(a, along, radius2(o) - square, a * square - cross * cross)
    return [
        Intersection(t, exists & (jnp.abs(ray.at(t).z) <= half_height_m)) for t, exists in solutions
    ]


def block(ray: Ray, half_m: Vec3) -> Real:
    """Return the distance of a box's surface; the ray's direction may have any length."""
    enters, leaves = span(ray, half_m)
    hit = (enters <= leaves) & (leaves >= 0.0)
    return jnp.where(hit, jnp.where(enters >= 0.0, enters, leaves), jnp.inf)


def span(ray: Ray, half_m: Vec3) -> tuple[Real, Real]:
    """Return where a ray's line enters and leaves a box; in reverse order if it misses."""
    enters, leaves = -jnp.inf, jnp.inf
    for axis in "xyz":
        origin, slope, half = (getattr(v, axis) for v in (ray.origin_m, ray.direction, half_m))
        level = jnp.abs(slope) < MIN_SLOPE
        inverse = jnp.where(level, 0.0, 1.0 / jnp.where(level, 1.0, slope))
        # a ray parallel to a pair of planes is always between them, or never
        always = jnp.where(jnp.abs(origin) <= half, jnp.inf, -jnp.inf)
        middle, half_span = -origin * inverse, jnp.where(level, always, half * jnp.abs(inverse))
        enters, leaves = (
            jnp.maximum(enters, middle - half_span),
            jnp.minimum(leaves, middle + half_span),
        )
    return enters, leaves


def triangle(ray: Ray, one: Vec3, two: Vec3, three: Vec3) -> Intersection:
    """Return the intersection with a triangle, from either side."""
    side, other_side, offset = two - one, three - one, ray.origin_m - one
    p, q = ray.direction.cross(other_side), offset.cross(side)
    determinant = side.dot(p)
    rounding = ROUNDINGS * float(jnp.finfo(jnp.result_type(determinant)).eps)
    length, other_length, distance = (_extent(v) for v in (side, other_side, offset))
    # u, v and 1, all times the size of the determinant, and their rounding errors
    sign, whole = jnp.where(determinant < 0.0, -1.0, 1.0), jnp.abs(determinant)
    u, v = offset.dot(p) * sign, ray.direction.dot(q) * sign
    error_u, error_v = rounding * distance * other_length, rounding * distance * length
    error_whole = rounding * length * other_length
    crosses = whole > error_whole
    inside = (u >= -error_u) & (v >= -error_v) & (u + v <= whole + error_whole + error_u + error_v)
    return Intersection(other_side.dot(q) / jnp.where(crosses, determinant, 1.0), crosses & inside)


def roots(a: Real, b: Real, c: Real, discriminant: Real) -> list[Intersection]:
    """Return the roots of a t^2 + 2 b t + c = 0; a may be zero, the discriminant is b^2 - a c."""
    crosses = discriminant > MIN_DISCRIMINANT
    root = jnp.where(crosses, jnp.sqrt(jnp.where(crosses, discriminant, 1.0)), 0.0)
    q = -(b + jnp.where(b >= 0.0, root, -root))
    real = discriminant >= 0.0
    curved, moving = jnp.abs(a) > MIN_DIVISOR, jnp.abs(q) > MIN_DIVISOR
    far = jnp.where(curved, q, 0.0) / jnp.where(curved, a, 1.0)
    near = jnp.where(moving, c, 0.0) / jnp.where(moving, q, 1.0)
    return [Intersection(far, real & curved), Intersection(near, real & moving)]


def radius2(v: Vec3) -> Real:
    """Return the squared distance from the z axis."""
    return v.x * v.x + v.y * v.y


def _extent(v: Vec3) -> Real:
    """Return an upper bound of the length, without a root."""
    return jnp.abs(v.x) + jnp.abs(v.y) + jnp.abs(v.z)
