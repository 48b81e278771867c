"""Instruments in a flight: fresh samples, and the order of errors."""

import dataclasses
from pathlib import Path
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.component import Scheduled
from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import AbstractSensorError, Instrument
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.sim.fleet_builder import build_fleet

GULL = """
name: one
vehicles:
  gull: {model: pelican, start: {position_world_m: [0, 0, 5]}, guidance: hold}
time: {duration_s: 1}
"""


class Stamp(Module):
    """Measurement of the time."""

    stamp_s: Real


class Watch(AbstractSensor):
    """Sensor of the time, a second late."""

    measures: ClassVar[type] = Stamp

    def step(self, state, inputs, dt_s, key):
        del dt_s, key
        return state, Stamp(inputs.time_s - 1.0)

    def ideal(self, inputs):
        return Stamp(inputs.time_s)


class Factor(AbstractSensorError):
    """Error that multiplies."""

    by: Real

    def step(self, state, sample, dt_s, key):
        del dt_s, key
        return state, dataclasses.replace(
            sample, measurement=jax.tree.map(lambda x: x * self.by, sample.measurement)
        )


class Offset(AbstractSensorError):
    """Error that adds a random constant, and drops every second sample."""

    def init(self, key, first, dt_s):
        del dt_s
        draw = jax.random.normal(key, (), first.measurement.stamp_s.dtype)
        return draw, jnp.asarray(0, jnp.int32)

    def step(self, state, sample, dt_s, key):
        del dt_s, key
        offset, count = state
        measurement = jax.tree.map(lambda x: x + offset, sample.measurement)
        new = dataclasses.replace(sample, measurement=measurement, fresh=count % 2 == 0)
        return (offset, count + 1), new


def flown(*errors, every=1, ticks=20):
    scenario = build(parse_document(GULL, "one.yaml"), Path())
    watch = Scheduled(Instrument(Watch(), errors), every)
    gull = dataclasses.replace(scenario.vehicles["gull"], sensors={"watch": watch})
    fleet = build_fleet(scenario.world, {"gull": gull}, rate_hz=50.0)

    def fly(key):
        return fleet.rollout(fleet.init(key), ticks, lambda g: g[0].samples["watch"])[1]

    with jax.enable_x64(True):
        samples = jax.jit(fly)(seed_key(3))
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:, 0], samples)


@pytest.mark.slow
def test_a_sample_is_fresh_at_the_ticks_of_its_sensor_and_held_between():
    samples = flown(every=5)
    ticks = np.arange(20)
    np.testing.assert_array_equal(samples.fresh, ticks % 5 == 0)
    np.testing.assert_allclose(samples.ideal.stamp_s, ticks // 5 * 0.1, atol=1e-12)
    np.testing.assert_allclose(samples.measurement.stamp_s, ticks // 5 * 0.1 - 1.0, atol=1e-12)


@pytest.mark.slow
def test_errors_are_applied_in_order_and_keep_the_ideal():
    plain = flown(Factor(3.0), Offset())
    offset = plain.measurement.stamp_s - 3.0 * (plain.ideal.stamp_s - 1.0)
    assert offset.std() == pytest.approx(0.0, abs=1e-12)
    turned = flown(Offset(), Factor(3.0))
    first = turned.measurement.stamp_s - 3.0 * (turned.ideal.stamp_s - 1.0)
    assert abs(first[0]) > 0.0
    assert first.std() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(plain.ideal.stamp_s, np.arange(20) / 50.0, atol=1e-12)


@pytest.mark.slow
def test_an_error_may_drop_a_sample():
    np.testing.assert_array_equal(flown(Offset()).fresh, np.arange(20) % 2 == 0)
    # every tenth tick is a sample that went on
    np.testing.assert_array_equal(flown(Offset(), every=5).fresh, np.arange(20) % 10 == 0)
