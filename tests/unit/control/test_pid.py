"""PID law against linear systems, and at its limits."""

import dataclasses
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal

from kittiwake.control.pid import Pid, PidState

DT_S = 0.001


def outputs(pid, errors, dt_s=DT_S, state=None):
    initial = PidState.initial() if state is None else state
    pid = jax.tree.map(lambda leaf: jnp.asarray(leaf) if isinstance(leaf, float) else leaf, pid)
    return np.asarray(_outputs(pid, initial, jnp.asarray(errors, float), jnp.asarray(dt_s)))


@eqx.filter_jit
def _outputs(pid, initial, errors, dt_s):
    # all numbers are arguments, so that one program serves many controllers
    return jax.lax.scan(lambda state, error: pid.step(state, error, dt_s), initial, errors)[1]


def test_response_equals_the_transfer_function():
    time_s = np.arange(4000) * DT_S
    errors = np.sin(3.0 * time_s) * time_s
    pid = Pid(2.0, integral_per_s=1.5, derivative_s=0.4, filter_radps=20.0)
    # k_p + k_i / s + k_d N s / (s + N), as one fraction
    k_p, k_i, k_d, pole = 2.0, 1.5, 0.4, 20.0
    system = (
        [k_p + k_d * pole, k_p * pole + k_i, k_i * pole],
        [1.0, pole, 0.0],
    )
    _, expected, _ = signal.lsim(system, errors, time_s)
    # of first order in the step, of errors that change by at most 15 a second
    np.testing.assert_allclose(outputs(pid, errors), expected, atol=0.12)
    halved = outputs(pid, np.interp(np.arange(8000) * DT_S / 2, time_s, errors), DT_S / 2)[::2]
    ratio = np.abs(halved - expected).max() / np.abs(outputs(pid, errors) - expected).max()
    assert ratio == pytest.approx(0.5, abs=0.05)


def test_the_first_error_gives_no_derivative_kick():
    pid = Pid(1.0, derivative_s=5.0)
    np.testing.assert_allclose(outputs(pid, [0.3, 0.3, 0.4]), [0.3, 0.3, 0.4 + 5.0 * 0.1 / DT_S])


def test_output_leaves_its_limit_when_the_error_changes_sign():
    pid = Pid(0.5, integral_per_s=4.0, lower=-1.0, upper=1.0)
    found = outputs(pid, [*[10.0] * 5000, *[-0.1] * 5])
    assert found[4999] == 1.0
    assert (found[5000:] < 1.0).all()
    # without the guard 200 of the sum would have to be taken back first
    endless = outputs(dataclasses.replace(pid, lower=-1e9, upper=1e9), [10.0] * 5000)
    assert endless[-1] > 200.0


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
    st.floats(0.0, 1e3),
    st.floats(0.0, 1e3),
)
def test_output_is_finite_and_within_limits(errors, integral, derivative):
    pid = Pid(2.0, integral, derivative, filter_radps=50.0, lower=-3.0, upper=7.0)
    # of one length, for one program
    found = outputs(pid, np.resize(errors, 20))
    assert np.isfinite(found).all()
    assert (found >= -3.0).all()
    assert (found <= 7.0).all()


@pytest.mark.slow
def test_changing_the_integral_gain_in_flight_is_bumpless():
    before = Pid(1.0, integral_per_s=2.0)
    state, output = PidState.initial(), 0.0
    for _ in range(1000):
        state, output = before.step(state, 0.5, DT_S)
    _, after = dataclasses.replace(before, integral_per_s=20.0).step(state, 0.5, DT_S)
    assert float(after - output) == pytest.approx(20.0 * 0.5 * DT_S)


@pytest.mark.parametrize("integral_per_s", [0.0, 2.0])
def test_state_for_output_reproduces_the_output(integral_per_s):
    pid = Pid(3.0, integral_per_s, derivative_s=0.2, filter_radps=30.0)
    _, output = pid.step(pid.state_for_output(0.4, -1.7), 0.4, DT_S)
    assert float(output) == pytest.approx(-1.7 + integral_per_s * 0.4 * DT_S)


def test_an_angle_is_wrapped():
    pid = Pid(0.0, derivative_s=1.0, turn=math.tau)
    found = outputs(pid, [3.1, -3.1])
    assert found[1] == pytest.approx((2.0 * np.pi - 6.2) / DT_S)


def test_an_angle_in_degrees_is_wrapped():
    pid = Pid(0.0, derivative_s=1.0, turn=360.0)
    assert outputs(pid, [179.0, -179.0])[1] == pytest.approx(2.0 / DT_S)


def test_integral_starts_at_its_initial_value():
    pid = Pid(2.0, integral_per_s=1.0, initial=0.7)
    assert outputs(pid, [0.0], state=pid.init()) == pytest.approx([0.7])


def test_a_known_rate_replaces_the_difference():
    pid = Pid(1.0, derivative_s=0.5)
    _, output = pid.step(PidState.initial(), 0.2, DT_S, error_rate=-2.0, feed_forward=0.7)
    assert float(output) == pytest.approx(0.7 + 0.2 - 1.0)


def test_gradients_are_finite_at_the_limits():
    def output(gain, error):
        pid = Pid(gain, 1.0, 0.1, filter_radps=10.0, lower=-1.0, upper=1.0)
        return pid.step(PidState.initial(), error, DT_S)[1]

    for error in (0.0, 0.5, 1.0, 5.0):
        assert np.isfinite(jax.grad(output, argnums=(0, 1))(2.0, error)).all()
