"""QRSim's altimeter: its noise, and the rate that it makes of it."""

import math

import jax
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen, series, standard_errors_off

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.altimeter import Altimeter

CLIMBING = Start(Vec3(3.0, 4.0, 10.0), velocity_world_mps=Vec3(5.0, 0.0, 1.5))
DT_S = 0.02


def test_the_ideal_reading_is_the_height_and_the_velocity_upwards():
    found = Altimeter().ideal(seen(CLIMBING))
    assert (found.height_world_m, found.height_rate_world_mps) == (10.0, 1.5)


def test_the_first_rate_is_the_true_one_with_its_sign():
    found = series(Altimeter(), seen(CLIMBING), 1, 5, DT_S)
    np.testing.assert_array_equal(found.height_rate_world_mps[:, 0], 1.5)


def test_later_rates_are_differences_of_heights():
    found = series(Altimeter(), seen(CLIMBING), 50, 5, DT_S)
    differences = np.diff(found.height_world_m, axis=1) / DT_S
    np.testing.assert_allclose(found.height_rate_world_mps[:, 1:], differences, atol=1e-12)


def test_a_climb_shows_in_the_rate():
    altimeter = Altimeter(deviation_m=0.0)
    state = altimeter.init(jax.random.key(0))
    for tick in range(4):
        place = Vec3(0.0, 0.0, 10.0 + 1.5 * tick * DT_S)
        inputs = seen(Start(place, velocity_world_mps=Vec3(0.0, 0.0, 1.5)))
        state, found = altimeter.step(state, inputs, DT_S, jax.random.key(tick))
        assert float(found.height_rate_world_mps) == pytest.approx(1.5, abs=1e-12)


@pytest.mark.slow
def test_qrsims_noise_is_three_millimeters_that_hardly_outlast_a_sample():
    off = series(Altimeter(), seen(CLIMBING), 2000, 200, DT_S).height_world_m - 10.0
    # innovation 0.003, memory e^-6 a sample
    stationary = 0.003**2 / (1.0 - math.exp(-12.0))
    assert abs(standard_errors_off(off[:, 0] ** 2, stationary)) < 3.0
    assert abs(standard_errors_off(np.mean(off**2, axis=1), stationary)) < 3.0
    products = np.mean(off[:, 1:] * off[:, :-1], axis=1)
    assert abs(standard_errors_off(products, stationary * math.exp(-6.0))) < 3.0


def test_the_rate_is_off_by_what_was_found_in_the_original():
    found = series(Altimeter(), seen(), 2000, 200, DT_S).height_rate_world_mps[:, 1:]
    expected = 2.0 * 0.003**2 * (1.0 - math.exp(-6.0)) / DT_S**2
    assert abs(standard_errors_off(np.mean(found**2, axis=1), expected)) < 3.0
    # 0.212 m/s, measured in QRSim itself
    assert math.sqrt(expected) == pytest.approx(0.212, abs=5e-4)


def test_a_slow_altimeter_drifts():
    slow = Altimeter(deviation_m=0.5, time_constant_s=20.0)
    off = series(slow, seen(CLIMBING), 1000, 300, 0.1).height_world_m - 10.0
    for lag in (0, 50, 200):
        products = np.mean(off[:, lag:] * off[:, : 1000 - lag], axis=1)
        assert abs(standard_errors_off(products, 0.25 * math.exp(-lag * 0.1 / 20.0))) < 3.0


@pytest.mark.slow
def test_single_precision_adds_little_to_the_rate(single_precision):
    high = seen(Start(Vec3(0.0, 0.0, 100.0)))
    found = series(Altimeter(), high, 2000, 50, DT_S).height_rate_world_mps[:, 1:]
    assert found.dtype == np.float32
    # heights of 100 m are told to 8 um: 0.1 mm/s in a rate that is off by 0.2 m/s
    assert np.std(found.astype(float)) == pytest.approx(0.2119, rel=0.02)
