"""Conversions to NED and FRD: each is its own inverse, and all three are consistent."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.frames import swap_enu_ned, swap_euler, swap_flu_frd
from kittiwake.geometry.vec3 import Vec3

NED_FROM_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
FRD_FROM_FLU = np.diag([1.0, -1.0, -1.0])
V = Vec3(1.0, 2.0, 3.0)
ANGLES = (np.random.default_rng(9).uniform(-1.0, 1.0, (20, 3)) * [3.1, 1.5, 3.1]).tolist()


@pytest.mark.parametrize(
    ("swap", "matrix"), [(swap_enu_ned, NED_FROM_ENU), (swap_flu_frd, FRD_FROM_FLU)]
)
def test_swap_is_its_matrix_and_its_own_inverse(swap, matrix):
    np.testing.assert_array_equal(swap(V).array, matrix @ V.array)
    assert swap(swap(V)) == V
    assert np.linalg.det(matrix) == pytest.approx(1.0), "a rotation, not a mirror"


@pytest.mark.parametrize("swap", [swap_enu_ned, swap_flu_frd])
def test_swap_keeps_vector_algebra(swap):
    other = Vec3(-0.5, 0.7, 1.1)
    assert swap(V).dot(swap(other)) == pytest.approx(V.dot(other), rel=1e-15)
    # a rotation, so it may be done before or after a cross product
    np.testing.assert_allclose(
        swap(V).cross(swap(other)).array, swap(V.cross(other)).array, rtol=1e-15
    )


@pytest.mark.parametrize("rpy", ANGLES)
def test_swapped_angles_are_those_of_the_swapped_rotation(rpy):
    ned_from_frd = Rotation.from_euler("ZYX", rpy[::-1]).as_matrix()
    enu_from_flu = NED_FROM_ENU.T @ ned_from_frd @ FRD_FROM_FLU
    swapped = RotationZYX.of(swap_euler(EulerZYX(*rpy)))
    found = np.column_stack(
        [swapped.reference_from_body(Vec3.of(axis)).array for axis in np.eye(3).tolist()]
    )
    np.testing.assert_allclose(found, enu_from_flu, rtol=0, atol=1e-15)


@pytest.mark.parametrize("rpy", ANGLES)
def test_swapping_angles_twice_changes_nothing(rpy):
    again = swap_euler(swap_euler(EulerZYX(*rpy)))
    assert (again.roll_rad, again.pitch_rad) == (rpy[0], rpy[1])
    # pi/2 - (pi/2 - yaw) is rounded twice
    assert again.yaw_rad == pytest.approx(rpy[2], abs=1e-15)


def test_vehicle_that_looks_north_has_yaw_of_a_quarter_turn():
    looking_north = EulerZYX(0.0, 0.0, 0.0)
    assert swap_euler(looking_north).yaw_rad == math.pi / 2.0
    forward = RotationZYX.of(swap_euler(looking_north)).reference_from_body(Vec3(1.0, 0.0, 0.0))
    np.testing.assert_allclose(forward.array, [0.0, 1.0, 0.0], atol=1e-16)


def test_yaw_keeps_counting_whole_turns():
    assert swap_euler(EulerZYX(0.0, 0.0, 20.0)).yaw_rad == math.pi / 2.0 - 20.0
