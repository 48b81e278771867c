"""Angles of a body: their rotation against SciPy's, and their rates."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.vec3 import Vec3


def angles(count=50, seed=7):
    """Roll, pitch and yaw over their whole ranges."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 3)) * [3.1, 1.5, 3.1]


def oracle(roll_pitch_yaw):
    return Rotation.from_euler("ZYX", roll_pitch_yaw[::-1])


@pytest.mark.parametrize("rpy", angles().tolist())
def test_rotation_is_that_of_turning_about_z_then_y_then_x(rpy):
    rotation, expected = RotationZYX.of(EulerZYX(*rpy)), oracle(rpy)
    v = Vec3(0.3, -1.2, 2.0)
    np.testing.assert_allclose(
        rotation.reference_from_body(v).array, expected.apply(v.array), rtol=0, atol=1e-15 * 4
    )
    np.testing.assert_allclose(
        rotation.body_from_reference(v).array, expected.inv().apply(v.array), rtol=0, atol=1e-15 * 4
    )


def test_small_angles_rotate_the_axes_in_the_documented_directions():
    nose = Vec3(1.0, 0.0, 0.0)
    # in a frame with z up: positive yaw turns to the left, positive pitch lowers the nose
    assert RotationZYX.of(EulerZYX(0.0, 0.0, 0.1)).reference_from_body(nose).y > 0.0
    assert RotationZYX.of(EulerZYX(0.0, 0.1, 0.0)).reference_from_body(nose).z < 0.0
    left = Vec3(0.0, 1.0, 0.0)
    assert RotationZYX.of(EulerZYX(0.1, 0.0, 0.0)).reference_from_body(left).z > 0.0


def test_directions_are_opposite_to_each_other():
    rotation, v = RotationZYX.of(EulerZYX(0.3, -0.4, 2.0)), Vec3(1.0, 2.0, 3.0)
    back = rotation.body_from_reference(rotation.reference_from_body(v))
    np.testing.assert_allclose(back.array, v.array, rtol=1e-15)


@pytest.mark.parametrize("rpy", angles(10).tolist())
def test_angle_rates_are_those_of_a_body_that_turns(rpy):
    omega = np.array([0.4, -0.7, 1.1])
    step = 1e-6
    before = (oracle(rpy) * Rotation.from_rotvec(-step * omega)).as_euler("ZYX")[::-1]
    after = (oracle(rpy) * Rotation.from_rotvec(step * omega)).as_euler("ZYX")[::-1]
    expected = (after - before) / (2.0 * step)
    found = RotationZYX.of(EulerZYX(*rpy)).angle_rates(Vec3.of(omega.tolist()))
    # central differences of 1e-6 leave 1e-9, more where pitch is near the singularity
    scale = 1.0 / math.cos(rpy[1]) ** 3
    np.testing.assert_allclose(found.array, expected, rtol=0, atol=1e-8 * scale)


def test_level_body_has_its_rates_as_angle_rates():
    found = RotationZYX.of(EulerZYX(0.0, 0.0, 1.0)).angle_rates(Vec3(0.1, 0.2, 0.3))
    np.testing.assert_array_equal(found.array, [0.1, 0.2, 0.3])


def test_plain_numbers_and_jax_agree():
    rpy, v = [0.3, -0.4, 2.0], Vec3(1.0, 2.0, 3.0)
    plain = RotationZYX.of(EulerZYX(*rpy)).reference_from_body(v)
    traced = jax.jit(lambda a: RotationZYX.of(EulerZYX(*a)).reference_from_body(v).array)
    assert isinstance(plain.array, np.ndarray)
    # two libraries' sines, and a compiler that contracts products and sums
    np.testing.assert_allclose(traced(jnp.asarray(rpy)), plain.array, rtol=0, atol=2e-15)
