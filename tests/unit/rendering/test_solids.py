"""Triangle meshes of solids."""

import math

import numpy as np
import pytest
import trimesh

from kittiwake.contact.solid import Solid
from kittiwake.rendering.shapes import is_closed
from kittiwake.rendering.solids import mesh_of, shape_of

TURNED = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)  # z to x


@pytest.mark.parametrize(
    ("solid", "volume_m3", "share"),
    [
        (Solid("box", (1.0, 2.0, 0.5)), 8.0, 1.0),
        # inscribed polyhedra
        (Solid("sphere", (2.0,)), 4.0 / 3.0 * math.pi * 8.0, 0.97),
        (Solid("cylinder", (1.0, 1.5)), math.pi * 3.0, 0.99),
        (Solid("capsule", (1.0, 1.5)), math.pi * (3.0 + 4.0 / 3.0), 0.98),
    ],
)
def test_a_solid_is_closed_and_has_its_volume(solid, volume_m3, share):
    mesh = mesh_of([solid], (1, 2, 3))
    assert is_closed(mesh)
    volume = trimesh.Trimesh(mesh.vertices_m, mesh.faces).volume
    assert share * volume_m3 <= volume <= volume_m3 * (1.0 + 1e-6)


def test_a_hull_is_the_convex_hull_of_its_corners():
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]])
    mesh = mesh_of([Solid("hull", corners_m=corners)], (1, 2, 3))
    assert is_closed(mesh)
    assert trimesh.Trimesh(mesh.vertices_m, mesh.faces).volume == pytest.approx(1.0 / 6.0, rel=1e-5)


def test_a_solid_has_its_pose():
    shape = shape_of(Solid("cylinder", (0.1, 2.0), (5.0, 6.0, 7.0), TURNED))
    low, high = shape.vertices_m.min(axis=0), shape.vertices_m.max(axis=0)
    np.testing.assert_allclose(low[0], 3.0, atol=1e-12)
    np.testing.assert_allclose(high[0], 9.0 - 2.0, atol=1e-12)
    np.testing.assert_allclose([low[1], high[1]], [5.9, 6.1], atol=1e-12)


def test_a_plane_is_drawn_at_its_height():
    shape = shape_of(Solid("plane", (), (0.0, 0.0, 3.0)), plane_m=10.0)
    assert shape.vertices_m[:, 2].max() == pytest.approx(3.0)
    assert np.ptp(shape.vertices_m[:, 0]) == pytest.approx(10.0)


def test_an_open_surface_is_not_closed():
    box = mesh_of([Solid("box", (1.0, 1.0, 1.0))], (1, 2, 3))
    assert not is_closed(box._replace(faces=box.faces[1:]))
