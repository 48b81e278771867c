"""Inertial measurement units: what they measure, each of their errors, their Allan deviation."""

import math
from dataclasses import replace
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.sample_series import (
    allan_variances,
    by_axis,
    first,
    seen,
    series,
    slope_and_error,
    standard_errors_off,
)

from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors.imu import Accelerometer, Gyroscope, Imu
from kittiwake.sensors.imu_sets import MicklischImu, QrsimImu
from kittiwake.sensors.mount import Mount

KEY = jax.random.key(0)
EXACT_FORCE = Accelerometer(*(0.0, 0.0, 0.0), 30.0, *(0.0, 0.0, 0.0), 1e3)
EXACT_RATE = Gyroscope(*(0.0, 0.0, 0.0), 30.0, *(0.0, 0.0, 0.0), 1e3)
EXACT = Imu(EXACT_FORCE, EXACT_RATE)
TURNING = Start(angular_velocity_body_radps=Vec3(0.3, -0.2, 1.5))
FORCE = Vec3(1.0, -2.0, 9.0)


def once(imu, inputs, seed=0):
    key = jax.random.key(seed)
    return imu.step(first(imu.init(key)), inputs, 0.01, jax.random.fold_in(key, 1))[1]


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found.array, np.asarray(expected.array), rtol=0, atol=tolerance)


def with_errors(**errors):
    """Gyroscopes with these errors only, and exact accelerometers."""
    return Imu(EXACT_FORCE, replace(EXACT_RATE, **errors))


@pytest.mark.slow
def test_a_unit_without_errors_gives_the_truth():
    reading = once(EXACT, seen(TURNING, FORCE))
    close(reading.specific_force_body_mps2, FORCE)
    close(reading.angular_velocity_body_radps, TURNING.angular_velocity_body_radps)


def test_a_turning_unit_off_the_center_is_pulled_outwards_and_measures_the_pull_inwards():
    spin = Start(angular_velocity_body_radps=Vec3(0.0, 0.0, 5.0))
    imu = replace(EXACT, mount=Mount(Vec3(0.1, 0.0, 0.3)))
    # r w^2 = 0.1 * 25 towards the axis; the way along the axis is without effect
    close(once(imu, seen(spin)).specific_force_body_mps2, Vec3(-2.5, 0.0, 9.81))


def test_specific_force_at_a_place_is_that_of_the_places_own_path():
    rate, place = np.array([0.3, -0.2, 1.5]), np.array([0.1, -0.05, 0.02])
    speed = np.linalg.norm(rate)
    axis = rate / speed

    def path(t):
        # Rodrigues' rotation of the place about the axis
        turned = place * math.cos(speed * t) + np.cross(axis, place) * math.sin(speed * t)
        return turned + axis * (axis @ place) * (1.0 - math.cos(speed * t))

    h = 1e-3
    acceleration = (path(h) - 2.0 * path(0.0) + path(-h)) / h**2
    imu = replace(EXACT, mount=Mount(Vec3.of(place)))
    found = once(imu, seen(TURNING, FORCE)).specific_force_body_mps2
    # h^2 / 12 of the fourth derivative, and the rounding of a second difference
    close(found, FORCE + Vec3.of(acceleration), tolerance=1e-7)


def test_a_turned_unit_reports_in_body_axes():
    turned = replace(EXACT, mount=Mount(roll_rad=math.pi, pitch_rad=0.4, yaw_rad=-1.0))
    reading = once(turned, seen(TURNING, FORCE))
    close(reading.specific_force_body_mps2, FORCE)
    close(reading.angular_velocity_body_radps, TURNING.angular_velocity_body_radps)


def test_the_range_is_that_of_the_units_own_axes():
    short = replace(EXACT_FORCE, range_mps2=1.0)
    inputs = seen(force=Vec3(1.2, 0.0, -3.0))
    close(once(Imu(short, EXACT_RATE), inputs).specific_force_body_mps2, Vec3(1.0, 0.0, -1.0))
    # 1.2 along the body is 0.85 along two axes that are turned by 45 degrees
    diagonal = Imu(short, EXACT_RATE, Mount(yaw_rad=math.pi / 4.0))
    close(once(diagonal, inputs).specific_force_body_mps2, Vec3(1.2, 0.0, -1.0))


@pytest.mark.slow
def test_turn_on_bias_differs_between_flights_and_stays_during_one():
    rows = by_axis(
        series(with_errors(turn_on_radps=0.01), seen(), 3, 500, 0.01).angular_velocity_body_radps
    )
    np.testing.assert_array_equal(rows[:, 0], rows[:, 2])
    assert abs(standard_errors_off(rows[:, 0] ** 2, 1e-4)) < 3.0
    assert abs(standard_errors_off(rows[:, 0], 0.0)) < 3.0


@pytest.mark.slow
def test_scale_errors_are_in_proportion_to_the_rate_along_the_axis():
    spin = seen(Start(angular_velocity_body_radps=Vec3(0.0, 0.0, 2.0)))
    rates = series(with_errors(scale_error=0.02), spin, 1, 2000, 0.01).angular_velocity_body_radps
    assert abs(standard_errors_off((rates.z[:, 0] - 2.0) ** 2, 0.04**2)) < 3.0
    np.testing.assert_array_equal(rates.x, 0.0)


@pytest.mark.slow
def test_misalignment_shows_a_rate_on_both_other_axes_and_not_on_its_own():
    spin = seen(Start(angular_velocity_body_radps=Vec3(0.0, 0.0, 2.0)))
    found = series(with_errors(misalignment_rad=0.02), spin, 1, 2000, 0.01)
    rates = found.angular_velocity_body_radps
    x, y = rates.x[:, 0], rates.y[:, 0]
    assert abs(standard_errors_off(x**2, 0.04**2)) < 3.0
    assert abs(standard_errors_off(y**2, 0.04**2)) < 3.0
    assert abs(standard_errors_off(x * y, 0.0)) < 3.0
    np.testing.assert_array_equal(rates.z, 2.0)


DT_S = 0.01
STEPS = 20_000


@cache
def still(name, value, time_s=30.0):
    """The rates at rest of gyroscopes with one error, a series a row."""
    with jax.enable_x64(True):
        imu = with_errors(**{name: value, "drift_time_s": time_s})
        return by_axis(series(imu, seen(), STEPS, 16, DT_S).angular_velocity_body_radps)


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 10, 100, 1000])
def test_white_noise_has_the_allan_deviation_of_theory(samples):
    found = allan_variances(still("noise_radps_per_rthz", 0.02), samples)
    assert abs(standard_errors_off(found, 0.02**2 / (2.0 * samples * DT_S))) < 3.0


def test_the_allan_deviation_of_white_noise_falls_with_the_root_of_time():
    slope, error = slope_and_error(still("noise_radps_per_rthz", 0.02), 10, 1000)
    assert error < 0.02
    assert abs(slope + 0.5) < 3.0 * error


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 10, 100, 1000])
def test_a_walk_has_the_allan_deviation_of_theory(samples):
    found = allan_variances(still("walk_radps_per_rts", 0.02), samples)
    # the last term is what sampling adds
    theory = 0.02**2 * samples * DT_S / 3.0 * (1.0 + 0.5 / samples**2)
    assert abs(standard_errors_off(found, theory)) < 3.0


def test_the_allan_deviation_of_a_walk_rises_with_the_root_of_time():
    slope, error = slope_and_error(still("walk_radps_per_rts", 0.02), 10, 1000)
    assert error < 0.03
    assert abs(slope - 0.5) < 3.0 * error


def test_a_walk_begins_at_zero_and_spreads_with_the_root_of_time():
    rows = still("walk_radps_per_rts", 0.02)
    for samples in (1, 100, STEPS):
        assert abs(standard_errors_off(rows[:, samples - 1] ** 2, 4e-4 * samples * DT_S)) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("samples", [10, 100, 400, 2000])
def test_a_drift_has_the_allan_deviation_of_theory(samples):
    found = allan_variances(still("drift_radps", 0.02, 2.0), samples)
    t = samples * DT_S / 2.0  # in time constants
    theory = 2.0 * 4e-4 / t * (1.0 - (3.0 - 4.0 * math.exp(-t) + math.exp(-2.0 * t)) / (2.0 * t))
    # sampling adds 1 / (2 m^2) where the drift is like a walk
    theory *= 1.0 + 0.5 / samples**2
    assert abs(standard_errors_off(found, theory)) < 3.0


def test_a_drift_has_its_deviation_and_time_constant():
    rows = still("drift_radps", 0.02, 2.0)
    assert abs(standard_errors_off(rows[:, 0] ** 2, 4e-4)) < 3.0
    assert abs(standard_errors_off(np.mean(rows**2, axis=1), 4e-4)) < 3.0
    for lag in (50, 200, 400):
        products = np.mean(rows[:, lag:] * rows[:, :-lag], axis=1)
        assert abs(standard_errors_off(products, 4e-4 * math.exp(-lag * DT_S / 2.0))) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("dt_s", [0.02, 0.005, 0.00125])
def test_the_noise_over_a_second_is_that_of_the_data_sheet_at_any_rate(dt_s):
    found = series(Imu(), seen(), round(30.0 / dt_s), 16, dt_s)
    second = round(1.0 / dt_s)
    # drift and walk add less than 1 % to the variance over a second
    gyroscope = allan_variances(by_axis(found.angular_velocity_body_radps), second)
    assert abs(standard_errors_off(gyroscope, math.radians(0.005) ** 2 / 2.0)) < 3.0
    accelerometer = allan_variances(by_axis(found.specific_force_body_mps2), second)
    assert abs(standard_errors_off(accelerometer, (400e-6 * 9.80665) ** 2 / 2.0)) < 3.0


@pytest.mark.slow
def test_errors_of_accelerometers_and_gyroscopes_are_independent():
    found = series(Imu(), seen(force=Vec3.zero()), 2000, 50, 0.01)
    force, rate = (
        by_axis(v) for v in (found.specific_force_body_mps2, found.angular_velocity_body_radps)
    )
    product = (force[:, 1:] - force[:, :-1]) * (rate[:, 1:] - rate[:, :-1])
    assert abs(standard_errors_off(np.mean(product, axis=1), 0.0)) < 3.0


def test_data_sheet_units_are_accepted():
    written = {
        "accelerometer": {"noise_ug_per_rthz": 400},
        "gyroscope": {"noise_degps_per_rthz": 0.005, "range_degps": 2000},
        "mount": {"position_body_m": [0.01, 0, 0], "yaw_deg": 90},
    }
    imu, default = build_component(Imu, written, str), Imu()
    accelerometer, gyroscope = imu.accelerometer, imu.gyroscope
    assert accelerometer.noise_mps2_per_rthz == pytest.approx(
        default.accelerometer.noise_mps2_per_rthz, rel=1e-4
    )
    assert gyroscope.noise_radps_per_rthz == pytest.approx(
        default.gyroscope.noise_radps_per_rthz, rel=1e-4
    )
    assert gyroscope.range_radps == pytest.approx(default.gyroscope.range_radps, rel=1e-7)
    assert default.accelerometer.range_mps2 == pytest.approx(16.0 * 9.80665, rel=1e-7)
    assert imu.mount.yaw_rad == pytest.approx(math.pi / 2.0)


@pytest.mark.slow
def test_readings_in_single_precision_have_the_noise_of_double_precision(single_precision):
    found = by_axis(series(Imu(), seen(), 2000, 50, 0.002).specific_force_body_mps2)
    assert found.dtype == np.float32
    difference = np.diff(found.astype(float), axis=1)
    # white noise counts twice in a difference; drift and walk hardly change in 2 ms
    expected = 2.0 * (400e-6 * 9.80665) ** 2 / (2.0 * 0.002)
    assert abs(standard_errors_off(np.mean(difference**2, axis=1), expected)) < 3.0


def errors_of(imu):
    """Of force and rate, a series a row."""
    found = series(imu, seen(TURNING, FORCE), 2000, 30, 0.02)
    true = imu.ideal(seen(TURNING, FORCE))
    pairs = (
        (found.specific_force_body_mps2, true.specific_force_body_mps2),
        (found.angular_velocity_body_radps, true.angular_velocity_body_radps),
    )
    return [
        np.concatenate([getattr(got, axis) - float(getattr(real, axis)) for axis in "xyz"])
        for got, real in pairs
    ]


@pytest.mark.slow
def test_the_set_of_qrsim_is_white_with_its_deviations():
    for rows, deviation in zip(errors_of(QrsimImu()), (0.0025, 0.0002), strict=True):
        assert abs(standard_errors_off(np.mean(rows**2, axis=1), deviation**2)) < 3.0
        assert abs(standard_errors_off(np.mean(rows[:, 1:] * rows[:, :-1], axis=1), 0.0)) < 3.0


def test_the_set_of_micklisch_is_spread_evenly_within_its_bounds():
    for rows in errors_of(MicklischImu()):
        assert 0.0109 < np.max(np.abs(rows)) <= 0.011 * (1.0 + 1e-12)
        assert abs(standard_errors_off(np.mean(rows**2, axis=1), 0.011**2 / 3.0)) < 3.0
        assert abs(standard_errors_off(np.mean(rows[:, 1:] * rows[:, :-1], axis=1), 0.0)) < 3.0


@pytest.mark.parametrize("imu", [QrsimImu(), MicklischImu()])
def test_the_other_sets_are_ideal_where_the_truth_is(imu):
    true = imu.ideal(seen(TURNING, FORCE))
    assert true.specific_force_body_mps2 == FORCE
    assert true.angular_velocity_body_radps == TURNING.angular_velocity_body_radps


@pytest.mark.slow
def test_the_unit_is_differentiable_in_place_and_mounting():
    def total(place, yaw):
        imu = Imu(mount=Mount(place, yaw_rad=yaw))
        reading = once(imu, seen(TURNING, FORCE))
        return reading.specific_force_body_mps2.x + reading.angular_velocity_body_radps.y

    slopes = jax.grad(total, argnums=(0, 1))(Vec3(0.0, 0.0, 0.0), 0.0)
    assert all(bool(jnp.isfinite(slope)) for slope in jax.tree.leaves(slopes))
