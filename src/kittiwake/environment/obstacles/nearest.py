"""Nearest points of the surfaces of obstacles.

The nearest point of a triangle is the foot of the perpendicular, if that is inside, or on one of
its edges, with the parameter of the foot clipped to 0..1.

Of the parabola z = a y^2 from (y0, z0) the squared distance has the derivative 2 f(y) with f = 2
a^2 y^3 + (1 - 2 a z0) y - y0. Between -y_c and y_c, y_c^2 = (2 a z0 - 1) / (6 a^2), f falls and the
distance has no minimum; on either side f rises, and its zero is found by bisection, or the end of
the sheet. Derivatives are those at a fixed point, which for a minimum are exact; they neglect the
motion of an end with the width.
"""

from functools import reduce

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import Clearance

# enough for the digits of double precision and a range of exponents
BISECTIONS = 60


def about(from_center_m: Vec3, radius_m: Real) -> Clearance:
    """Return the clearance from a solid of a radius about a center or an axis."""
    center = Clearance.along(from_center_m)
    return Clearance(center.distance_m - radius_m, center.direction)


def facet(point_m: Vec3, one: Vec3, two: Vec3, three: Vec3) -> Clearance:
    """Return the clearance from a triangle."""
    sides = [(one, two), (two, three), (three, one)]
    vectors = [to_edge(point_m, start, end) for start, end in sides]
    across = (two - one).cross(three - one)
    square = across.dot(across)
    flat = square > 0.0
    height = (one - point_m).dot(across) / jnp.where(flat, square, 1.0)
    foot = point_m + across * height
    inside = [across.dot((end - start).cross(foot - start)) >= 0.0 for start, end in sides]
    within = flat & inside[0] & inside[1] & inside[2]
    return Clearance.along(tree_where(within, across * height, _shortest(vectors)))


def to_edge(point_m: Vec3, start: Vec3, end: Vec3) -> Vec3:
    """Return the vector to the nearest point of a line segment."""
    side = end - start
    square = side.dot(side)
    along = (point_m - start).dot(side) / jnp.where(square > 0.0, square, 1.0)
    return start + side * jnp.clip(along, 0.0, 1.0) - point_m


def parallelogram(point_m: Vec3, half: Vec3, other_half: Vec3) -> Clearance:
    """Return the clearance of a point in its plane from a solid parallelogram about the origin."""
    corners = [half + other_half, half - other_half, -(half + other_half), other_half - half]
    vectors = [
        to_edge(point_m, start, end)
        for start, end in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    normal = half.cross(other_half)
    square = normal.dot(normal)
    # coordinates of the point along both half sides
    u, v = (point_m.cross(other_half)).dot(normal), (half.cross(point_m)).dot(normal)
    inside = (jnp.abs(u) <= square) & (jnp.abs(v) <= square)
    edge = Clearance.along(_shortest(vectors))
    return Clearance(jnp.where(inside, -edge.distance_m, edge.distance_m), edge.direction)


def parabola(point_m: Vec3, curvature_pm: Real, half_width_m: Real) -> list[Clearance]:
    """Return each local minimum of the distance from z = curvature y^2 in the y-z plane."""
    y0, z0, a, half = jax.lax.stop_gradient(
        as_arrays((point_m.y, point_m.z, curvature_pm, half_width_m))
    )
    cubic, linear = 2.0 * a * a, 1.0 - 2.0 * a * z0
    # extremum of f; none without curvature
    bent = cubic > 0.0
    turn2 = jnp.where(bent, -linear, 0.0) / jnp.where(bent, 3.0 * cubic, 1.0)
    turn = jnp.minimum(jnp.sqrt(jnp.maximum(turn2, 0.0)), half)

    def minimum(side: float) -> tuple[Real, Flag]:
        """Return the minimum of the distance on a side, and True if it exists."""

        def derivative(y: Real) -> Real:
            return (cubic * y * y + linear) * y - side * y0

        def bisect(_: Integer, ends: tuple[Real, Real]) -> tuple[Real, Real]:
            low, high = ends
            middle = 0.5 * (low + high)
            below = derivative(middle) < 0.0
            return jnp.where(below, middle, low), jnp.where(below, high, middle)

        low, high = jax.lax.fori_loop(0, BISECTIONS, bisect, (turn, half))
        return 0.5 * side * (low + high), derivative(turn) <= 0.0

    def near(y: Real) -> Clearance:
        return Clearance.along(Vec3(0.0, y - point_m.y, curvature_pm * y * y - point_m.z))

    (left, on_left), (right, on_right) = minimum(1.0), minimum(-1.0)
    # one of them exists, and replaces the other if that does not
    return [near(jnp.where(on_left, left, right)), near(jnp.where(on_right, right, left))]


def _shortest(vectors: list[Vec3]) -> Vec3:
    return reduce(
        lambda one, other: tree_where(other.dot(other) < one.dot(one), other, one), vectors
    )
