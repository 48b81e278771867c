"""Time constants as the steps of an integrator give them."""

from math import inf, log

import pytest

from kittiwake.interfaces.time_constant import LARGEST_ERROR
from kittiwake.physics.integrators import INTEGRATORS
from kittiwake.physics.simulated_time_constant import simulated_time_constant


@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
def test_euler_shortens_a_time_constant_as_its_stability_function_says(share):
    found = simulated_time_constant("euler", 0.02, 1.0 / (share * 0.02))
    assert found.simulated_s == pytest.approx(-0.02 * share / log(1.0 - share))


@pytest.mark.parametrize("name", INTEGRATORS)
def test_small_steps_keep_a_time_constant_and_the_warning_ends_at_its_rate(name):
    assert simulated_time_constant(name, 0.02, 1e5).error < 1e-3
    least_hz = simulated_time_constant(name, 0.02, 1e5).least_rate_hz
    fine, coarse = (simulated_time_constant(name, 0.02, f * least_hz) for f in (1.01, 0.99))
    assert fine.warning("rotors", 1.01 * least_hz) is None
    assert coarse.error > LARGEST_ERROR
    text = coarse.warning("rotors", 0.99 * least_hz)
    assert text is not None
    assert "coarse for rotors, whose time constant of 20 ms" in text


def test_euler_needs_ten_steps_in_a_time_constant():
    found = simulated_time_constant("euler", 0.02, 500.0)
    assert found.error == pytest.approx(1.0 - 0.1 / -log(0.9), rel=1e-9)
    assert found.warning("rotors", 500.0) is None


def test_euler_ends_a_lag_of_one_step_in_it():
    found = simulated_time_constant("semi-implicit-euler", 0.02, 50.0)
    assert found.simulated_s == 0.0
    text = found.warning("rotors", 50.0)
    assert text is not None
    assert "they simulate as one step; write time.rate_hz: 464 or more" in text


def test_an_unstable_step_never_decays():
    assert simulated_time_constant("heun", 0.01, 50.0).simulated_s == inf
