"""Barometers: the standard atmosphere backwards, and their noise."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.sample_series import seen, series, standard_errors_off

from kittiwake.core.kinematics import Start
from kittiwake.core.standard_altitude import standard_altitude
from kittiwake.environment.atmosphere import StandardAtmosphere
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.barometer import Barometer, MicklischBarometer
from kittiwake.world.surroundings import Air

EXACT = Barometer(noise_pa=0.0, drift_pa=0.0)
STANDARD_PA = 101325.0


def at_pressure(pressure_pa):
    inputs = seen()
    around = replace(inputs.surroundings, air=Air(288.15, jnp.asarray(pressure_pa), 1.225))
    return replace(inputs, surroundings=around)


def test_the_pressure_at_sea_level_is_at_no_altitude():
    assert float(standard_altitude(STANDARD_PA)) == 0.0


@pytest.mark.parametrize("altitude_m", [-4000.0, -10.0, 15.0, 120.0, 3000.0, 10_999.0, 19_000.0])
def test_the_altitude_in_standard_air_is_the_true_one(altitude_m):
    pressure = StandardAtmosphere().air(altitude_m).pressure_pa
    # the rounding of a pressure, 1e-16, is 1e-12 m here
    assert float(standard_altitude(pressure)) == pytest.approx(altitude_m, abs=1e-8)


def test_fifteen_meters_are_those_of_the_formula_of_micklisch():
    # h = (T / L) (1 - (p / p0)^0.1903), which they compare with 15 m; geopotential, 0.04 mm less
    pressure = float(StandardAtmosphere().air(15.0).pressure_pa)
    formula_m = 288.15 / 0.0065 * (1.0 - (pressure / STANDARD_PA) ** 0.190263)
    assert float(standard_altitude(pressure)) == pytest.approx(formula_m, abs=0.01)
    assert formula_m == pytest.approx(15.0, abs=0.01)


def test_the_altitude_is_smooth_where_the_layers_of_air_meet():
    pressures = StandardAtmosphere().air(11019.0671).pressure_pa * (1.0 + np.array([-1e-7, 1e-7]))
    slopes = [float(jax.grad(standard_altitude)(float(pressure))) for pressure in pressures]
    # dz/dp = -RT / (g p) on both sides
    assert slopes[0] == pytest.approx(slopes[1], rel=1e-5)
    assert slopes[0] == pytest.approx(-6341.6 / 22632.0, rel=5e-3)


def test_a_barometer_on_a_warm_day_reads_too_low():
    warm = StandardAtmosphere(20.0).air(100.0).pressure_pa
    # in proportion to the temperature
    assert float(standard_altitude(warm)) == pytest.approx(100.0 * 288.15 / 308.15, abs=0.05)


def test_the_altitude_counts_from_sea_level_wherever_the_origin_is():
    inputs = seen(Start(Vec3(0.0, 0.0, 30.0)))
    above_m = inputs.world.origin.altitude_m
    reading = EXACT.step(EXACT.init(jax.random.key(0)), inputs, 0.02, jax.random.key(1))[1]
    assert float(reading.altitude_m) == pytest.approx(above_m + 30.0, abs=1e-8)
    assert reading.pressure_pa == EXACT.ideal(inputs).pressure_pa


@pytest.mark.parametrize("pressure_pa", [0.0, -100.0, 1e-3])
def test_the_altitude_is_finite_where_there_is_no_air(pressure_pa):
    value, slope = jax.value_and_grad(standard_altitude)(pressure_pa)
    assert 7e4 < float(value) < 8e4
    assert math.isfinite(float(slope))


def test_single_precision_keeps_the_altitude_to_millimeters(single_precision):
    for altitude_m in (1.0, 50.0, 500.0):
        with jax.enable_x64(True):
            exact = float(StandardAtmosphere().air(altitude_m).pressure_pa)
        # a pressure of 1e5 Pa is told to 8 mPa, which is 0.7 mm
        found = float(standard_altitude(jnp.asarray(exact)))
        assert found == pytest.approx(altitude_m, abs=2e-3)


@pytest.mark.slow
def test_the_drift_is_stationary_and_decays_under_white_noise():
    barometer = Barometer(noise_pa=2.0, drift_pa=30.0, drift_time_s=10.0)
    off = series(barometer, at_pressure(9e4), 2000, 300, 0.5).pressure_pa - 9e4
    assert abs(standard_errors_off(off[:, 0] ** 2, 30.0**2 + 2.0**2)) < 3.0
    assert abs(standard_errors_off(np.mean(off**2, axis=1), 30.0**2 + 2.0**2)) < 3.0
    for lag in (1, 10, 40):
        products = np.mean(off[:, lag:] * off[:, :-lag], axis=1)
        expected = 30.0**2 * math.exp(-lag * 0.5 / 10.0)
        assert abs(standard_errors_off(products, expected)) < 3.0


@pytest.mark.slow
def test_the_noise_of_a_sample_is_ten_centimeters():
    found = series(Barometer(), at_pressure(STANDARD_PA), 3000, 100, 0.02)
    steps = np.diff(found.altitude_m, axis=1)
    # the drift adds 2 (30 Pa)^2 0.02 s / 3600 s = 0.01 Pa^2 to two times 1.44
    expected = (2.0 * 1.2**2 + 0.01) * (287.053 * 288.15 / (9.80665 * STANDARD_PA)) ** 2
    # drift of 30 Pa changes meters per pascal by 0.03 %
    assert abs(standard_errors_off(np.mean(steps**2, axis=1), expected)) < 3.0
    assert math.sqrt(expected / 2.0) == pytest.approx(0.1, abs=2e-3)


def test_the_barometer_of_micklisch_is_off_by_half_a_meter_at_most():
    found = series(MicklischBarometer(), at_pressure(STANDARD_PA), 2000, 50, 0.005)
    off = found.pressure_pa - STANDARD_PA
    assert 5.95 < np.max(np.abs(off)) <= 6.0
    assert abs(standard_errors_off(np.mean(off**2, axis=1), 12.0)) < 3.0
    assert abs(standard_errors_off(np.mean(off[:, 1:] * off[:, :-1], axis=1), 0.0)) < 3.0
    assert np.max(np.abs(found.altitude_m)) == pytest.approx(0.5, abs=0.01)
