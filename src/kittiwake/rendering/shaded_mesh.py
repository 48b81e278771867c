"""Meshes with a normal at each corner of each triangle, for MuJoCo's renderer.

Normals of triangles that meet at less than ``CREASE_RAD`` are averaged, so that round shapes are
shaded smoothly. Closed meshes are drawn from outside only, all others from both sides.
"""

from math import cos, radians
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64, Int

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shapes import encloses_volume

CREASE_RAD = radians(40.0)
# vertices closer than this share of the mesh size are merged
MERGE_SHARE = 1e-6
# smaller triangles, relative to the squared mesh size, are left out
MIN_AREA_SHARE = 1e-12
# normal of a vertex without area
UP = np.array([0.0, 0.0, 1.0])

Triangles = Float64[np.ndarray, "triangles 3 3"]


class ShadedMesh(NamedTuple):
    """Corners of triangles, and the normals at the corners."""

    corners_m: Triangles
    normals: Triangles


def shade(mesh: ColoredMesh) -> ShadedMesh:
    """Return a mesh with normals."""
    corners_m = mesh.vertices_m.astype(float)[mesh.faces]
    vertices = _vertex_indices(corners_m)
    areas = np.cross(corners_m[:, 1] - corners_m[:, 0], corners_m[:, 2] - corners_m[:, 0])
    size_m = np.ptp(corners_m.reshape(-1, 3), axis=0).max(initial=0.0)
    real = np.linalg.norm(areas, axis=1) > MIN_AREA_SHARE * size_m**2
    corners_m, vertices, areas = corners_m[real], vertices[real], areas[real]
    normals = _smooth_normals(vertices, areas)
    if encloses_volume(corners_m, vertices):
        return ShadedMesh(corners_m, normals)
    return _both_sides(corners_m, normals)


def deformable(
    vertices_m: Float[np.ndarray, "vertices 3"], faces: Int[np.ndarray, "faces 3"]
) -> ShadedMesh:
    """Return a smooth two-sided mesh, whose number of triangles does not depend on its shape."""
    corners_m = vertices_m.astype(float)[faces]
    areas = np.cross(corners_m[:, 1] - corners_m[:, 0], corners_m[:, 2] - corners_m[:, 0])
    total = np.zeros(vertices_m.shape)
    np.add.at(total, faces.ravel(), np.repeat(areas, 3, axis=0))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals = np.where(length > 0.0, total / np.where(length > 0.0, length, 1.0), UP)[faces]
    return _both_sides(corners_m, normals)


def _both_sides(corners_m: Triangles, normals: Triangles) -> ShadedMesh:
    return ShadedMesh(
        np.concatenate([corners_m, corners_m[:, ::-1]]),
        np.concatenate([normals, -normals[:, ::-1]]),
    )


def _vertex_indices(corners_m: Triangles) -> Int[np.ndarray, "triangles 3"]:
    """Return a vertex index for each corner; corners at the same position share it."""
    points_m = corners_m.reshape(-1, 3)
    size_m = np.ptp(points_m, axis=0).max(initial=0.0) or 1.0
    cells = np.round(points_m / (MERGE_SHARE * size_m)).astype(np.int64)
    _, numbers = np.unique(cells, axis=0, return_inverse=True)
    return numbers.reshape(-1, 3)


def _smooth_normals(vertices: Int[np.ndarray, "triangles 3"], areas: np.ndarray) -> Triangles:
    """Return the area-weighted mean of similar normals at each corner."""
    unit = areas / np.linalg.norm(areas, axis=1)[:, None]
    order = np.argsort(vertices.ravel(), kind="stable")
    _, counts = np.unique(vertices, return_counts=True)
    # all pairs of corners that share a vertex
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    own = np.repeat(np.arange(order.size), np.repeat(counts, counts))
    begins = np.cumsum(np.repeat(counts, counts)) - np.repeat(counts, counts)
    other = starts[own] + np.arange(own.size) - begins[own]
    one, two = order[own], order[other]
    similar = np.einsum("ij,ij->i", unit[one // 3], unit[two // 3]) > cos(CREASE_RAD)
    total = np.zeros((vertices.size, 3))
    np.add.at(total, one[similar], areas[two[similar] // 3])
    return (total / np.linalg.norm(total, axis=1)[:, None]).reshape(-1, 3, 3)
