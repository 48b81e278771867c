"""Array operations on quaternions compared with single ones."""

import numpy as np

from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.rendering.rotation import about, composed, from_x_to, rotated, yaws_rad

RNG = np.random.default_rng(3)
Q = RNG.normal(size=(5, 4))
Q /= np.linalg.norm(Q, axis=1, keepdims=True)
V = RNG.normal(size=(5, 3))


def test_rotated_vectors_equal_single_rotations():
    one_by_one = [
        [float(part) for part in Quaternion(*q).rotate(Vec3(*v)).array]
        for q, v in zip(Q.tolist(), V.tolist(), strict=True)
    ]
    np.testing.assert_allclose(rotated(Q, V), one_by_one, atol=1e-12)


def test_composition_applies_the_second_rotation_first():
    other = Q[::-1].copy()
    np.testing.assert_allclose(
        rotated(composed(Q, other), V), rotated(Q, rotated(other, V)), atol=1e-12
    )


def test_x_is_rotated_to_any_direction():
    directions = V / np.linalg.norm(V, axis=1, keepdims=True)
    directions[0] = [-1.0, 0.0, 0.0]
    ahead = np.tile([1.0, 0.0, 0.0], (5, 1))
    np.testing.assert_allclose(rotated(from_x_to(directions), ahead), directions, atol=1e-12)


def test_yaw_equals_that_of_zyx_angles():
    q = Quaternion.from_euler(EulerZYX(0.3, -0.2, 2.5))
    one = np.array([[float(q.w), float(q.x), float(q.y), float(q.z)]])
    np.testing.assert_allclose(yaws_rad(one), [2.5], atol=1e-12)
    np.testing.assert_allclose(yaws_rad(about(2, np.array([-1.0]))), [-1.0], atol=1e-12)
