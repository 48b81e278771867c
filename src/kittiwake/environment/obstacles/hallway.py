"""Hallway along a line of points: walls on both sides, optionally floor and ceiling.

At each point the walls meet on the bisector of its angle: with the normals m and n to the left of
the segments before and after it, at (m + n) / (1 + m n) times half the width (a miter joint). All
consists of triangles without thickness; walls are vertical and follow the points' heights.
"""

import math
from typing import Annotated

import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.contact.solid import Solid, sheet
from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.obstacles.intersections import first, triangle
from kittiwake.environment.obstacles.nearest import facet
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import field
from kittiwake.world.clearance import POINT, Body
from kittiwake.world.ray import AbstractObstacle, Ray, nearest_of

MAX_TURN_RAD = math.radians(150.0)

Corners = Float[Array, "3 3"]
Line = Float[Array, "points 3"]


class Hallway(AbstractObstacle):
    """Hallway along a line in the middle of the floor; open at both ends.

    Attributes:
        points_world_m: middle of the floor, point by point.
        width_m: distance of the walls.
        height_m: height of the walls.
        floor: whether there is a floor.
        ceiling: whether there is a ceiling.
    """

    points_world_m: tuple[Vec3, ...]
    width_m: Annotated[Real, POSITIVE]
    height_m: Annotated[Real, POSITIVE]
    floor: bool = field(static=True, default=False)
    ceiling: bool = field(static=True, default=False)

    def __post_init__(self) -> None:
        """Raise ValueError for a line that no hallway can follow."""
        numbers = [part for p in self.points_world_m for part in (p.x, p.y, p.z)]
        if not all(isinstance(number, int | float) for number in (*numbers, self.width_m)):
            return
        points = np.array(numbers, dtype=float).reshape(-1, 3)
        problem = _problem(points[:, :2], float(self.width_m))
        if problem:
            message = f"points_world_m: {problem}"
            raise ValueError(message)

    @override
    def distance_m(self, ray: Ray) -> Real:
        def distance_m(corners: Corners) -> Real:
            return first([triangle(ray, *map(Vec3.of, corners))])

        return nearest_of(self._triangles(ray.origin_m), distance_m).distance_m

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        def error_m(corners: Corners) -> Real:
            t, exists = triangle(ray, *map(Vec3.of, corners))
            return jnp.where(exists, jnp.abs(t - distance_m), jnp.inf)

        triangles = self._triangles(ray.origin_m)
        one, two, three = triangles[nearest_of(triangles, error_m).index]
        return Vec3.of(two - one).cross(Vec3.of(three - one))

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        def gap_m(corners: Corners) -> Real:
            return facet(point_world_m, *map(Vec3.of, corners)).gap_m(body)

        return nearest_of(self._triangles(point_world_m), gap_m).distance_m

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        edges = [np.asarray(edge) for edge in self._edges(jnp.result_type(float))]
        left, right, left_top, right_top = edges
        walls = [(left, left_top), (right, right_top)]
        ends = [np.stack([low[i], top[i]]) for low, top in walls for i in (0, -1)]
        return [*edges, *ends]

    @override
    def solids_world(self) -> tuple[Solid, ...]:
        pieces = np.asarray(self._triangles(self.points_world_m[0]), float)
        return tuple(solid for corners in pieces if (solid := sheet(corners)) is not None)

    def _triangles(self, point: Vec3) -> Float[Array, "triangles 3 3"]:
        """Return all triangles, in the precision of a point."""
        left, right, left_top, right_top = self._edges(jnp.result_type(point.x))
        strips = [(left, left_top), (right, right_top)]
        strips += [(left, right)] if self.floor else []
        strips += [(left_top, right_top)] if self.ceiling else []
        return jnp.concatenate([half for strip in strips for half in _halves(*strip)])

    def _edges(self, dtype: DTypeLike) -> list[Line]:
        """Return the lower edges of the left and right walls, and their upper edges."""
        numbers = [(p.x, p.y, p.z) for p in self.points_world_m]
        points = jnp.stack([jnp.stack([jnp.asarray(n, dtype) for n in row]) for row in numbers])
        level = jnp.asarray([[1.0, 1.0, 0.0]], dtype)
        segments = (points[1:] - points[:-1]) * level
        normals = jnp.stack([-segments[:, 1], segments[:, 0], segments[:, 2]], axis=1)
        normals = normals / jnp.linalg.norm(normals, axis=1, keepdims=True)
        before, after = (
            jnp.concatenate([normals[:1], normals]),
            jnp.concatenate([normals, normals[-1:]]),
        )
        miter = (before + after) / (1.0 + jnp.sum(before * after, axis=1, keepdims=True))
        side = miter * (0.5 * self.width_m)
        up = jnp.asarray([[0.0, 0.0, 1.0]], dtype) * self.height_m
        return [points + side, points - side, points + side + up, points - side + up]

    @classmethod
    @override
    def examples(cls) -> dict[str, "Hallway"]:
        return {
            "corner": cls(
                (Vec3(-5.0, 2.0, 8.0), Vec3(5.0, 2.0, 8.0), Vec3(5.0, 9.0, 8.0)), 2.0, 4.0
            )
        }


def _halves(one: Line, other: Line) -> list[Float[Array, "triangles 3 3"]]:
    """Return the strip between two lines as triangles: two for each segment."""
    return [
        jnp.stack([one[:-1], one[1:], other[:-1]], axis=1),
        jnp.stack([other[1:], other[:-1], one[1:]], axis=1),
    ]


def _problem(points_m: Float[np.ndarray, "points 2"], width_m: float) -> str | None:
    """Return the reason why no hallway of a width can follow a line, or None."""
    if len(points_m) < 2:
        return "got fewer than two points; write at least its beginning and its end"
    segments = np.diff(points_m, axis=0)
    lengths = np.hypot(*segments.T)
    if not lengths.all():
        index = int(np.argmin(lengths)) + 1
        return f"points {index} and {index + 1} have the same horizontal position; omit one of them"
    headings = np.arctan2(segments[:, 1], segments[:, 0])
    turns = (np.diff(headings) + math.pi) % (2.0 * math.pi) - math.pi
    if turns.size and np.abs(turns).max() > MAX_TURN_RAD:
        index = int(np.argmax(np.abs(turns)))
        return (
            f"at point {index + 2} the hallway turns by {math.degrees(abs(turns[index])):.0f} "
            f"degrees; at most {math.degrees(MAX_TURN_RAD):.0f} are allowed. Turn at two points"
        )
    # on the inner side of a turn a wall is shorter than its segment by this
    cuts = 0.5 * width_m * np.tan(0.5 * np.concatenate([[0.0], turns, [0.0]]))
    least = np.abs(cuts[:-1] + cuts[1:])
    if (lengths <= least).any():
        index = int(np.argmax(least - lengths))
        return (
            f"points {index + 1} and {index + 2} are {lengths[index]:g} m apart, too close for a "
            f"turn with a width of {width_m:g} m; write a smaller width_m, or points "
            f"more than {least[index]:g} m apart"
        )
    return None
