"""Projection of points to pixels."""

import math

import numpy as np
import pytest

from kittiwake.rendering.view import View

AHEAD = View(np.array([-4.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), 0.7)


def test_the_target_is_at_the_center():
    view = View(np.array([-4.0, 3.0, 5.0]), np.array([1.0, 2.0, 1.0]))
    assert np.allclose(view.pixels(view.look_at_world_m[None], 640, 480), [[320.0, 240.0]])


def test_left_is_left_and_up_is_up():
    left, above = AHEAD.pixels(np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 2.0]]), 640, 480)
    assert left[0] < 320.0
    assert left[1] == pytest.approx(240.0)
    assert above[0] == pytest.approx(320.0)
    assert above[1] < 240.0


def test_the_upper_edge_is_at_half_the_field_of_view():
    rise = 4.0 * math.tan(0.35)
    assert AHEAD.pixels(np.array([[0.0, 0.0, 1.0 + rise]]), 640, 480)[0, 1] == pytest.approx(0.0)


def test_points_behind_the_eye_are_nan():
    assert np.isnan(AHEAD.pixels(np.array([[-5.0, 0.0, 1.0]]), 640, 480)).all()
