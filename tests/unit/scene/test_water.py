"""Water surface of a flight."""

import numpy as np
import pytest

from kittiwake.scene.water import POINTS, Sea, has_waves


@pytest.fixture(scope="module")
def sea(otter_in_waves):
    return Sea(otter_in_waves.flight)


def test_heights_equal_those_at_the_vessel(otter_in_waves, sea):
    heights, measured = [], []
    for row in (0, 120, -1):
        position = [[otter_in_waves.column("otter", axis, row) for axis in ("x_m", "y_m")]]
        time_s = otter_in_waves.column("otter", "time_s", row)
        heights.append(float(sea.heights_world_m(time_s, np.array(position))[0]))
        measured.append(otter_in_waves.column("otter", "water_height_m", row))
    # the vessel averages the waves over its hulls
    np.testing.assert_allclose(heights, measured, atol=0.03)
    assert np.ptp(measured) > 0.05


def test_another_seed_has_other_waves(otter_in_waves, sea):
    other = Sea(otter_in_waves.flight._replace(seed=7))
    positions = np.array([[0.0, 0.0], [3.0, 1.0]])
    gap = other.heights_world_m(0.0, positions) - sea.heights_world_m(0.0, positions)
    assert np.abs(gap).max() > 0.01


def test_the_mesh_has_waves_near_its_center_and_is_flat_far_away(sea):
    mesh = sea.vertices_world_m(2.0, np.array([5.0, 3.0]))
    assert len(mesh) == POINTS**2
    near = np.linalg.norm(mesh[:, :2] - [5.0, 3.0], axis=1) < 5.0
    heights = sea.heights_world_m(2.0, mesh[near, :2])
    np.testing.assert_allclose(mesh[near, 2], heights, atol=1e-12)
    rim = np.abs(mesh[:, :2]).max(axis=1) >= np.abs(mesh[:, :2]).max() - 60.0
    np.testing.assert_allclose(mesh[rim, 2], 0.0, atol=1e-12)


def test_the_mesh_moves_by_whole_cells(sea):
    one = sea.vertices_world_m(0.0, np.array([0.0, 0.0]))
    near = sea.vertices_world_m(0.0, np.array([0.01, 0.0]))
    np.testing.assert_array_equal(one, near)
    assert (sea.vertices_world_m(0.0, np.array([9.0, 0.0]))[:, 0] > one[:, 0]).all()


def test_the_mesh_faces_upwards(sea):
    mesh = sea.mesh(0.0, np.zeros(2))
    corners = mesh.vertices_m[mesh.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (across[:, 2] > 0.0).all()


@pytest.mark.slow
def test_still_water_has_no_waves(staged):
    assert not has_waves(staged("cruise-otter"))
    assert has_waves(staged("otter-in-waves"))
