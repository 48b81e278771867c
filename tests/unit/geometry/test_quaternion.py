"""Quaternions against SciPy's rotations (whose order is xyzw), and their own algebra."""

import math
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from kittiwake.geometry.euler import EulerZYX, RotationZYX
from kittiwake.geometry.quaternion import SMALL_ANGLE_RAD, Quaternion
from kittiwake.geometry.vec3 import Vec3

V = Vec3(0.3, -1.2, 2.0)
ROTATIONS = list(Rotation.random(20, rng=np.random.default_rng(13)))


def ours(rotation):
    x, y, z, w = rotation.as_quat().tolist()
    return Quaternion(w, x, y, z)


def scipys(q):
    return Rotation.from_quat([q.x, q.y, q.z, q.w])


def assert_same_rotation(q, rotation, atol=3e-15):
    np.testing.assert_allclose(scipys(q).as_matrix(), rotation.as_matrix(), rtol=0, atol=atol)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_rotated_vector_is_that_of_the_rotation_matrix(rotation):
    np.testing.assert_allclose(
        ours(rotation).rotate(V).array, rotation.as_matrix() @ V.array, rtol=0, atol=5e-15
    )


@pytest.mark.parametrize(("a", "b"), list(pairwise(ROTATIONS)))
def test_product_turns_by_the_right_factor_first(a, b):
    product = ours(a) * ours(b)
    assert_same_rotation(product, a * b)
    by_steps = ours(a).rotate(ours(b).rotate(V))
    np.testing.assert_allclose(product.rotate(V).array, by_steps.array, rtol=0, atol=5e-15)
    assert product.norm() == pytest.approx(1.0, abs=1e-15)


def test_product_is_associative_and_not_commutative():
    a, b, c = (ours(rotation) for rotation in ROTATIONS[:3])
    np.testing.assert_allclose(((a * b) * c).array, (a * (b * c)).array, rtol=0, atol=1e-15)
    assert np.abs((a * b).array - (b * a).array).max() > 0.1


def test_units_satisfy_hamiltons_equations():
    one = Quaternion.identity()
    i, j, k = (Quaternion(0.0, *axis) for axis in np.eye(3).tolist())
    minus_one = Quaternion(-1.0, 0.0, 0.0, 0.0)
    assert i * j == k
    assert j * k == i
    assert k * i == j
    assert i * i == j * j == k * k == i * j * k == minus_one
    assert one * i == i * one == i


@pytest.mark.parametrize("rotation", ROTATIONS[:5])
def test_inverse_undoes_the_rotation(rotation):
    q = ours(rotation)
    assert_same_rotation(q.inverse(), rotation.inv())
    np.testing.assert_allclose((q * q.inverse()).array, [1.0, 0.0, 0.0, 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(q.inverse().rotate(q.rotate(V)).array, V.array, rtol=0, atol=5e-15)


def test_opposite_quaternions_are_one_rotation():
    q = ours(ROTATIONS[0])
    opposite = Quaternion(-q.w, -q.x, -q.y, -q.z)
    np.testing.assert_array_equal(opposite.rotate(V).array, q.rotate(V).array)


def test_normalized_keeps_the_direction():
    q = ours(ROTATIONS[0])
    scaled = Quaternion(3.0 * q.w, 3.0 * q.x, 3.0 * q.y, 3.0 * q.z)
    assert scaled.norm() == pytest.approx(3.0, rel=1e-15)
    np.testing.assert_allclose(scaled.normalized().array, q.array, rtol=0, atol=1e-15)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_angles_go_to_a_quaternion_and_back(rotation):
    yaw, pitch, roll = rotation.as_euler("ZYX").tolist()
    q = Quaternion.from_euler(EulerZYX(roll, pitch, yaw))
    assert_same_rotation(q, rotation)
    back = q.to_euler()
    # the arcsine loses digits towards a pitch of 90 deg
    room = 1e-15 * 8.0 / math.cos(pitch)
    for found, given in zip(jax.tree.leaves(back), (roll, pitch, yaw), strict=True):
        assert found == pytest.approx(given, abs=room)


@pytest.mark.parametrize("rotation", ROTATIONS[:5])
def test_angles_and_quaternion_rotate_alike(rotation):
    angles = ours(rotation).to_euler()
    np.testing.assert_allclose(
        RotationZYX.of(angles).reference_from_body(V).array,
        ours(rotation).rotate(V).array,
        rtol=0,
        atol=2e-14,
    )


@pytest.mark.parametrize("pitch", [math.pi / 2.0, -math.pi / 2.0])
def test_straight_up_and_down_have_a_pitch_of_a_quarter_turn(pitch):
    found = Quaternion.from_euler(EulerZYX(0.0, pitch, 0.4)).to_euler()
    # an arcsine near one knows half the digits
    assert found.pitch_rad == pytest.approx(pitch, abs=2e-8)
    assert all(math.isfinite(angle) for angle in jax.tree.leaves(found))


@pytest.mark.parametrize("length", [3.0, 1.0, 1e-2, 2e-4, SMALL_ANGLE_RAD, 9e-5, 1e-8, 0.0])
def test_rotation_vector_is_the_exponential_map(length):
    direction = np.array([2.0, -3.0, 6.0]) / 7.0
    vector = Vec3.of((length * direction).tolist())
    expected = Rotation.from_rotvec(length * direction)
    q = Quaternion.from_rotation_vector(vector)
    assert_same_rotation(q, expected, atol=1e-15)
    assert q.norm() == pytest.approx(1.0, abs=1e-15)
    # a small rotation must be right in relation to itself
    assert scipys(q).magnitude() == pytest.approx(length, rel=1e-12, abs=1e-300)


@pytest.mark.slow
def test_rotation_vector_has_a_gradient_at_zero():
    def components(numbers):
        return Quaternion.from_rotation_vector(Vec3.of(numbers)).array

    found = jax.jacrev(components)(jnp.zeros(3))
    # half the vector to first order, and no change of the scalar
    np.testing.assert_allclose(found, [[0.0] * 3, *(0.5 * np.eye(3))], rtol=0, atol=1e-15)


def test_small_steps_add_up_to_the_whole_turn():
    step = Quaternion.from_rotation_vector(Vec3(0.0, 0.0, 2.0 * math.pi / 1000.0))
    q = Quaternion.identity()
    for _ in range(1000):
        q = q * step
    # a full turn is minus one; each product rounds once
    np.testing.assert_allclose(q.array, [-1.0, 0.0, 0.0, 0.0], rtol=0, atol=1e-13)


def test_plain_numbers_and_jax_agree():
    rpy = [0.3, -0.4, 2.0]

    def through(values):
        q = Quaternion.from_euler(EulerZYX(*values))
        turned = q * Quaternion.from_rotation_vector(Vec3(*values))
        back = turned.normalized().to_euler()
        return [*turned.array, turned.norm(), back.roll_rad, back.pitch_rad, back.yaw_rad]

    plain = through(rpy)
    assert not any(isinstance(value, jax.Array) for value in plain)
    traced = jax.jit(through)([jnp.asarray(value) for value in rpy])
    # two libraries' sines, and a compiler that contracts products and sums
    np.testing.assert_allclose(traced, plain, rtol=0, atol=3e-15)


def test_mapped_rotations_equal_a_loop():
    quaternions = jnp.asarray([ours(rotation).array for rotation in ROTATIONS])
    mapped = jax.vmap(lambda row: Quaternion(*row).rotate(V).array)(quaternions)
    expected = [rotation.apply(V.array) for rotation in ROTATIONS]
    np.testing.assert_allclose(mapped, expected, rtol=0, atol=5e-15)


def test_a_quaternion_is_a_sequence_of_four_numbers():
    q = Quaternion(1.0, 0.0, 0.0, 0.0)
    assert ([*q], q[0], len(q)) == ([1.0, 0.0, 0.0, 0.0], 1.0, 4)
    np.testing.assert_array_equal(np.asarray(q), [1.0, 0.0, 0.0, 0.0])
    assert Quaternion.of(np.array([0.0, 1.0, 0.0, 0.0])) == Quaternion(0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize("rotation", ROTATIONS)
def test_matrices_are_those_of_scipy_and_lead_back(rotation):
    q = ours(rotation)
    # a few roundings of numbers up to one
    np.testing.assert_allclose(q.matrix, rotation.as_matrix(), rtol=0, atol=2e-15)
    assert_same_rotation(Quaternion.from_matrix(rotation.as_matrix()), rotation)
    traced = jax.jit(Quaternion.from_matrix)(jnp.asarray(rotation.as_matrix()))
    assert_same_rotation(jax.tree.map(float, traced), rotation)


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_survive_their_matrix(axis):
    rotation = Rotation.from_rotvec(np.pi * np.eye(3)[axis])
    assert_same_rotation(Quaternion.from_matrix(rotation.as_matrix()), rotation)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (2.0 * np.eye(3), "determinant 8 and an orthogonality error of 3;"),
        (np.diag([1.0, 1.0, -1.0]), "determinant -1 and an orthogonality error of 0;"),
        (np.zeros((3, 3)), "determinant 0 and an orthogonality error of 1;"),
        (jnp.full((3, 3), jnp.nan), "must be finite numbers"),
        (np.eye(3) + 2e-4, "orthogonality error of 0.0004"),
        ([[1.0, 0.0], [0.0, 1.0]], r"shape \(2, 2\); must be \(3, 3\)"),
    ],
)
def test_refuses_a_matrix_that_is_no_rotation(matrix, message):
    with pytest.raises(ValueError, match=message):
        Quaternion.from_matrix(matrix)


def test_takes_matrices_rounded_to_single_precision_or_four_decimals():
    for rotation in ROTATIONS:
        exact = rotation.as_matrix()
        assert_same_rotation(Quaternion.from_matrix(np.round(exact, 4)), rotation, atol=2e-4)
        assert_same_rotation(Quaternion.from_matrix(exact.astype(np.float32)), rotation, atol=2e-7)


@pytest.mark.slow
def test_traced_matrices_are_not_checked():
    scaled = jax.vmap(Quaternion.from_matrix)(2.0 * jnp.eye(3)[None])
    assert scaled.w.shape == (1,)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_slerp_is_that_of_scipy(t):
    for start, end in pairwise(ROTATIONS):
        between = Slerp([0.0, 1.0], Rotation.concatenate([start, end]))(t)
        # arctangent and sines of a rotation by up to pi
        assert_same_rotation(ours(start).slerp(ours(end), t), between, atol=2e-14)


def test_slerp_between_equal_rotations_has_a_gradient():
    q = ours(ROTATIONS[0])
    slope = jax.grad(lambda w: Quaternion(w, q.x, q.y, q.z).slerp(q, 0.5).x)(q.w)
    assert np.isfinite(slope)


def test_rotation_vectors_lead_back_to_their_rotation():
    for rotation in ROTATIONS:
        vector = ours(rotation).to_rotation_vector()
        np.testing.assert_allclose(vector.array, rotation.as_rotvec(), rtol=0, atol=1e-14)
    tiny = Quaternion.from_rotation_vector(Vec3(1e-9, 0.0, 0.0)).to_rotation_vector()
    assert tiny.x == pytest.approx(1e-9, rel=1e-12)


def test_rows_of_quaternions_are_refused_with_the_way_that_takes_them():
    rows = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    of = getattr(Quaternion.of.__func__, "__wrapped__", Quaternion.of.__func__)
    with pytest.raises(ValueError, match=r"shape \(2, 4\); must be 4 numbers.*jax.vmap"):
        of(Quaternion, rows)
    yaws_rad = jax.vmap(lambda row: Quaternion.of(row).to_euler().yaw_rad)(rows)
    np.testing.assert_allclose(yaws_rad, [0.0, np.pi])
