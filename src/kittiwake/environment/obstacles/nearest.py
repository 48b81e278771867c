"""The nearest places of what obstacles are made of.

A triangle (p1, p2, p3) is nearest at the foot of the perpendicular, if that lies in it, or on one
of its edges, where the parameter of the foot is cut to 0..1.

Of the parabola z = a y^2 from (y0, z0) the squared distance has the derivative 2 f(y) with
f = 2 a^2 y^3 + (1 - 2 a z0) y - y0. Between -y_c and y_c, y_c^2 = (2 a z0 - 1) / (6 a^2), f falls
and the distance has no minimum; on either side of that f rises, and is halved down to its zero, or
to the end of the sheet. Derivatives are those at a fixed place, which for a minimum are
exact; how an end moves with the width they do not know.
"""

from functools import reduce

import jax
import jax.numpy as jnp

from kittiwake.core.arrays import as_arrays
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import Clearance

# as many as the digits of a number in double precision, and some for the range of its powers
HALVINGS = 60


def about(from_center_m: Vec3, radius_m: Real) -> Clearance:
    """A ball, or what else is solid so far around a center or an axis."""
    center = Clearance.along(from_center_m)
    return Clearance(center.distance_m - radius_m, center.direction)


def facet(point_m: Vec3, one: Vec3, two: Vec3, three: Vec3) -> Clearance:
    """A triangle."""
    sides = [(one, two), (two, three), (three, one)]
    ways = [to_edge(point_m, start, end) for start, end in sides]
    across = (two - one).cross(three - one)
    square = across.dot(across)
    flat = square > 0.0
    height = (one - point_m).dot(across) / jnp.where(flat, square, 1.0)
    foot = point_m + across * height
    inside = [across.dot((end - start).cross(foot - start)) >= 0.0 for start, end in sides]
    within = flat & inside[0] & inside[1] & inside[2]
    return Clearance.along(tree_where(within, across * height, _shortest(ways)))


def to_edge(point_m: Vec3, start: Vec3, end: Vec3) -> Vec3:
    """The way to the nearest point between two ends."""
    side = end - start
    square = side.dot(side)
    along = (point_m - start).dot(side) / jnp.where(square > 0.0, square, 1.0)
    return start + side * jnp.clip(along, 0.0, 1.0) - point_m


def parallelogram(point_m: Vec3, half: Vec3, other_half: Vec3) -> Clearance:
    """A solid one about the origin, by the halves of its sides, from a point in its plane."""
    corners = [half + other_half, half - other_half, -(half + other_half), other_half - half]
    ways = [
        to_edge(point_m, start, end)
        for start, end in zip(corners, [*corners[1:], corners[0]], strict=True)
    ]
    normal = half.cross(other_half)
    square = normal.dot(normal)
    # the shares of both halves that the point is made of
    u, v = (point_m.cross(other_half)).dot(normal), (half.cross(point_m)).dot(normal)
    inside = (jnp.abs(u) <= square) & (jnp.abs(v) <= square)
    edge = Clearance.along(_shortest(ways))
    return Clearance(jnp.where(inside, -edge.distance_m, edge.distance_m), edge.direction)


def parabola(point_m: Vec3, curvature_pm: Real, half_width_m: Real) -> list[Clearance]:
    """Part of z = curvature y^2 in the plane of y and z: each place that is nearest around it."""
    y0, z0, a, half = jax.lax.stop_gradient(
        as_arrays((point_m.y, point_m.z, curvature_pm, half_width_m))
    )
    cubic, linear = 2.0 * a * a, 1.0 - 2.0 * a * z0
    # where f turns; without a curvature, nowhere
    bent = cubic > 0.0
    turn2 = jnp.where(bent, -linear, 0.0) / jnp.where(bent, 3.0 * cubic, 1.0)
    turn = jnp.minimum(jnp.sqrt(jnp.maximum(turn2, 0.0)), half)

    def minimum(side: float) -> tuple[Real, Flag]:
        """Where the distance is least on a side, and whether it is anywhere."""

        def rising(y: Real) -> Real:
            return (cubic * y * y + linear) * y - side * y0

        def halved(_: Count, ends: tuple[Real, Real]) -> tuple[Real, Real]:
            low, high = ends
            middle = 0.5 * (low + high)
            below = rising(middle) < 0.0
            return jnp.where(below, middle, low), jnp.where(below, high, middle)

        low, high = jax.lax.fori_loop(0, HALVINGS, halved, (turn, half))
        return 0.5 * side * (low + high), rising(turn) <= 0.0

    def near(y: Real) -> Clearance:
        return Clearance.along(Vec3(0.0, y - point_m.y, curvature_pm * y * y - point_m.z))

    (left, on_left), (right, on_right) = minimum(1.0), minimum(-1.0)
    # one of them exists, and stands for the other one if that does not
    return [near(jnp.where(on_left, left, right)), near(jnp.where(on_right, right, left))]


def _shortest(ways: list[Vec3]) -> Vec3:
    return reduce(lambda one, other: tree_where(other.dot(other) < one.dot(one), other, one), ways)
