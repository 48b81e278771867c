"""Vectors: their algebra, and the same results for plain numbers and for JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.geometry.vec3 import Vec3

SEED = 11


def plain(count):
    """Vectors of Python floats."""
    return [Vec3.of(row) for row in np.random.default_rng(SEED).normal(size=(count, 3)).tolist()]


def traced(v):
    return jax.tree.map(jnp.asarray, v)


def test_operations_are_those_of_linear_algebra():
    a, b = plain(2)
    np.testing.assert_array_equal((a + b).array, a.array + b.array)
    np.testing.assert_array_equal((a - b).array, a.array - b.array)
    np.testing.assert_array_equal((-a).array, -a.array)
    np.testing.assert_array_equal((a * 3.0).array, a.array * 3.0)
    np.testing.assert_array_equal((3.0 * a).array, a.array * 3.0)
    np.testing.assert_array_equal((a / 3.0).array, a.array / 3.0)
    # a sum of three products may be rounded in another order
    np.testing.assert_allclose(a.cross(b).array, np.cross(a.array, b.array), rtol=1e-14)
    assert a.dot(b) == pytest.approx(np.dot(a.array, b.array), rel=1e-14)
    assert a.norm() == pytest.approx(np.linalg.norm(a.array), rel=1e-15)


def test_axes_make_a_right_handed_triple():
    x, y, z = (Vec3.of(row) for row in np.eye(3).tolist())
    assert x.cross(y) == z
    assert y.cross(z) == x
    assert z.cross(x) == y


def test_cross_product_is_normal_to_both_factors_and_anticommutes():
    a, b = plain(2)
    normal = a.cross(b)
    assert normal.dot(a) == pytest.approx(0.0, abs=1e-15)
    assert normal.dot(b) == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_array_equal(b.cross(a).array, (-normal).array)


def test_cross_products_satisfy_the_identities_of_lagrange_and_jacobi():
    a, b, c = plain(3)
    # |a x b|^2 + (a . b)^2 = |a|^2 |b|^2
    left = a.cross(b).dot(a.cross(b)) + a.dot(b) ** 2
    assert left == pytest.approx(a.dot(a) * b.dot(b), rel=1e-14)
    total = a.cross(b.cross(c)) + b.cross(c.cross(a)) + c.cross(a.cross(b))
    np.testing.assert_allclose(total.array, 0.0, atol=1e-14)


def test_zero_changes_nothing():
    (a,) = plain(1)
    assert a + Vec3.zero() == a
    assert Vec3.zero().norm() == 0.0


def test_components_come_back_as_given():
    assert Vec3.of([1.0, 2.0, 3.0]) == Vec3(1.0, 2.0, 3.0)
    np.testing.assert_array_equal(Vec3.of(np.array([1.0, 2.0, 3.0])).array, [1.0, 2.0, 3.0])


def test_plain_numbers_and_jax_give_the_same_bits():
    a, b = plain(2)
    for operation in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * 0.7,
        lambda a, b: a / 0.7,
        lambda a, b: a.dot(b),
        lambda a, b: a.cross(b),
        lambda a, b: a.norm(),
    ):
        expected, found = operation(a, b), operation(traced(a), traced(b))
        assert jax.tree.leaves(expected) == [float(leaf) for leaf in jax.tree.leaves(found)]


def test_plain_numbers_never_touch_jax():
    a, b = plain(2)
    results = [a.array, b.norm(), a.dot(b), (a.cross(b) * 2.0).array]
    assert not any(isinstance(result, jax.Array) for result in results)


def test_norm_has_the_direction_as_gradient_and_none_at_zero():
    slope = jax.grad(lambda v: v.norm())
    at_zero = slope(Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0)))
    np.testing.assert_array_equal(at_zero.array, 0.0)
    (a,) = plain(1)
    np.testing.assert_allclose(slope(traced(a)).array, a.array / a.norm(), rtol=1e-14)


def test_mapped_vectors_equal_a_loop():
    rows = jnp.asarray(np.random.default_rng(SEED).normal(size=(5, 2, 3)))
    mapped = jax.vmap(lambda row: Vec3.of(row[0]).cross(Vec3.of(row[1])).array)(rows)
    np.testing.assert_allclose(mapped, np.cross(rows[:, 0], rows[:, 1]), rtol=0, atol=1e-15)


@pytest.mark.parametrize("given", [lambda v: v, traced])
def test_a_vector_is_shortened_only_if_too_long(given):
    long = given(Vec3(3.0, -4.0, 12.0))
    assert float(long.clip_norm(6.5).norm()) == pytest.approx(6.5, rel=1e-15)
    np.testing.assert_array_equal(long.clip_norm(13.0).array, long.array)
    np.testing.assert_array_equal(long.clip_norm(0.0).array, 0.0)
    np.testing.assert_array_equal(given(Vec3.zero()).clip_norm(0.0).array, 0.0)


def test_shortening_has_finite_gradients():
    for length in (0.0, 1.0, 5.0):
        for v in (Vec3.zero(), Vec3(3.0, -4.0, 0.0)):
            slope = jax.grad(lambda w, s=length: w.clip_norm(s).x)(traced(v))
            assert np.isfinite(slope.array).all()


def test_a_vector_is_a_sequence_of_three_numbers():
    a = Vec3(1.0, 2.0, 3.0)
    assert [*a] == [1.0, 2.0, 3.0]
    assert (a[0], a[-1], len(a)) == (1.0, 3.0, 3)
    np.testing.assert_array_equal(np.asarray(a), [1.0, 2.0, 3.0])
    assert np.asarray(a, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.asarray([a, a * 2.0]), [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    with pytest.raises(ValueError, match="no array of its own"):
        np.array(a, copy=False)


def test_arrays_and_numpy_numbers_combine_to_vectors():
    a, array = Vec3(1.0, 2.0, 3.0), np.array([10.0, 20.0, 30.0])
    assert array - a == Vec3(9.0, 18.0, 27.0)
    assert a - array == Vec3(-9.0, -18.0, -27.0)
    assert a + (1.0, 1.0, 1.0) == Vec3(2.0, 3.0, 4.0)  # noqa: RUF005  no list
    assert array + a == Vec3(11.0, 22.0, 33.0)
    np.testing.assert_array_equal((np.float64(2.0) * a).array, [2.0, 4.0, 6.0])
    doubled = jnp.asarray(2.0) * a
    assert isinstance(doubled, Vec3)


@pytest.mark.parametrize("given", [np.ones(3), jnp.ones(3), [1.0, 2.0, 3.0], "1"])
def test_an_array_is_no_component(given):
    message = r"`Vec3.x`: got .*; must be one number. Write Vec3.of"
    with pytest.raises(TypeError, match=message):
        Vec3.__post_init__(of_any_type(given))


def of_any_type(x):
    """Return a vector with this component, also where types are checked at run time."""
    unchecked = getattr(Vec3.unchecked, "__wrapped__", None)
    return Vec3.unchecked(x, 0.0, 0.0) if unchecked is None else unchecked(Vec3, x, 0.0, 0.0)


def test_a_vector_is_not_multiplied_by_an_array():
    times = getattr(Vec3.__mul__, "__wrapped__", Vec3.__mul__)
    with pytest.raises(TypeError, match="multiplied by a number"):
        times(Vec3(1.0, 2.0, 3.0), np.ones(3))


def test_batches_enter_by_trees():
    batch = jax.tree.map(lambda leaf: jnp.full(4, leaf), Vec3(3.0, 0.0, 4.0))
    assert batch.x.shape == (4,)
    rows = jax.vmap(lambda v: (v - Vec3(0.0, 0.0, 0.0)).norm())(batch)
    np.testing.assert_array_equal(rows, 5.0)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (np.ones((501, 3)), r"an array of shape \(501, 3\)"),
        (jnp.ones(4), r"an array of shape \(4,\)"),
        ([1.0, 2.0], "2 numbers"),
    ],
)
def test_components_of_another_shape_are_refused_with_the_way_for_rows(given, shown):
    of = getattr(Vec3.of.__func__, "__wrapped__", Vec3.of.__func__)
    message = rf"`Vec3.of`: got {shown}; must be 3 numbers.*write jax.vmap\(kw.Vec3.of\)\(rows\)"
    with pytest.raises(ValueError, match=message):
        of(Vec3, given)
