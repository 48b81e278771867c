"""Normals and sides of meshes."""

import numpy as np
import pytest
import trimesh

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.shaded_mesh import shade

GRAY = (128, 128, 128)


def colored_mesh(mesh):
    return ColoredMesh(
        np.asarray(mesh.vertices, np.float32), np.asarray(mesh.faces, np.int32), GRAY
    )


def test_a_box_keeps_its_edges():
    corners_m, normals = shade(colored_mesh(trimesh.creation.box((1.0, 2.0, 3.0))))
    assert len(corners_m) == 12
    assert np.allclose(np.abs(normals).max(axis=2), 1.0)


def test_a_ball_is_smooth():
    corners_m, normals = shade(colored_mesh(trimesh.creation.icosphere(3, 0.5)))
    # normals of a sphere are its radii, up to the tessellation
    assert np.abs(normals - corners_m / 0.5).max() < 0.02


def test_an_open_mesh_has_two_sides():
    sheet = ColoredMesh(np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32), GRAY)
    corners_m, normals = shade(sheet)
    assert len(corners_m) == 2
    assert np.allclose(normals[0], -normals[1])
    crosses = np.cross(corners_m[:, 1] - corners_m[:, 0], corners_m[:, 2] - corners_m[:, 0])
    assert (np.einsum("ij,ij->i", crosses, normals[:, 0]) > 0.0).all()


def test_an_inverted_mesh_has_two_sides():
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    box.invert()
    assert len(shade(colored_mesh(box)).corners_m) == 24


@pytest.mark.parametrize("faces", [[[0, 0, 1]], [[0, 1, 2]]])
def test_triangles_without_area_are_left_out(faces):
    flat = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], np.float32)
    colored = ColoredMesh(flat, np.array([*faces, [0, 1, 3]], np.int32), GRAY)
    assert len(shade(colored).corners_m) == 2
