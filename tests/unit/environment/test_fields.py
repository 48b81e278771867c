"""Fields of the water: their statistics, their maps, and how they drift."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.environment.fields.from_seed import SeededField
from kittiwake.environment.fields.patches import FieldPatch, Patches
from kittiwake.environment.fields.raster import Grid, Raster
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.field import FieldProcess

KEY = jax.random.key(0)
CELLS = np.array([[1.0, 2.0, 3.0], [4.0, 6.0, 8.0]])
MAP = Raster(Grid("six.asc", (-3.0, -4.0), 5.0, CELLS))
KINDS = {
    "patches": Patches("ug/l", 5.0, (FieldPatch(Vec3(3.0, 4.0, 0.0), 9.0, 4.0),)),
    "from-seed": SeededField("K", 288.0, 2.0, 9.0, 8),
    "raster": MAP,
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def told(kind, x, y, z=0.0, time_s=0.0, key=KEY):
    """Values at places, all of the same number."""
    drawn = kind.sample(key)

    def one(x, y):
        return kind.value(drawn, Vec3(x, y, z), time_s)

    return np.asarray(jax.jit(jax.vmap(one))(jnp.asarray(x, float), jnp.asarray(y, float)))


def test_a_patch_has_its_amount_in_its_middle_and_falls_by_its_deviation():
    kind = KINDS["patches"]
    at = told(kind, [3.0, 12.0, 3.0, 1e4], [4.0, 4.0, -14.0, 0.0])
    expected = [9.0, 5.0 + 4.0 * math.exp(-0.5), 5.0 + 4.0 * math.exp(-2.0), 5.0]
    np.testing.assert_allclose(at, expected, rtol=1e-12)


def test_a_field_of_the_seed_has_its_mean_its_deviation_and_its_correlation():
    """Of n seeds a mean is off by s / sqrt(n), a variance by s^2 sqrt(2 / n); at 4 of them."""
    kind, seeds, away = SeededField("", 8.0, 2.0, 10.0), 2000, jnp.asarray([0.0, 5.0, 10.0, 30.0])

    def one(seed):
        drawn = kind.sample(jax.random.key(seed))
        return jax.vmap(lambda x: kind.value(drawn, Vec3(7.0 + 0.6 * x, 0.8 * x, 0.0), 0.0))(away)

    values = np.asarray(jax.jit(jax.vmap(one))(jnp.arange(seeds)))
    assert np.abs(values.mean(axis=0) - 8.0).max() < 4.0 * 2.0 / math.sqrt(seeds)
    off = values - 8.0
    covariance = (off[:, :1] * off).mean(axis=0)
    expected = 4.0 * np.exp(-0.5 * (np.asarray(away) / 10.0) ** 2)
    assert np.abs(covariance - expected).max() < 4.0 * 4.0 * math.sqrt(2.0 / seeds)


def test_one_field_of_the_seed_has_its_mean_and_deviation_over_a_large_water():
    """Of n waves the mean square is s^2 without a remainder; 200 lengths leave little of it."""
    random = np.random.default_rng(1)
    x, y = random.uniform(0.0, 2000.0, (2, 20_000))
    values = told(SeededField("", 8.0, 2.0, 10.0), x, y)
    assert values.mean() == pytest.approx(8.0, abs=0.1)
    assert values.std() == pytest.approx(2.0, rel=0.05)


def test_a_map_is_bilinear_between_middles_and_goes_on_beyond_them():
    at = told(
        MAP, [-3.0, 2.0, 7.0, -0.5, 4.5, 99.0, -99.0], [-4.0, 1.0, 1.0, -1.5, 1.0, 99.0, -99.0]
    )
    # in the middle of four cells their mean, between two theirs
    np.testing.assert_allclose(at, [1.0, 6.0, 8.0, 13.0 / 4.0, 7.0, 8.0, 1.0], rtol=1e-12)


def test_a_map_of_one_row_is_linear_along_it():
    row = Raster(Grid("row.asc", (0.0, 0.0), 2.0, np.array([[1.0, 5.0]])))
    np.testing.assert_allclose(told(row, [0.5, 1.0, 1.5], [3.0, 0.0, -3.0]), [2.0, 3.0, 4.0])


def test_a_map_has_its_offset():
    placed = Raster(MAP.file, offset_world_m=Vec3(100.0, -50.0, 0.0))
    np.testing.assert_allclose(told(placed, [99.5], [-51.5]), told(MAP, [-0.5], [-1.5]), rtol=1e-12)


@each_kind
def test_a_field_goes_with_its_drift(kind):
    drift = Vec3(0.5, -0.25, 0.0)
    drifting = jax.tree.map(lambda x: x, kind)
    drifting = type(kind)(**{**vars(kind), "drift_world_mps": drift})
    x, y = np.array([-1.0, 2.0, 4.0]), np.array([0.0, -2.0, 0.5])
    later = told(drifting, x + 0.5 * 8.0, y - 0.25 * 8.0, time_s=8.0)
    np.testing.assert_allclose(later, told(kind, x, y), rtol=1e-12)


@each_kind
def test_the_trend_is_that_of_the_depth_and_none_in_the_air(kind):
    warm = type(kind)(**{**vars(kind), "trend_per_m": 0.3})
    there = told(kind, [1.0], [2.0])
    np.testing.assert_allclose(told(warm, [1.0], [2.0], z=-5.0), there - 1.5, rtol=1e-12)
    np.testing.assert_allclose(told(warm, [1.0], [2.0], z=20.0), there, rtol=1e-12)


@pytest.mark.slow
@each_kind
def test_gradients_are_finite(kind):
    drawn = kind.sample(KEY)
    slope = jax.grad(lambda x: kind.value(drawn, Vec3(x, 1.0, -1.0), 2.0))
    assert np.isfinite([float(slope(x)) for x in (-3.0, 0.0, 2.0, 99.0)]).all()


def test_a_field_keeps_its_sample():
    field = FieldProcess(KINDS["from-seed"])
    begun = field.init(KEY)
    later, seen = field.step(begun, 3.0, 1.0, jax.random.key(5))
    assert all(map(np.array_equal, jax.tree.leaves(later), jax.tree.leaves(begun)))
    assert all(map(np.array_equal, jax.tree.leaves(seen), jax.tree.leaves(begun)))
