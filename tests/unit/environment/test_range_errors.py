"""Range errors: deviations and correlations within three standard errors of theory."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from kittiwake.environment.satellites.range_errors import (
    FirstOrderError,
    NoRangeError,
    SecondOrderError,
)

RUNS = 4000
QRSIM_DT_S = 0.2


def flown(error, dt_s, steps):
    """Errors of as many independent satellites, one column for each step."""

    def one(key):
        def once(state, draw):
            return error.step(state, 0.0, dt_s, draw)

        begin, *draws = jax.random.split(key, steps + 1)
        return jax.lax.scan(once, error.init(begin), jnp.stack(draws))[1]

    keys = jax.random.split(jax.random.key(5), RUNS)
    return np.asarray(jax.jit(jax.vmap(one))(keys))


def second_order_correlation(t, slow, fast):
    if slow == fast:
        return (1.0 + t / slow) * np.exp(-t / slow)
    return (slow * np.exp(-t / slow) - fast * np.exp(-t / fast)) / (slow - fast)


def first_order_correlation(t, tau):
    return np.exp(-t / tau)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "correlation", "dt_s"),
    [
        (FirstOrderError(), lambda t: first_order_correlation(t, 2000.0), 20.0),
        (FirstOrderError(2.0, 30.0), lambda t: first_order_correlation(t, 30.0), 0.5),
        (SecondOrderError(), lambda t: second_order_correlation(t, 40.1, 4.0), 0.2),
        (SecondOrderError(), lambda t: second_order_correlation(t, 40.1, 4.0), 5.0),
        (SecondOrderError(3.0, 20.0, 15.0), lambda t: second_order_correlation(t, 20, 15), 1.0),
        (SecondOrderError(1.0, 20.0, 19.999999), lambda t: second_order_correlation(t, 20, 20), 1),
        (SecondOrderError(1.0, 20.0, 20.0), lambda t: second_order_correlation(t, 20, 20), 1.0),
        (SecondOrderError(1.0, 2.0, 2.0), lambda t: second_order_correlation(t, 2, 2), 2.5),
    ],
)
def test_deviation_and_correlation_are_those_of_theory_from_the_first_step_on(
    error, correlation, dt_s
):
    errors = flown(error, dt_s, 60)
    # runs are independent: sd / sqrt(2 N) and (1 - rho^2) / sqrt(N) are the standard errors
    for column in (0, 20, 59):
        deviation = np.sqrt(np.mean(errors[:, column] ** 2))
        assert abs(deviation / error.deviation_m - 1.0) < 3.0 / np.sqrt(2.0 * RUNS)
    for lag in (5, 20, 50):
        expected = correlation(lag * dt_s)
        found = np.corrcoef(errors[:, 5], errors[:, 5 + lag])[0, 1]
        assert abs(found - expected) < 3.0 * (1.0 - expected**2) / np.sqrt(RUNS)


def test_second_order_error_is_the_recurrence_of_qrsim():
    # n' = n / 1.005 + m, m' = e^(-0.2 / 4) m + 0.003 N(0, 1) at 5 Hz
    transition = np.array([[1.0 / 1.005, 1.0], [0.0, np.exp(-QRSIM_DT_S / 4.0)]])
    covariance = solve_discrete_lyapunov(transition, np.diag([0.0, 0.003**2]))
    variance = covariance[0, 0]
    error = SecondOrderError()
    # one part in a thousand, a third of the last digit that is given
    assert error.deviation_m == pytest.approx(np.sqrt(variance), rel=1e-3)
    for seconds in (10.0, 40.0, 80.0):
        power = np.linalg.matrix_power(transition, round(seconds / QRSIM_DT_S))
        recurrence = (power @ covariance)[0, 0] / variance
        taus = error.time_constant_s, error.driving_time_constant_s
        assert second_order_correlation(seconds, *taus) == pytest.approx(recurrence, abs=2e-3)


def test_second_order_error_changes_from_step_to_step_as_in_qrsim():
    # 0.0093 m rms at 5 Hz, of a sum of many independent squares: to 3 %
    changes = np.diff(flown(SecondOrderError(), QRSIM_DT_S, 20))
    assert np.sqrt(np.mean(changes**2)) == pytest.approx(0.0093, rel=0.03)


@pytest.mark.slow
def test_changes_from_step_to_step_are_right_in_single_precision(single_precision):
    # of two nearly equal processes the difference; 0.0093 m at 5 Hz, a tenth of it at 50 Hz
    for dt_s, expected in ((0.2, 0.0093), (0.02, 0.00093)):
        changes = np.diff(flown(SecondOrderError(), dt_s, 20))
        assert changes.dtype == np.float32
        assert np.sqrt(np.mean(changes.astype(float) ** 2)) == pytest.approx(expected, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("driving_s", [20.0, 19.99, 19.0])
def test_close_time_constants_are_right_in_single_precision(driving_s, single_precision):
    errors = flown(SecondOrderError(1.0, 20.0, driving_s), QRSIM_DT_S, 20).astype(float)
    assert np.sqrt(np.mean(errors[:, -1] ** 2)) == pytest.approx(1.0, abs=3.0 / np.sqrt(2 * RUNS))
    # 2 (1 - rho), which is the step squared over T T'; of 20 steps that are much alike: to 5 %
    changes = np.diff(errors)
    expected = QRSIM_DT_S / np.sqrt(20.0 * driving_s)
    assert np.sqrt(np.mean(changes**2)) == pytest.approx(expected, rel=0.05)


def linear_step(slow_s, fast_s, dt_s):
    """What a step makes of error and rate, and the covariance of what it adds."""
    error = SecondOrderError(1.0, 20.0, 20.0)
    error = eqx.tree_at(
        lambda e: (e.time_constant_s, e.driving_time_constant_s), error, (slow_s, fast_s)
    )

    def later(state, key):
        return jnp.stack(error.step((state[0], state[1]), 0.0, dt_s, key)[0])

    keys = jax.random.split(jax.random.key(0))
    added = jax.vmap(lambda key: later(jnp.zeros(2), key))(keys)
    draws = jax.vmap(lambda key: jax.random.normal(key, (2,)))(keys)
    spread = jnp.linalg.solve(draws, added)
    kept = jax.vmap(lambda state: later(state, keys[0]) - added[0])(jnp.eye(2))
    return kept.T, spread.T @ spread


LINEAR_STEP = jax.jit(linear_step)


@pytest.mark.slow
@pytest.mark.parametrize("step_s", [1e-3, 0.2, 3.0, 50.0])
@pytest.mark.parametrize("fast_s", [0.5, 4.0, 39.999, 40.0])
def test_two_steps_are_one_of_twice_the_length_and_keep_what_is_stationary(fast_s, step_s):
    kept, added = (np.asarray(part) for part in LINEAR_STEP(40.0, fast_s, step_s))
    np.testing.assert_allclose(kept @ kept.T + added, np.eye(2), rtol=0, atol=1e-12)
    kept_twice, added_twice = (np.asarray(part) for part in LINEAR_STEP(40.0, fast_s, 2.0 * step_s))
    np.testing.assert_allclose(kept @ kept, kept_twice, rtol=0, atol=1e-12)
    # relative to what a short step adds to the error, some 1e-14; the solution loses some digits
    np.testing.assert_allclose(kept @ added @ kept.T + added, added_twice, rtol=1e-7, atol=1e-25)


@pytest.mark.slow
def test_gradients_are_finite_where_both_time_constants_are_the_same():
    def grown(fast_s):
        kept, added = linear_step(40.0, fast_s, 0.2)
        return kept.sum() + jnp.sqrt(added[0, 0])

    slope = jax.jit(jax.grad(grown))
    # from one side of equality to the other it hardly changes
    assert float(slope(40.0)) == pytest.approx(float(slope(39.9)), rel=0.01)


def test_no_range_error_is_none():
    assert not flown(NoRangeError(), 0.2, 3).any()


def test_time_constants_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="driving_time_constant_s: got 50; must be"):
        SecondOrderError(time_constant_s=40.0, driving_time_constant_s=50.0)
