"""Water as the flight had it."""

import numpy as np
import pytest

from kittiwake.scene.water import POINTS, Sea, has_waves


@pytest.fixture(scope="module")
def sea(otter_in_waves):
    return Sea(otter_in_waves.show)


def test_heights_are_those_that_the_vessel_met(otter_in_waves, sea):
    heights, met = [], []
    for row in (0, 120, -1):
        place = [[otter_in_waves.column("otter", axis, row) for axis in ("x_m", "y_m")]]
        time_s = otter_in_waves.column("otter", "time_s", row)
        heights.append(float(sea.heights_world_m(time_s, np.array(place))[0]))
        met.append(otter_in_waves.column("otter", "water_height_m", row))
    # the vessel feels the mean over its hulls, the shortest waves less
    np.testing.assert_allclose(heights, met, atol=0.03)
    assert np.ptp(met) > 0.05


def test_another_seed_has_other_waves(otter_in_waves, sea):
    other = Sea(otter_in_waves.show._replace(seed=7))
    places = np.array([[0.0, 0.0], [3.0, 1.0]])
    gap = other.heights_world_m(0.0, places) - sea.heights_world_m(0.0, places)
    assert np.abs(gap).max() > 0.01


def test_the_sheet_has_the_heights_near_the_vessel_and_is_flat_far_away(sea):
    sheet = sea.vertices_world_m(2.0, np.array([5.0, 3.0]))
    assert len(sheet) == POINTS**2
    near = np.linalg.norm(sheet[:, :2] - [5.0, 3.0], axis=1) < 5.0
    heights = sea.heights_world_m(2.0, sheet[near, :2])
    np.testing.assert_allclose(sheet[near, 2], heights, atol=1e-12)
    rim = np.abs(sheet[:, :2]).max(axis=1) >= np.abs(sheet[:, :2]).max() - 60.0
    np.testing.assert_allclose(sheet[rim, 2], 0.0, atol=1e-12)


def test_the_sheet_follows_by_whole_cells(sea):
    one = sea.vertices_world_m(0.0, np.array([0.0, 0.0]))
    near = sea.vertices_world_m(0.0, np.array([0.01, 0.0]))
    np.testing.assert_array_equal(one, near)
    assert (sea.vertices_world_m(0.0, np.array([9.0, 0.0]))[:, 0] > one[:, 0]).all()


def test_the_sheet_is_seen_from_above(sea):
    look = sea.look(0.0, np.zeros(2))
    corners = look.vertices_m[look.faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (across[:, 2] > 0.0).all()


def test_still_water_has_no_waves(staged):
    assert not has_waves(staged("cruise-otter"))
    assert has_waves(staged("otter-in-waves"))
