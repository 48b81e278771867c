"""Grid of the ground."""

import numpy as np

from kittiwake.scene.extent import extent_of
from kittiwake.scene.grid import GroundGrid


def test_bold_lines_are_labeled_with_their_coordinates(staged):
    flight = staged("hover-hummingbird")
    grid, extent = GroundGrid(flight), extent_of(flight)
    labels = grid.coordinates()
    assert 4 <= len(labels) <= 20
    for label in labels:
        axis = "xy".index(label.text[0])
        value = float(label.text.split()[1])
        assert label.position_world_m[axis] == value
        assert value % grid.section_m == 0.0
        assert label.position_world_m[1 - axis] == extent.low_world_m[1 - axis]


def test_the_scale_bar_is_as_long_as_it_says(staged):
    for name in ("hover-hummingbird", "survey-lake", "flock-8"):
        bar, label = GroundGrid(staged(name)).scale_bar()
        assert np.linalg.norm(bar[0, 1] - bar[0, 0]) == float(label.text.removesuffix(" m"))


def test_axes_begin_at_the_origin_of_the_world_if_it_is_in_view(staged):
    grid = GroundGrid(staged("hover-hummingbird"))
    np.testing.assert_allclose(grid.axes()[:, 0, :2], 0.0)
    np.testing.assert_allclose(np.diff(grid.axes(), axis=1)[:, 0], 2.0 * grid.cell_m * np.eye(3))


def test_the_grid_of_water_is_at_its_surface(staged):
    assert GroundGrid(staged("deck-landing")).ground_m == 0.0
