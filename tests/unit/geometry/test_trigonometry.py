"""Fast sine and cosine against double precision, and angles within one turn."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kittiwake.geometry.trigonometry import sin_cos, wrap_angle

# beyond 1e4 the distance between neighboring float32 numbers is itself 1e-3 rad
LARGEST = 1e4


def many_angles():
    """Return random angles of every size, and angles near multiples of a quarter turn."""
    generator = np.random.default_rng(2)
    uniform = generator.uniform(-LARGEST, LARGEST, 300_000)
    small = generator.uniform(-1.0, 1.0, 100_000) * 10.0 ** generator.uniform(-30.0, 1.0, 100_000)
    quarters = np.arange(-6366, 6367) * (math.pi / 2.0)
    edges = np.concatenate([quarters * (1.0 + k * 6e-8) for k in (-2, -1, 0, 1, 2)])
    return np.concatenate([uniform, small, edges, quarters + math.pi / 4.0]).astype(np.float32)


def test_single_precision_errs_by_less_than_2e_7(single_precision):
    angles = many_angles()
    sine, cosine = jax.jit(jax.vmap(sin_cos))(angles)
    exact = angles.astype(np.float64)
    assert sine.dtype == cosine.dtype == jnp.float32
    assert np.abs(np.asarray(sine, np.float64) - np.sin(exact)).max() < 2e-7
    assert np.abs(np.asarray(cosine, np.float64) - np.cos(exact)).max() < 2e-7


def test_single_precision_has_the_right_gradients(single_precision):
    angles = np.random.default_rng(3).uniform(-100.0, 100.0, 20_000).astype(np.float32)
    of_sine = jax.jit(jax.vmap(jax.grad(lambda a: sin_cos(a)[0])))(angles)
    of_cosine = jax.jit(jax.vmap(jax.grad(lambda a: sin_cos(a)[1])))(angles)
    exact = angles.astype(np.float64)
    # the derivative of a minimax polynomial errs more than the polynomial itself
    np.testing.assert_allclose(of_sine, np.cos(exact), rtol=0, atol=1e-6)
    np.testing.assert_allclose(of_cosine, -np.sin(exact), rtol=0, atol=1e-6)


def test_double_precision_is_the_library_s():
    angles = np.random.default_rng(4).uniform(-LARGEST, LARGEST, 1000)
    sine, cosine = jax.vmap(sin_cos)(angles)
    np.testing.assert_array_equal(sine, jnp.sin(angles))
    np.testing.assert_array_equal(cosine, jnp.cos(angles))
    # NumPy's and XLA's functions round to within one unit of each other
    np.testing.assert_allclose(sine, np.sin(angles), rtol=0, atol=3e-16)


def test_plain_numbers_stay_plain():
    assert sin_cos(0.3) == (math.sin(0.3), math.cos(0.3))
    assert not any(isinstance(value, jax.Array) for value in (*sin_cos(0.3), wrap_angle(4.0)))


@given(st.floats(-1e6, 1e6))
def test_wrapped_angle_lies_within_one_turn_and_is_equivalent(angle):
    wrapped = wrap_angle(angle)
    # the sum of an angle and pi is rounded before it is divided
    room = 4e-16 * (1.0 + abs(angle))
    assert -math.pi - room <= wrapped < math.pi + room
    assert math.cos(wrapped) == pytest.approx(math.cos(angle), abs=2.0 * room + 1e-15)
    assert math.sin(wrapped) == pytest.approx(math.sin(angle), abs=2.0 * room + 1e-15)


# the last number before pi is rounded to it when pi is added
@given(st.floats(-math.pi, math.nextafter(math.pi, 0.0), exclude_max=True))
def test_angle_within_one_turn_is_unchanged(angle):
    assert wrap_angle(angle) == angle


@pytest.mark.parametrize(
    ("angle", "expected"), [(math.pi, -math.pi), (-math.pi, -math.pi), (3.0 * math.pi, -math.pi)]
)
def test_half_a_turn_is_counted_as_negative(angle, expected):
    assert wrap_angle(angle) == pytest.approx(expected, abs=1e-15)


@given(st.floats(-3.0, 3.0), st.integers(-1000, 1000))
def test_full_turns_are_removed(angle, turns):
    # turns of 2 pi are themselves rounded
    assert wrap_angle(angle + turns * 2.0 * math.pi) == pytest.approx(angle, abs=2e-12)


def test_wrapping_is_the_same_for_plain_numbers_and_jax():
    angles = np.random.default_rng(5).uniform(-50.0, 50.0, 200)
    found = jax.vmap(wrap_angle)(angles)
    np.testing.assert_array_equal(found, [wrap_angle(angle) for angle in angles.tolist()])


def test_wrapping_leaves_the_gradient_alone():
    assert float(jax.grad(wrap_angle)(7.0)) == 1.0
