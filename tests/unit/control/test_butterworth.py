"""The Butterworth low-pass against SciPy's of the same order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import signal

from kittiwake.control.butterworth import Butterworth

DT_S = 0.01


def passed(low_pass, values, dt_s=DT_S):
    def once(state, value):
        return low_pass.step(state, value, dt_s)

    return np.asarray(jax.lax.scan(once, low_pass.init(), jnp.asarray(values, float))[1])


@pytest.mark.parametrize("order", [1, 2, 3, 15])
def test_response_equals_the_filter_of_scipy(order):
    rng = np.random.default_rng(1)
    values = 3.0 + rng.standard_normal(300)
    sections = signal.butter(order, 20.0, output="sos", fs=1.0 / DT_S)
    initial = signal.sosfilt_zi(sections) * values[0]
    expected, _ = signal.sosfilt(sections, values, zi=initial)
    np.testing.assert_allclose(passed(Butterworth(20.0, order), values), expected, atol=1e-12)


def test_a_steady_input_passes_from_the_first_step():
    np.testing.assert_allclose(passed(Butterworth(20.0, 15), [4.35] * 20), 4.35, rtol=1e-12)


@pytest.mark.parametrize("order", [2, 15])
def test_filter_is_stable_at_any_step(order):
    values = np.concatenate([np.random.default_rng(2).standard_normal(30), np.zeros(5000)])

    def rest(dt_s):
        low_pass = Butterworth(20.0, order)

        def once(state, value):
            return low_pass.step(state, value, dt_s)

        return jax.lax.scan(once, low_pass.init(), jnp.asarray(values))[1]

    found = np.asarray(jax.jit(jax.vmap(rest))(jnp.geomspace(1e-3, 10.0, 9)))
    # an order of 15 overshoots a step by less than a third
    assert np.abs(found).max() < 3.0 * np.abs(values).max()
    assert np.abs(found[:, -100:]).max() < 1e-9


@pytest.mark.slow
def test_derivative_by_the_cutoff_frequency_is_finite():
    def last(edge_hz):
        low_pass = Butterworth(edge_hz, 3)
        state, _ = low_pass.step(low_pass.init(), 1.0, DT_S)
        return low_pass.step(state, 2.0, DT_S)[1]

    for edge_hz in (1.0, 20.0, 80.0):
        assert np.isfinite(jax.grad(last)(edge_hz))
