"""Selection of vehicles by a box in the image."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser")

from kittiwake.cockpit.box_selection import in_box

FOV_RAD = np.pi / 2
# half of the image's height is 1 m at a distance of 1 m
CAMERA = SimpleNamespace(
    # looks north: right is east, down is -z, ahead is y
    wxyz=np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0]),
    position=np.array([0.0, -10.0, 2.0]),
    fov=FOV_RAD,
    aspect=2.0,
)


def inside(position, low, high):
    return bool(in_box(CAMERA, np.array([position], float), low, high)[0])


def test_the_target_is_in_the_middle():
    assert inside([0, 0, 2], (0.49, 0.49), (0.51, 0.51))
    assert not inside([0, 0, 2], (0.51, 0.0), (1.0, 1.0))


def test_east_is_right_and_up_is_up():
    # 10 m away the image reaches 20 m to the east and 10 m up
    assert inside([10, 0, 2], (0.74, 0.49), (0.76, 0.51))
    assert inside([0, 0, 7], (0.49, 0.24), (0.51, 0.26))


def test_vehicles_behind_the_camera_or_without_a_position_are_outside():
    assert not inside([0, -20, 2], (0.0, 0.0), (1.0, 1.0))
    assert not inside([np.nan] * 3, (0.0, 0.0), (1.0, 1.0))
