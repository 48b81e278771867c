"""Measured quantities: residuals of numbers and of attitudes, and their derivatives."""

import numpy as np
import pytest

from kittiwake.analysis.flight_logs.flight_log import FlightLog, Signal
from kittiwake.core.errors import ScenarioError
from kittiwake.runtime.identification.measured import measured_quantities

TIMES = np.linspace(0.0, 1.0, 5)
STATE = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz", "wx_radps", "act_thrust_n", "estimate.x_m")


def log_of(**columns):
    return FlightLog("log.csv", {name: Signal(TIMES, values) for name, values in columns.items()})


def about_z(angles):
    return np.stack([np.cos(angles / 2), 0 * angles, 0 * angles, np.sin(angles / 2)], axis=1)


def attitudes(angles):
    return dict(zip(("qw", "qx", "qy", "qz"), about_z(angles).T, strict=True))


def test_numbers_are_compared_by_their_difference():
    (own,) = measured_quantities(log_of(x_m=np.arange(5.0), **{"estimate.x_m": TIMES}), STATE)
    assert own.names == ("x_m",), "estimates are not measured"
    np.testing.assert_array_equal(own.residuals(np.full((5, 1), 7.0))[:, 0], 7.0 - np.arange(5.0))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_attitude_error_is_a_rotation_vector_by_the_shorter_way(sign):
    measured, turned = np.linspace(0.0, 6.0, 5), 0.02
    (own,) = measured_quantities(log_of(**attitudes(measured)), STATE)
    found = own.residuals(sign * about_z(measured + turned))
    np.testing.assert_allclose(
        found, np.array([[0.0, 0.0, 2.0 * np.sin(turned / 2)]] * 5), atol=1e-12
    )


def test_slopes_of_an_attitude_error_are_quotients_of_differences():
    (own,) = measured_quantities(log_of(**attitudes(TIMES)), STATE)
    simulated = about_z(TIMES + 0.3)
    change = np.random.default_rng(1).normal(size=(2, 5, 4))
    step = 1e-6
    quotient = (own.residuals(simulated + step * change) - own.residuals(simulated)) / step
    np.testing.assert_allclose(own.slopes(simulated, change), quotient, atol=1e-8)


def test_what_is_not_there_is_refused():
    with pytest.raises(ScenarioError, match="no column but commands is one of the vehicle's"):
        measured_quantities(log_of(cmd_throttle=TIMES, pressure_pa=TIMES), STATE)
    with pytest.raises(ScenarioError, match="got act_trust_n. Did you mean 'act_thrust_n'"):
        measured_quantities(log_of(act_thrust_n=TIMES), STATE, ["act_trust_n"])
    with pytest.raises(ScenarioError, match="an attitude needs the columns qw, qx, qy, qz"):
        measured_quantities(log_of(**attitudes(TIMES)), STATE, ["qw"])
