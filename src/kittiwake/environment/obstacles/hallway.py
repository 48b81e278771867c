"""A hallway along a line of points: walls left and right, floor and ceiling if asked for.

At each point the walls meet on the line that halves its angle: with the normals m and n to the left
of the ways before and after it, (m + n) / (1 + m n) times half the width aside (a mitre joint). All
is made of triangles without a thickness; walls are upright and follow the points' heights.
"""

import math
from typing import Annotated, Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.contact.solid import Solid, sheet
from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.obstacles.meetings import first, triangle
from kittiwake.environment.obstacles.nearest import facet
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body
from kittiwake.world.ray import AbstractObstacle, Ray, nearest_of

SHARPEST_TURN_RAD = math.radians(150.0)

Corners = Float[Array, "3 3"]
Line = Float[Array, "points 3"]


class Hallway(AbstractObstacle):
    """Walls on both sides of a line along the middle of the floor; open at both ends."""

    points_world_m: tuple[Vec3, ...]
    width_m: Annotated[Real, POSITIVE]
    height_m: Annotated[Real, POSITIVE]
    floor: bool = eqx.field(static=True, default=False)
    ceiling: bool = eqx.field(static=True, default=False)

    def __check_init__(self) -> None:
        """Refuses a line that no hallway can follow."""
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
        def off_m(corners: Corners) -> Real:
            t, exists = triangle(ray, *map(Vec3.of, corners))
            return jnp.where(exists, jnp.abs(t - distance_m), jnp.inf)

        triangles = self._triangles(ray.origin_m)
        one, two, three = triangles[nearest_of(triangles, off_m).place]
        return Vec3.of(two - one).cross(Vec3.of(three - one))

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        def left_m(corners: Corners) -> Real:
            return facet(point_world_m, *map(Vec3.of, corners)).left_m(body)

        return nearest_of(self._triangles(point_world_m), left_m).distance_m

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
        """In the precision of a point."""
        left, right, left_top, right_top = self._edges(jnp.result_type(point.x))
        strips = [(left, left_top), (right, right_top)]
        strips += [(left, right)] if self.floor else []
        strips += [(left_top, right_top)] if self.ceiling else []
        return jnp.concatenate([half for strip in strips for half in _halves(*strip)])

    def _edges(self, dtype: Any) -> list[Line]:
        """Along the foot of the left and of the right wall, and along their tops."""
        numbers = [(p.x, p.y, p.z) for p in self.points_world_m]
        points = jnp.stack([jnp.stack([jnp.asarray(n, dtype) for n in row]) for row in numbers])
        level = jnp.asarray([[1.0, 1.0, 0.0]], dtype)
        ways = (points[1:] - points[:-1]) * level
        lefts = jnp.stack([-ways[:, 1], ways[:, 0], ways[:, 2]], axis=1)
        lefts = lefts / jnp.linalg.norm(lefts, axis=1, keepdims=True)
        before, after = jnp.concatenate([lefts[:1], lefts]), jnp.concatenate([lefts, lefts[-1:]])
        mitre = (before + after) / (1.0 + jnp.sum(before * after, axis=1, keepdims=True))
        aside = mitre * (0.5 * self.width_m)
        up = jnp.asarray([[0.0, 0.0, 1.0]], dtype) * self.height_m
        return [points + aside, points - aside, points + aside + up, points - aside + up]


def _halves(one: Line, other: Line) -> list[Float[Array, "triangles 3 3"]]:
    """The strip between two lines as triangles: two for each piece."""
    return [
        jnp.stack([one[:-1], one[1:], other[:-1]], axis=1),
        jnp.stack([other[1:], other[:-1], one[1:]], axis=1),
    ]


def _problem(points_m: Float[np.ndarray, "points 2"], width_m: float) -> str | None:
    """Why no hallway of a width can follow a line, if none can."""
    if len(points_m) < 2:
        return "a hallway needs two points at least; write where it begins and where it ends"
    ways = np.diff(points_m, axis=0)
    lengths = np.hypot(*ways.T)
    if not lengths.all():
        place = int(np.argmin(lengths)) + 1
        return f"points {place} and {place + 1} lie above each other; leave one of them out"
    headings = np.arctan2(ways[:, 1], ways[:, 0])
    turns = (np.diff(headings) + math.pi) % (2.0 * math.pi) - math.pi
    if turns.size and np.abs(turns).max() > SHARPEST_TURN_RAD:
        place = int(np.argmax(np.abs(turns)))
        return (
            f"at point {place + 2} the hallway turns by {math.degrees(abs(turns[place])):.0f} "
            f"degrees, {math.degrees(SHARPEST_TURN_RAD):.0f} are allowed; turn at two points"
        )
    # on the inner side of a turn a wall is shorter than its way by this
    cuts = 0.5 * width_m * np.tan(0.5 * np.concatenate([[0.0], turns, [0.0]]))
    least = np.abs(cuts[:-1] + cuts[1:])
    if (lengths <= least).any():
        place = int(np.argmax(least - lengths))
        return (
            f"between points {place + 1} and {place + 2} are {lengths[place]:g} m, too short for a "
            f"width of {width_m:g} m to turn; write a width_m that is smaller, or place them "
            f"more than {least[place]:g} m apart"
        )
    return None
