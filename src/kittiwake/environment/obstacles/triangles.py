"""Bounding volume hierarchy of triangles, so that a ray or a point tests few of them.

The tree is a full binary one, stored by level: node i has the children 2 i and 2 i + 1, from the
root at 1; each leaf holds equally many triangles. On every level the triangles of a node are split
at the median of their centers along the axis of largest extent. A ray traverses the tree in a fixed
order without a stack: after a node that it misses, and after a leaf, follows the next sibling of
the nearest ancestor that has one, which is i + 1 without its trailing zeros.

Corners are stored in the mesh's own unit, in which the largest coordinate is between a half and
one: a file in micrometers has the same triangles as one in meters. A ray leaves a box later by the
rounding error of its distance (Ize 2013, "Robust BVH ray traversal"), so that it cannot pass
between two boxes that touch.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.core.arrays import as_arrays
from kittiwake.environment.obstacles.intersections import triangle
from kittiwake.environment.obstacles.nearest import facet
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.clearance import Body
from kittiwake.world.ray import MIN_SLOPE, Nearest, Ray

LEAF_SIZE = 4
# rounding errors of the distances of two planes, relative to them
ROUNDINGS = 4.0
# margin of the boxes around their triangles, relative to the largest coordinate, for rounding
MARGIN = 1e-5

Corners = Float[np.ndarray, "triangles 3 3"]


class TriangleMesh(Module):
    """Triangles by their corners, in the order of a tree of bounding boxes.

    Attributes:
        source: origin of the triangles, such as a file.
        unit_m: unit of the other fields, a power of two.
        corners: corners of the triangles of each leaf.
        boxes: smallest and then largest coordinates of each node; the first row is unused.
    """

    source: str = field(static=True)
    unit_m: Real
    corners: Float[Array | np.ndarray, "leaves triangles 3 3"]
    boxes: Float[Array | np.ndarray, "nodes 6"]

    @classmethod
    def of(cls, corners_m: Corners, source: str) -> "TriangleMesh":
        """Return the tree over at least one triangle."""
        levels = max(0, math.ceil(math.log2(len(corners_m) / LEAF_SIZE)))
        leaves = 2**levels
        # the first triangles are repeated to fill the leaves, which no ray can detect
        filled = np.resize(corners_m, (math.ceil(len(corners_m) / leaves) * leaves, 3, 3))
        unit_m = math.ldexp(1.0, math.frexp(float(np.abs(corners_m).max()))[1])
        filled = filled / unit_m
        for level in range(levels):
            filled = _split(filled, 2**level)
        grouped = filled.reshape(leaves, -1, 3, 3)
        return cls(source, unit_m, grouped, _boxes(grouped))

    def first(self, ray: Ray, low: Real, high: Real) -> Nearest:
        """Return the nearest triangle from the distance ``low`` to below ``high``, by its index.

        The ray and all distances are in the mesh's unit; without a triangle the distance is
        infinite. Gradients are stopped.
        """
        ray, low, high = jax.lax.stop_gradient((ray, low, high))
        dtype = jnp.result_type(ray.origin_m.x)
        boxes, corners = jnp.asarray(self.boxes, dtype), jnp.asarray(self.corners, dtype)
        boxes, corners = jax.lax.stop_gradient((boxes, corners))
        leaves, size = corners.shape[:2]
        corners = corners.reshape(leaves, -1)
        high = jnp.asarray(high, dtype)

        def unfinished(walk: tuple[Integer, Nearest]) -> Flag:
            return walk[0] != 0

        def advance(walk: tuple[Integer, Nearest]) -> tuple[Integer, Nearest]:
            node, best = walk
            entered = _meets_box(ray, boxes[node], low, best.distance_m)
            leaf = node - leaves
            tested = entered & (leaf >= 0)
            row = corners[jnp.maximum(leaf, 0)]
            for i in range(size):
                t, exists = triangle(ray, *_corners(row[9 * i : 9 * i + 9]))
                nearer = tested & exists & (t >= low) & (t < best.distance_m)
                best = Nearest(
                    jnp.where(nearer, t, best.distance_m),
                    jnp.where(nearer, leaf * size + i, best.index),
                )
            return jnp.where(entered & (leaf < 0), 2 * node, _next(node)), best

        start = (jnp.asarray(1, jnp.int32), Nearest(high, jnp.asarray(-1, jnp.int32)))
        _, best = jax.lax.while_loop(unfinished, advance, start)
        return Nearest(jnp.where(best.index < 0, jnp.inf, best.distance_m), best.index)

    def nearest(self, point: Vec3, body: Body) -> Nearest:
        """Return the triangle with the smallest clearance from a body about a point, by its index.

        All is in the mesh's unit. Gradients are stopped.
        """
        point, body = jax.lax.stop_gradient(as_arrays((point, body)))
        dtype = jnp.result_type(point.x)
        boxes = jax.lax.stop_gradient(jnp.asarray(self.boxes, dtype))
        corners = jax.lax.stop_gradient(jnp.asarray(self.corners, dtype))
        leaves, size = corners.shape[:2]
        corners = corners.reshape(leaves, -1)
        radius = jnp.asarray(body.radius_m, dtype)

        def unfinished(walk: tuple[Integer, Nearest]) -> Flag:
            return walk[0] != 0

        def advance(walk: tuple[Integer, Nearest]) -> tuple[Integer, Nearest]:
            node, best = walk
            entered = _distance_from_box(point, boxes[node]) - radius < best.distance_m
            leaf = node - leaves
            row = corners[jnp.maximum(leaf, 0)]
            for i in range(size):
                gap = facet(point, *_corners(row[9 * i : 9 * i + 9])).gap_m(body)
                nearer = entered & (leaf >= 0) & (gap < best.distance_m)
                best = Nearest(
                    jnp.where(nearer, gap, best.distance_m),
                    jnp.where(nearer, leaf * size + i, best.index),
                )
            return jnp.where(entered & (leaf < 0), 2 * node, _next(node)), best

        none = Nearest(jnp.asarray(jnp.inf, dtype), jnp.asarray(-1, jnp.int32))
        return jax.lax.while_loop(unfinished, advance, (jnp.asarray(1, jnp.int32), none))[1]

    def triangle(self, index: Integer, dtype: jnp.dtype) -> tuple[Vec3, Vec3, Vec3]:
        """Return the corners of the triangle with an index."""
        corners = jnp.asarray(self.corners, dtype).reshape(-1, 9)
        return _corners(corners[jnp.maximum(index, 0)])


def _corners(row: Float[Array, "9"]) -> tuple[Vec3, Vec3, Vec3]:
    return Vec3.of(row[0:3]), Vec3.of(row[3:6]), Vec3.of(row[6:9])


def _next(node: Integer) -> Integer:
    """Return the node after a subtree; 0 after the last."""
    sibling = node + 1
    bit = sibling & -sibling
    return jnp.where(bit == sibling, 0, sibling // bit)


def _meets_box(ray: Ray, box: Float[Array, "6"], low: Real, high: Real) -> Flag:
    enters, leaves = low, high
    for i, axis in enumerate("xyz"):
        origin, slope = getattr(ray.origin_m, axis), getattr(ray.direction, axis)
        inverse = 1.0 / jnp.where(jnp.abs(slope) < MIN_SLOPE, MIN_SLOPE, slope)
        one, other = (box[i] - origin) * inverse, (box[i + 3] - origin) * inverse
        enters = jnp.maximum(enters, jnp.minimum(one, other))
        leaves = jnp.minimum(leaves, jnp.maximum(one, other))
    rounding = ROUNDINGS * float(jnp.finfo(jnp.result_type(leaves)).eps)
    return enters <= leaves * (1.0 + rounding)


def _distance_from_box(point: Vec3, box: Float[Array, "6"]) -> Real:
    """Return the distance of a point from a box; 0 inside."""
    distances = [
        jnp.maximum(jnp.maximum(box[i] - part, part - box[i + 3]), 0.0)
        for i, part in enumerate((point.x, point.y, point.z))
    ]
    return jnp.sqrt(
        distances[0] * distances[0] + distances[1] * distances[1] + distances[2] * distances[2]
    )


def _split(corners_m: Corners, nodes: int) -> Corners:
    """Sort triangles so that the lower half of each node comes before its upper half."""
    centers = corners_m.mean(axis=1).reshape(nodes, -1, 3)
    widest = np.argmax(np.ptp(centers, axis=1), axis=1)
    along = np.take_along_axis(centers, widest[:, None, None], axis=2)[:, :, 0]
    order = np.argsort(along, axis=1, kind="stable")
    grouped = corners_m.reshape(nodes, -1, 3, 3)
    return np.take_along_axis(grouped, order[:, :, None, None], axis=1).reshape(-1, 3, 3)


def _boxes(leaves_m: Float[np.ndarray, "leaves triangles 3 3"]) -> Float[np.ndarray, "nodes 6"]:
    low, high = leaves_m.min(axis=(1, 2)), leaves_m.max(axis=(1, 2))
    margin = MARGIN * np.abs(leaves_m).max()
    levels = [np.concatenate([low - margin, high + margin], axis=1)]
    while len(levels[0]) > 1:
        pairs = levels[0].reshape(-1, 2, 6)
        levels.insert(
            0, np.concatenate([pairs[:, :, :3].min(axis=1), pairs[:, :, 3:].max(axis=1)], axis=1)
        )
    return np.concatenate([levels[0], *levels])
