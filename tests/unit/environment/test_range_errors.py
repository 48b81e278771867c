"""Range errors: deviations and correlations within three standard errors of theory."""

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
    return (slow * np.exp(-t / slow) - fast * np.exp(-t / fast)) / (slow - fast)


def first_order_correlation(t, tau):
    return np.exp(-t / tau)


@pytest.mark.parametrize(
    ("error", "correlation", "dt_s"),
    [
        (FirstOrderError(), lambda t: first_order_correlation(t, 2000.0), 20.0),
        (FirstOrderError(2.0, 30.0), lambda t: first_order_correlation(t, 30.0), 0.5),
        (SecondOrderError(), lambda t: second_order_correlation(t, 40.1, 4.0), 0.2),
        (SecondOrderError(), lambda t: second_order_correlation(t, 40.1, 4.0), 5.0),
        (SecondOrderError(3.0, 20.0, 15.0), lambda t: second_order_correlation(t, 20, 15), 1.0),
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


def test_changes_from_step_to_step_are_right_in_single_precision(single_precision):
    # of two nearly equal processes the difference; 0.0093 m at 5 Hz, a tenth of it at 50 Hz
    for dt_s, expected in ((0.2, 0.0093), (0.02, 0.00093)):
        changes = np.diff(flown(SecondOrderError(), dt_s, 20))
        assert changes.dtype == np.float32
        assert np.sqrt(np.mean(changes.astype(float) ** 2)) == pytest.approx(expected, rel=0.05)


def test_no_range_error_is_none():
    assert not flown(NoRangeError(), 0.2, 3).any()


def test_time_constants_in_the_wrong_order_are_refused():
    with pytest.raises(ValueError, match="driving_time_constant_s: 50 is not allowed; must be"):
        SecondOrderError(time_constant_s=40.0, driving_time_constant_s=50.0)
