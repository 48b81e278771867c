"""Errors between a sensor and its reader: their statistics, their timing, and what they refuse."""

import math
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.core.measurements import (
    AbstractMeasurement,
    GnssMeasurement,
    OrientationMeasurement,
    PressureMeasurement,
)
from kittiwake.core.standard_altitude import standard_altitude
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors import SENSORS
from kittiwake.sensors.barometer import Barometer
from kittiwake.sensors.errors.bias import Bias
from kittiwake.sensors.errors.dropout import Dropout
from kittiwake.sensors.errors.latency import Latency
from kittiwake.sensors.errors.noise import Noise
from kittiwake.sensors.errors.quantization import Quantization
from kittiwake.sensors.errors.saturation import Saturation
from kittiwake.sensors.errors.stuck import Stuck
from kittiwake.world.surroundings import Air, Surroundings

DT_S = 0.1
SAMPLES = 20_000
MOTION = Start().kinematics()
CALM = Surroundings(9.81, Air(288.15, 101325.0, 1.225), Vec3.zero(), 0.0, math.inf)


class Reading(AbstractMeasurement):
    """A number, a vector, a count and a flag."""

    height_m: Real
    velocity_world_mps: Vec3
    satellites: Integer
    valid: Flag


class Perfect(AbstractSensor):
    """Tells the time as a height, its multiples as a velocity, and counts its samples."""

    measures: ClassVar[type] = Reading

    def step(self, state, inputs, dt_s, key):
        del dt_s, key
        return state, self.ideal(inputs)

    def ideal(self, inputs):
        t = inputs.time_s
        count = jnp.asarray(jnp.round(t / DT_S), jnp.int32)
        return Reading(t, Vec3(t, 2.0 * t, 3.0 * t), count, count % 2 == 0)


def sampled(*errors, samples=SAMPLES):
    """All samples at the times 0, DT_S, ... of one instrument."""
    return jax.tree.map(lambda leaf: leaf[0], sampled_often(*errors, samples=samples, times=1))


def sampled_often(*errors, times, samples=SAMPLES):
    """The same for some instruments with streams of their own, along a leading axis."""
    instrument = Instrument(Perfect(), errors)

    def inputs(tick):
        time_s = DT_S * jnp.asarray(tick, float)
        return SensorInputs(time_s, MOTION, CALM, None, {})

    def fly(key):
        def once(state, tick):
            own = jax.random.fold_in(key, tick)
            return instrument.step(state, inputs(tick), DT_S, own)

        begun, _ = instrument.init(inputs(jnp.asarray(0)), DT_S, key)
        return jax.lax.scan(once, begun, jnp.arange(samples))[1]

    keys = jax.random.split(jax.random.key(0), times)
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(fly))(keys))


def errors_of(samples):
    """Of the height and of the velocity, along the last axis but one."""
    return np.stack(
        [
            samples.measurement.height_m - samples.ideal.height_m,
            *(
                getattr(samples.measurement.velocity_world_mps, axis)
                - getattr(samples.ideal.velocity_world_mps, axis)
                for axis in "xyz"
            ),
        ],
        axis=-2,
    )


@pytest.mark.slow
def test_noise_is_white_independent_and_of_its_deviation():
    errors = errors_of(sampled(Noise(0.5)))
    # standard errors: of a deviation sigma / sqrt(2 n), of a correlation 1 / sqrt(n)
    np.testing.assert_allclose(errors.std(axis=1), 0.5, atol=3 * 0.5 / np.sqrt(2 * SAMPLES))
    assert abs(errors.mean(axis=1)).max() < 4 * 0.5 / np.sqrt(SAMPLES)
    correlations = np.corrcoef(errors) - np.eye(4)
    assert abs(correlations).max() < 4 / np.sqrt(SAMPLES)
    lagged = [np.corrcoef(row[1:], row[:-1])[0, 1] for row in errors]
    assert np.abs(lagged).max() < 4 / np.sqrt(SAMPLES)


@pytest.mark.slow
def test_flags_and_counts_pass_untouched():
    samples = sampled(Noise(5.0), Quantization(0.3), Bias(7.0), samples=50)
    np.testing.assert_array_equal(samples.measurement.satellites, np.arange(50))
    np.testing.assert_array_equal(samples.measurement.valid, np.arange(50) % 2 == 0)
    assert samples.fresh.all()


@pytest.mark.slow
def test_an_error_of_one_field_leaves_the_others():
    height, *velocity = errors_of(sampled(Noise(0.5, field="velocity_world_mps"), samples=50))
    assert (height == 0.0).all()
    assert np.std(velocity, axis=1).min() > 0.3


@pytest.mark.slow
def test_a_bias_is_the_offset_and_a_draw_that_stays():
    biases = errors_of(sampled_often(Bias(2.0, 0.5), samples=5, times=300))
    # rounding beside heights of half a meter
    assert np.ptp(biases, axis=2).max() < 1e-12
    drawn = biases[:, :, 0].ravel()
    assert drawn.mean() == pytest.approx(2.0, abs=3 * 0.5 / np.sqrt(drawn.size))
    assert drawn.std() == pytest.approx(0.5, abs=3 * 0.5 / np.sqrt(2 * drawn.size))


@pytest.mark.slow
def test_a_bias_without_a_time_constant_walks_at_random():
    walks = errors_of(sampled_often(Bias(walk_per_rts=0.3), samples=1001, times=50))
    walks = walks.reshape(200, 1001)
    assert (walks[:, 0] == 0.0).all()
    steps = np.diff(walks, axis=1)
    sigma = 0.3 * np.sqrt(DT_S)
    assert steps.std() == pytest.approx(sigma, abs=3 * sigma / np.sqrt(2 * steps.size))
    # after 100 s: k sqrt(t)
    expected = 0.3 * np.sqrt(100.0)
    error = expected / np.sqrt(2 * len(walks))
    assert walks[:, -1].std() == pytest.approx(expected, abs=3 * error)


@pytest.mark.slow
def test_a_bias_with_a_time_constant_has_its_deviation_and_its_correlation():
    tau_s, k = 2.0, 0.3
    bias = Bias(walk_per_rts=k, time_constant_s=tau_s)
    walks = errors_of(sampled_often(bias, times=4)).reshape(16, SAMPLES)[:, 200:]
    sigma = k * np.sqrt(tau_s / 2.0)
    # samples a time constant apart count as independent, to the factor (1 + r^2) / (1 - r^2)
    independent = walks.size * DT_S / tau_s
    assert walks.std() == pytest.approx(sigma, abs=3 * sigma / np.sqrt(2 * independent))
    lag = round(tau_s / DT_S)
    correlation = np.mean(walks[:, lag:] * walks[:, :-lag]) / np.mean(walks**2)
    assert correlation == pytest.approx(np.exp(-1.0), abs=3 / np.sqrt(independent))


def test_latency_gives_each_sample_with_its_ideal_so_much_later():
    samples = sampled(Latency(0.3), samples=20)
    late = np.maximum(np.arange(20) - 3, 0) * DT_S
    np.testing.assert_allclose(samples.measurement.height_m, late, atol=1e-12)
    np.testing.assert_allclose(samples.ideal.height_m, late, atol=1e-12)
    np.testing.assert_array_equal(samples.fresh, np.arange(20) >= 3)


@pytest.mark.slow
def test_samples_that_were_not_fresh_are_not_fresh_after_a_latency():
    lost = sampled(Dropout(0.5), samples=200).fresh
    # the seeds of errors follow from their place, which is the same
    both = sampled(Dropout(0.5), Latency(0.5), samples=200).fresh
    np.testing.assert_array_equal(both[5:], lost[:-5])


@pytest.mark.slow
@pytest.mark.parametrize("length", [None, 6.0])
def test_dropout_loses_its_share_in_bursts_of_its_length(length):
    fresh = sampled_often(Dropout(0.3, length), times=4).fresh
    mean_length = 1.0 / 0.7 if length is None else length
    # the fraction's variance is p (1 - p) / n times (1 + r) / (1 - r), with r the correlation
    r = 1.0 - 1.0 / mean_length - 0.3 / (0.7 * mean_length)
    error = np.sqrt(0.3 * 0.7 / fresh.size * (1.0 + r) / (1.0 - r))
    assert 1.0 - fresh.mean() == pytest.approx(0.3, abs=3 * error)
    bursts = np.concatenate([np.diff(np.flatnonzero(row)) - 1 for row in fresh])
    bursts = bursts[bursts > 0]
    spread = mean_length / np.sqrt(len(bursts))
    assert bursts.mean() == pytest.approx(mean_length, abs=3 * spread)


def test_the_reader_keeps_the_last_sample_that_came_through():
    samples = sampled(Dropout(0.5), samples=300)
    ticks = np.arange(300)
    last = np.maximum.accumulate(np.where(samples.fresh, ticks, 0))
    assert samples.fresh[0]
    np.testing.assert_allclose(samples.measurement.height_m, last * DT_S, atol=1e-12)
    np.testing.assert_allclose(samples.ideal.height_m, last * DT_S, atol=1e-12)


def test_quantised_numbers_are_the_nearest_multiples():
    samples = sampled(Quantization(0.25, field="height_m"), samples=100)
    heights = samples.measurement.height_m
    np.testing.assert_allclose(heights / 0.25, np.round(heights / 0.25), atol=1e-12)
    assert abs(heights - samples.ideal.height_m).max() <= 0.125 + 1e-12


def test_saturated_numbers_end_at_their_limits():
    samples = sampled(Saturation(1.0, 2.0, field="height_m"), samples=50)
    np.testing.assert_allclose(
        samples.measurement.height_m, np.clip(samples.ideal.height_m, 1.0, 2.0)
    )


@pytest.mark.parametrize(("for_s", "ends"), [(None, 50), (1.0, 30)])
def test_a_stuck_sensor_repeats_the_sample_before_as_new(for_s, ends):
    samples = sampled(Stuck(2.0, for_s, field="height_m"), samples=50)
    ticks = np.arange(50)
    expected = np.where((ticks >= 20) & (ticks < ends), 19, ticks) * DT_S
    np.testing.assert_allclose(samples.measurement.height_m, expected, atol=1e-12)
    assert samples.fresh.all()


def test_a_sensor_that_is_stuck_repeats_its_counts_and_flags_too():
    said = sampled(Stuck(2.0), samples=50).measurement
    last = np.minimum(np.arange(50), 19)
    np.testing.assert_array_equal(said.satellites, last)
    np.testing.assert_array_equal(said.valid, last % 2 == 0)
    np.testing.assert_allclose(said.velocity_world_mps.z, 3.0 * DT_S * last, atol=1e-12)


def test_one_field_alone_can_be_stuck():
    said = sampled(Stuck(2.0, field="satellites"), samples=50).measurement
    np.testing.assert_array_equal(said.satellites, np.minimum(np.arange(50), 19))
    np.testing.assert_array_equal(said.valid, np.arange(50) % 2 == 0)


@pytest.mark.slow
@pytest.mark.parametrize("error", [Bias(100.0), Noise(30.0, field="pressure_pa"), Stuck(0.0)])
def test_the_altitude_of_a_barometer_follows_its_pressure(error):
    instrument = Instrument(Barometer(noise_pa=0.0, drift_pa=0.0), (error,))
    inputs = SensorInputs(0.0, MOTION, CALM, None, {})
    state, _ = instrument.init(inputs, DT_S, jax.random.key(0))
    _, sample = instrument.step(state, inputs, DT_S, jax.random.key(1))
    told = sample.measurement
    assert told.altitude_m == standard_altitude(told.pressure_pa)
    off_pa = float(told.pressure_pa - sample.ideal.pressure_pa)
    # R T / (g p) meters a pascal, which changes by 0.1 % over 100 Pa
    slope = 287.053 * 288.15 / (9.80665 * 101325.0)
    assert float(told.altitude_m) == pytest.approx(-slope * off_pa, rel=2e-3)
    assert (off_pa == 0.0) == isinstance(error, Stuck)


@pytest.mark.parametrize("name", SENSORS.names())
def test_measurements_list_their_quantities(name):
    measured = SENSORS.find(name).measures
    assert issubclass(measured, AbstractMeasurement)
    assert bool(measured.quantities()) == (name != "terrain-class")


def test_quantities_are_the_measured_real_numbers_with_their_units():
    assert Reading.quantities() == {"height_m": "m", "velocity_world_mps": "mps"}
    assert set(GnssMeasurement.measured()) - set(GnssMeasurement.quantities()) == {
        *("satellites", "valid")
    }
    assert set(OrientationMeasurement.quantities().values()) == {"rad"}
    assert PressureMeasurement.quantities() == {"pressure_pa": "pa"}


SCENARIO = """name: tern
time: {{duration_s: 1, rate_hz: 50}}
vehicles:
  tern:
    model: pelican
    start: {{position_world_m: [0, 0, 5]}}
    sensors:
      imu: {{{sensor}, rate_hz: 25, errors: {errors}}}
"""


def refusal(tmp_path, errors, sensor="type: imu"):
    file = tmp_path / "tern.yaml"
    file.write_text(SCENARIO.format(sensor=sensor, errors=errors))
    with pytest.raises(ScenarioError) as refused:
        load_scenario(str(file))
    return str(refused.value)


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ("[{type: noise, deviation: 1, field: height}]", "field: height is not measured"),
        ("[{type: noise}]", "errors.0.deviation is missing"),
        ("[{type: latency, delay_s: 0.05}]", "must be a multiple of the sensor's period, 0.04 s"),
        ("[{type: latency, delay_s: 0.01}]", "Write 0.04"),
        ("[{type: latency, delay_s: -0.04}]", "-0.04 is not allowed; must be above 0"),
        ("[{type: latency, delay_s: 4000.04}]", "must be at most 4000, which is 100000 samples"),
        ("[{type: latency, delay_s: 1.0e+9}]", "samples at the sensor's period of 0.04 s"),
        ("[{type: latency, delay_s: 1.0e+308}]", "delay_s: got 1e+308"),
        ("[{type: dropout, probability: 1}]", "must be from 0 to 0.999999"),
        ("[{type: dropout, probability: 0.9, mean_length: 2}]", "it must be at least 9"),
        ("[{type: saturation, low: 1, high: 1}]", "must be below high"),
        ("[{type: nois, deviation: 1}]", "Did you mean 'noise'?"),
        ("{type: noise, deviation: 1}", "write a list"),
    ],
)
def test_errors_that_make_no_sense_are_refused_with_their_line(errors, said, tmp_path):
    message = refusal(tmp_path, errors)
    assert said in message
    assert message.startswith("tern.yaml:8: vehicles.tern.sensors.imu.errors")


@pytest.mark.parametrize(
    ("sensor", "error", "said"),
    [
        ("imu", "noise, deviation: 1", "write one of specific_force_body_mps2, angular_velocity_"),
        ("gnss", "noise, deviation: 5", "field is missing: this sensor measures several kinds"),
        ("gnss", "bias, offset: 5, field: satellites", "satellites holds no real numbers. Allowed"),
        ("gnss", "saturation, low: 0, high: 1, field: valid", "field: valid holds no real numbers"),
        ("barometer", "stuck, at_s: 1, field: altitude_m", "altitude_m follows from what is"),
        ("barometer", "bias, offset: 1, field: altitude_m", "is measured. Allowed: pressure_pa."),
        ("altimeter", "quantization, quantum: 1", "height_world_m, height_rate_world_mps"),
        ("terrain-class", "noise, deviation: 1", "measures no real numbers"),
        ("terrain-class", "bias, field: terrain_class", "write stuck, latency or dropout"),
        ("gnss", "stuck, at_s: 1, field: satellite", "Did you mean 'satellites'?"),
    ],
)
def test_errors_without_a_quantity_to_act_on_are_refused(sensor, error, said, tmp_path):
    message = refusal(tmp_path, f"[{{type: {error}}}]", f"type: {sensor}")
    assert said in message
    assert "tern.yaml:8: vehicles.tern.sensors.imu.errors.0" in message


@pytest.mark.parametrize(
    ("sensor", "error"),
    [
        ("orientation", "bias, offset: 0.1"),
        ("barometer", "bias, offset: 100"),
        ("magnetometer", "noise, deviation: 1.0e-6"),
        ("imu", "quantization, quantum: 0.1, field: specific_force_body_mps2"),
        ("imu", "stuck, at_s: 1"),
        ("imu", "latency, delay_s: 4000"),
    ],
)
def test_errors_of_one_kind_of_quantity_are_taken(sensor, error, tmp_path):
    file = tmp_path / "tern.yaml"
    file.write_text(SCENARIO.format(sensor=f"type: {sensor}", errors=f"[{{type: {error}}}]"))
    assert load_scenario(str(file)).vehicles["tern"].sensors["imu"].component.errors


@pytest.mark.parametrize("key", ["offset_deg", "axis", "value_deg"])
def test_unit_or_axis_of_an_error_is_refused_with_advice(tmp_path, key):
    said = refusal(tmp_path, f"[{{type: bias, field: angular_velocity_body_radps, {key}: 1}}]")
    assert f"{key}: there is no such key. Allowed: deviation, field, offset, " in said
    assert "An error is in the unit of its field and acts on all its axes." in said


def test_axis_of_a_stuck_sensor_is_refused_with_advice(tmp_path):
    said = refusal(tmp_path, "[{type: stuck, at_s: 1, axis: x}]")
    assert said.endswith("An error acts on all axes of its field.")
