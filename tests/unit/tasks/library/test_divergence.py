"""Divergence of samples: the formula, known distributions, and limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.tasks.library.divergence import SampleSet


def one_by_one(true, reported, block):
    samples = SampleSet.empty(len(true), block)
    for x, y in zip(true.T, reported.T, strict=True):
        samples = samples.append(jnp.asarray(x), jnp.asarray(y))
    return samples


def by_the_formula(true, reported, resolution):
    """Equation 5 of Wang, Kulkarni and Verdu (2009) for each number, with a resolution, summed."""
    total = 0.0
    for x, y in zip(true, reported, strict=True):
        n, m = len(x), len(y)
        others = np.abs(x[:, None] - x[None]) + np.diag(np.full(n, np.inf))
        rho, nu = others.min(axis=1), np.abs(x[:, None] - y[None]).min(axis=1)
        ratios = np.log((nu + resolution) / (rho + resolution))
        total += ratios.mean() + np.log(m / (n - 1))
    return total


@pytest.mark.parametrize("steps", [2, 7, 12])
def test_incremental_divergence_equals_the_formula(steps):
    rng = np.random.default_rng(1)
    true, reported = rng.exponential(0.1, (3, steps)), rng.uniform(0.0, 0.2, (3, steps))
    got = one_by_one(true, reported, 12).divergence(1e-4)
    assert float(got) == pytest.approx(by_the_formula(true, reported, 1e-4), abs=1e-9)


def test_only_the_last_block_counts():
    rng = np.random.default_rng(2)
    true, reported = rng.uniform(size=(2, 11)), rng.uniform(size=(2, 11))
    got = one_by_one(true, reported, 4).divergence(1e-4)
    assert float(got) == pytest.approx(by_the_formula(true[:, 8:], reported[:, 8:], 1e-4), abs=1e-9)


@pytest.mark.slow
def test_divergence_of_two_normal_distributions():
    rng = np.random.default_rng(3)
    true, reported = rng.normal(0.0, 1.0, (40, 300)), rng.normal(1.0, 1.0, (40, 300))
    # of N(0, 1) from N(1, 1) it is 1/2; the estimate of each of 40 scatters by some 0.1
    mean = float(one_by_one(true, reported, 300).divergence(1e-9)) / 40
    assert mean == pytest.approx(0.5, abs=0.1)
    same = rng.normal(0.0, 1.0, (40, 300))
    assert float(one_by_one(true, same, 300).divergence(1e-9)) / 40 < 0.1


@pytest.mark.slow
def test_equal_or_too_few_samples_give_finite_divergence():
    still = np.zeros((2, 5))
    got = float(one_by_one(still, still, 5).divergence(1e-4))
    assert got == pytest.approx(2 * np.log(5 / 4), abs=1e-9)
    assert float(one_by_one(still[:, :1], still[:, :1], 5).divergence(1e-4)) == 0.0
    slope = jax.grad(lambda y: SampleSet.empty(1, 3).append(jnp.zeros(1), y).divergence(1e-4))
    assert np.isfinite(slope(jnp.ones(1))).all()
