"""Triangle meshes of simple shapes with outward normals, and their combination."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.rotation import from_x_to, rotated

Point = Float[np.ndarray, "3"] | tuple[float, float, float]
Points = Float[np.ndarray, "points 3"]
Rgb = tuple[int, int, int]


class Shape(NamedTuple):
    """Triangle mesh without a color."""

    vertices_m: Points
    faces: Int[np.ndarray, "faces 3"]

    def colored(self, rgb: Rgb, opacity: float = 1.0) -> ColoredMesh:
        """Return the shape as a mesh in a color."""
        vertices, faces = self.vertices_m.astype(np.float32), self.faces.astype(np.int32)
        return ColoredMesh(vertices, faces, rgb, opacity)

    def at(self, position_m: Point, q: Float[np.ndarray, "4"] | None = None) -> "Shape":
        """Return the shape rotated about its origin, then translated."""
        points = self.vertices_m
        if q is not None:
            points = rotated(np.broadcast_to(np.asarray(q, float), (len(points), 4)), points)
        return Shape(points + np.asarray(position_m, float), self.faces)


def merge(*shapes: Shape) -> Shape:
    """Return one shape of several."""
    first = np.cumsum([0, *(len(shape.vertices_m) for shape in shapes[:-1])])
    return Shape(
        np.concatenate([shape.vertices_m for shape in shapes]),
        np.concatenate([shape.faces + n for shape, n in zip(shapes, first, strict=True)]),
    )


def is_closed(mesh: ColoredMesh) -> bool:
    """Return True if a mesh is watertight with consistent outward faces."""
    return encloses_volume(mesh.vertices_m.astype(float)[mesh.faces], mesh.faces)


def encloses_volume(
    corners_m: Float[np.ndarray, "faces 3 3"], vertices: Int[np.ndarray, "faces 3"]
) -> bool:
    """Return True if each edge occurs in both directions and the volume is positive."""
    # as 64 bits, which hold the square of the number of vertices
    start = vertices.astype(np.int64)
    start, end = start.ravel(), np.roll(start, -1, axis=1).ravel()
    count = int(vertices.max(initial=0)) + 1
    there, back = np.sort(start * count + end), np.sort(end * count + start)
    paired = np.array_equal(there, back)
    volume = np.einsum("ij,ij->i", corners_m[:, 0], np.cross(corners_m[:, 1], corners_m[:, 2]))
    return paired and float(volume.sum()) > 0.0


def box(sides_m: Point, center_m: Point = (0.0, 0.0, 0.0)) -> Shape:
    """Return an axis-aligned box."""
    half = 0.5 * np.asarray(sides_m, float)
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    return hull(signs * half + np.asarray(center_m, float))


def hull(points_m: Points) -> Shape:
    """Return the convex hull of points."""
    # imported here, since it takes a tenth of a second and most flights do not need it
    from scipy.spatial import ConvexHull

    around = ConvexHull(points_m)
    corners = around.points[around.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, around.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], around.simplices[:, ::-1], around.simplices)
    used, renumbered = np.unique(faces, return_inverse=True)
    return Shape(around.points[used], renumbered.reshape(-1, 3))


def revolved(profile_m: Float[np.ndarray, "points 2"], sections: int = 24) -> Shape:
    """Return a solid of revolution about z from a profile (radius, height), axis to axis."""
    angles = np.arange(sections) * (2.0 * np.pi / sections)
    rings = [
        np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(sections, z)])
        for radius, z in profile_m[1:-1]
    ]
    ends = [[0.0, 0.0, float(profile_m[0, 1])], [0.0, 0.0, float(profile_m[-1, 1])]]
    return _close(rings, np.array(ends))


def lofted(sections_m: Float[np.ndarray, "sections points 3"]) -> Shape:
    """Return a solid through sections of equal length, right-handed about their direction."""
    ends = np.stack([sections_m[0].mean(axis=0), sections_m[-1].mean(axis=0)])
    return _close(list(sections_m), ends)


def _close(rings: list[Points], ends: Float[np.ndarray, "2 3"]) -> Shape:
    """Return the surface between rings, closed at both ends."""
    count, here = len(rings[0]), np.arange(len(rings[0]))
    following = np.roll(here, -1)
    faces = []
    for number in range(len(rings) - 1):
        low, high = number * count, (number + 1) * count
        faces.append(np.column_stack([low + here, low + following, high + following]))
        faces.append(np.column_stack([low + here, high + following, high + here]))
    first, last = len(rings) * count, len(rings) * count + 1
    top = (len(rings) - 1) * count
    faces.append(np.column_stack([following, here, np.full(count, first)]))
    faces.append(np.column_stack([top + here, top + following, np.full(count, last)]))
    return Shape(np.concatenate([*rings, ends]), np.concatenate(faces))


def cylinder(radius_m: float, half_m: float, sections: int = 24) -> Shape:
    """Return a cylinder about z."""
    profile = [(0.0, -half_m), (radius_m, -half_m), (radius_m, half_m), (0.0, half_m)]
    return revolved(np.array(profile), sections)


def capsule(radius_m: float, half_m: float, sections: int = 24) -> Shape:
    """Return a capsule about z; a sphere if its half length is zero."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, sections // 2 + 1)
    shift = np.where(angles < 0.0, -half_m, half_m)
    profile = np.column_stack([radius_m * np.cos(angles), radius_m * np.sin(angles) + shift])
    if half_m > 0.0:
        middle = sections // 4
        low = [radius_m, -half_m]
        profile = np.insert(profile, middle, low, axis=0)
    return revolved(profile, sections)


def rod(from_m: Point, to_m: Point, radius_m: float, sections: int = 8) -> Shape:
    """Return a cylinder between two points."""
    start, way = np.asarray(from_m, float), np.asarray(to_m, float) - np.asarray(from_m, float)
    length = float(np.linalg.norm(way))
    bar = cylinder(radius_m, 0.5 * length, sections)
    along_x = bar.vertices_m[:, [2, 0, 1]] + np.array([0.5 * length, 0.0, 0.0])
    return Shape(along_x, bar.faces).at(start, from_x_to(way[None] / length)[0])


def quads(corners_m: Float[np.ndarray, "quads 4 3"]) -> Shape:
    """Return quadrilaterals, visible from the side where their corners are counterclockwise."""
    first = 4 * np.arange(len(corners_m))[:, None]
    faces = np.concatenate([first + np.array(half) for half in ((0, 1, 2), (0, 2, 3))])
    return Shape(corners_m.reshape(-1, 3), faces)


def disc(radius_m: float, sections: int = 24) -> Shape:
    """Return a flat disc, visible from above."""
    angles = np.arange(sections) * (2.0 * np.pi / sections)
    rim = radius_m * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(sections)])
    here = np.arange(sections)
    faces = np.column_stack([here, np.roll(here, -1), np.full(sections, sections)])
    return Shape(np.concatenate([rim, np.zeros((1, 3))]), faces)


def ring(inner_m: float, outer_m: float, sections: int = 32) -> Shape:
    """Return a flat ring, visible from above."""
    angles = np.arange(sections) * (2.0 * np.pi / sections)
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(sections)])
    here, following = np.arange(sections), np.roll(np.arange(sections), -1)
    faces = np.concatenate(
        [
            np.column_stack([here, sections + here, sections + following]),
            np.column_stack([here, sections + following, following]),
        ]
    )
    return Shape(np.concatenate([inner_m * circle, outer_m * circle]), faces)
