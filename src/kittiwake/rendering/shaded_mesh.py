"""Looks as meshes for MuJoCo's pictures: triangles one by one, each corner with its normal.

Where triangles meet at less than ``CREASE_RAD`` their normals are mixed, so that what is round
looks round. What is closed is seen from outside only; of all else both sides are drawn.
"""

from math import cos, radians
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int

from kittiwake.rendering.look import Look

CREASE_RAD = radians(40.0)
# vertices nearer to each other than this share of a look's size are the same
SAME = 1e-6
# smaller triangles have no normal
LEAST_SHARE = 1e-12
# of what has no area
UP = np.array([0.0, 0.0, 1.0])

Triangles = Float64[np.ndarray, "triangles 3 3"]


class Shaded(NamedTuple):
    """Corners of triangles, and the surface's normal at each."""

    corners_m: Triangles
    normals: Triangles


def shaded(look: Look) -> Shaded:
    """A look as it is drawn."""
    corners_m = look.vertices_m.astype(float)[look.faces]
    places = _places(corners_m)
    areas = np.cross(corners_m[:, 1] - corners_m[:, 0], corners_m[:, 2] - corners_m[:, 0])
    size_m = np.ptp(corners_m.reshape(-1, 3), axis=0).max(initial=0.0)
    real = np.linalg.norm(areas, axis=1) > LEAST_SHARE * size_m**2
    corners_m, places, areas = corners_m[real], places[real], areas[real]
    normals = _mixed(places, areas)
    if _closed(corners_m, places):
        return Shaded(corners_m, normals)
    return _both_sides(corners_m, normals)


def bendable(
    vertices_m: Float[np.ndarray, "vertices 3"], faces: Int[np.ndarray, "faces 3"]
) -> Shaded:
    """Of a surface that changes: as many triangles whatever its shape, smooth, from both sides."""
    corners_m = vertices_m.astype(float)[faces]
    areas = np.cross(corners_m[:, 1] - corners_m[:, 0], corners_m[:, 2] - corners_m[:, 0])
    total = np.zeros(vertices_m.shape)
    np.add.at(total, faces.ravel(), np.repeat(areas, 3, axis=0))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals = np.where(length > 0.0, total / np.where(length > 0.0, length, 1.0), UP)[faces]
    return _both_sides(corners_m, normals)


def _both_sides(corners_m: Triangles, normals: Triangles) -> Shaded:
    return Shaded(
        np.concatenate([corners_m, corners_m[:, ::-1]]),
        np.concatenate([normals, -normals[:, ::-1]]),
    )


def _places(corners_m: Triangles) -> Int[np.ndarray, "triangles 3"]:
    """A number for each corner, the same for those at the same place."""
    points_m = corners_m.reshape(-1, 3)
    size_m = np.ptp(points_m, axis=0).max(initial=0.0) or 1.0
    cells = np.round(points_m / (SAME * size_m)).astype(np.int64)
    _, numbers = np.unique(cells, axis=0, return_inverse=True)
    return numbers.reshape(-1, 3)


def _mixed(places: Int[np.ndarray, "triangles 3"], areas: np.ndarray) -> Triangles:
    """At each corner the mean of the normals that do not differ much, larger triangles first."""
    unit = areas / np.linalg.norm(areas, axis=1)[:, None]
    order = np.argsort(places.ravel(), kind="stable")
    _, counts = np.unique(places, return_counts=True)
    # each corner beside each one at its place
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    own = np.repeat(np.arange(order.size), np.repeat(counts, counts))
    begins = np.cumsum(np.repeat(counts, counts)) - np.repeat(counts, counts)
    other = starts[own] + np.arange(own.size) - begins[own]
    one, two = order[own], order[other]
    alike = np.einsum("ij,ij->i", unit[one // 3], unit[two // 3]) > cos(CREASE_RAD)
    total = np.zeros((places.size, 3))
    np.add.at(total, one[alike], areas[two[alike] // 3])
    return (total / np.linalg.norm(total, axis=1)[:, None]).reshape(-1, 3, 3)


def _closed(corners_m: Triangles, places: Int[np.ndarray, "triangles 3"]) -> bool:
    """Whether each edge is run along in both directions, and the inside is inside."""
    start, end = places.ravel(), np.roll(places, -1, axis=1).ravel()
    count = int(places.max(initial=0)) + 1
    there, back = start * count + end, end * count + start
    volume = np.einsum("ij,ij->i", corners_m[:, 0], np.cross(corners_m[:, 1], corners_m[:, 2]))
    return bool(np.array_equal(np.sort(there), np.sort(back))) and float(volume.sum()) > 0.0
