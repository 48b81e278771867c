"""The processes of noise against their theory, over many independent series."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.sample_series import standard_errors_off

from kittiwake.core.noise import (
    GaussMarkov,
    normal,
    normal3,
    normals3,
    uniform,
    uniform3,
    white_deviation,
)
from kittiwake.geometry.vec3 import Vec3

SEEDS = 400


def series(process, dt_s, steps=400, seeds=SEEDS):
    def one(seed):
        key = jax.random.key(seed)

        def step(value, tick):
            later = process.next(value, normal(jax.random.fold_in(key, tick)), dt_s)
            return later, value

        return jax.lax.scan(step, process.first(normal(key)), jnp.arange(steps))[1]

    return np.asarray(jax.jit(jax.vmap(one))(jnp.arange(seeds)))


# steps that are short, comparable and long against the time constant
@pytest.mark.slow
@pytest.mark.parametrize("dt_s", [0.02, 1.0, 10.0])
def test_a_gauss_markov_process_keeps_its_deviation_from_the_first_value_on(dt_s):
    found = series(GaussMarkov(3.0, 2.0), dt_s)
    assert abs(standard_errors_off(found[:, 0] ** 2, 9.0)) < 3.0
    assert abs(standard_errors_off(np.mean(found**2, axis=1), 9.0)) < 3.0
    assert abs(standard_errors_off(np.mean(found, axis=1), 0.0)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize(("dt_s", "lag"), [(0.02, 25), (0.02, 100), (1.0, 1), (1.0, 4), (10.0, 1)])
def test_a_gauss_markov_process_decorrelates_exponentially(dt_s, lag):
    found = series(GaussMarkov(3.0, 2.0), dt_s)
    products = np.mean(found[:, lag:] * found[:, :-lag], axis=1)
    assert abs(standard_errors_off(products, 9.0 * math.exp(-lag * dt_s / 2.0))) < 3.0


def test_two_half_steps_of_a_gauss_markov_process_are_a_whole_one():
    process = GaussMarkov(0.7, 3.0)

    def moments(dt_s):
        return float(process.next(1.0, 0.0, dt_s)), float(process.next(0.0, 1.0, dt_s)) ** 2

    kept, added = moments(0.5)
    whole_kept, whole_added = moments(1.0)
    assert kept**2 == pytest.approx(whole_kept, rel=1e-14)
    assert kept**2 * added + added == pytest.approx(whole_added, rel=1e-14)


def test_a_gauss_markov_process_of_a_vector_is_that_of_its_components():
    process = GaussMarkov(2.0, 5.0)
    value, draw = Vec3(1.0, -2.0, 0.5), Vec3(0.3, 0.1, -0.7)
    together = process.next(value, draw, 0.1)
    for axis in "xyz":
        alone = process.next(getattr(value, axis), getattr(draw, axis), 0.1)
        assert float(getattr(together, axis)) == pytest.approx(float(alone), rel=1e-15)


def test_white_noise_in_a_band_is_its_density_times_the_root_of_the_band():
    # MPU-6000, section 6.1: 0.005 deg/s per root hertz, and 0.05 deg/s in 100 Hz,
    # which is what 200 samples a second can hold
    assert float(white_deviation(0.005, 1.0 / 200.0)) == pytest.approx(0.05, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("several", [normal3, lambda key: normals3(key, 3)[2]])
def test_vectors_of_normal_numbers_have_unit_deviation_and_independent_components(several):
    drawn = jax.vmap(several)(jax.random.split(jax.random.key(1), 20_000))
    rows = np.stack([drawn.x, drawn.y, drawn.z])
    for i, row in enumerate(rows):
        assert abs(standard_errors_off(row**2, 1.0)) < 3.0
        assert abs(standard_errors_off(row * rows[i - 1], 0.0)) < 3.0


def test_uniform_noise_fills_its_bounds():
    keys = jax.random.split(jax.random.key(2), 20_000)
    vectors = jax.vmap(uniform3)(keys)
    for row in (jax.vmap(uniform)(keys), vectors.x, vectors.y, vectors.z):
        drawn = np.asarray(row)
        assert 0.999 < np.max(np.abs(drawn)) <= 1.0
        assert abs(standard_errors_off(drawn, 0.0)) < 3.0
        # of an even spread from -1 to 1
        assert abs(standard_errors_off(drawn**2, 1.0 / 3.0)) < 3.0


@pytest.mark.slow
def test_noise_takes_the_precision_in_use(single_precision):
    key = jax.random.key(0)
    numbers = [normal(key), uniform(key), normal3(key).x, uniform3(key).x, normals3(key, 2)[0].x]
    assert all(number.dtype == jnp.float32 for number in numbers)
