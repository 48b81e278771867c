"""Scheduling: valid rates, and components that run when due and hold between."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kittiwake.core.commands import AttitudeThrottle, PositionYaw
from kittiwake.core.component import Scheduled
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.interfaces.controller import AbstractController
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module
from kittiwake.scenario.build import build
from kittiwake.scenario.document import parse_document
from kittiwake.sim.fleet_builder import build_fleet
from kittiwake.sim.schedule import Clock, ScheduledState, run, steps_between

TICKS = 16
ONE_PELICAN = """
name: one
time: {rate_hz: 50, duration_s: 1}
vehicles:
  gull: {model: pelican, start: {position_world_m: [0, 0, 10]}}
"""


class Reading(Module):
    """Record of the probe: time, step, random draw, number of runs."""

    time_s: jax.Array
    dt_s: jax.Array
    draw: jax.Array
    runs: jax.Array


class Probe(AbstractSensor):
    """A sensor that reports how it is run."""

    def init(self, key):
        del key
        return jnp.asarray(0, jnp.int32)

    def step(self, state, inputs, dt_s, key):
        reading = Reading(inputs.time_s, dt_s, jax.random.normal(key), state + 1)
        return state + 1, reading


class Stepwise(AbstractController):
    """A controller whose pitch counts its own runs, in hundredths."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = AttitudeThrottle

    def init(self, key):
        del key
        return jnp.asarray(0.0)

    def step(self, state, inputs, dt_s, key):
        del inputs, dt_s, key
        return state + 0.01, AttitudeThrottle(state, 0.0, 0.59, 0.0, 12.0)


def probe_every(steps):
    return {"probe": Scheduled(Instrument(Probe()), steps)}


@pytest.fixture(scope="module")
def readings():
    """Return readings over the ticks and the controller's pitch, by the probe's period in steps."""
    scenario = build(parse_document(ONE_PELICAN, "one.yaml"), Path())
    vehicle = scenario.vehicles["gull"]
    seen = {}
    for every in (1, 5):
        probed = dataclasses.replace(
            vehicle, sensors=probe_every(every), cascade=(Scheduled(Stepwise(), every),)
        )
        fleet = build_fleet(scenario.world, {"gull": probed}, rate_hz=50.0)
        seen[every] = flown(fleet)
    return seen


def flown(fleet):
    with jax.enable_x64(True):
        _, (reading, pitch) = jax.jit(
            lambda key: fleet.rollout(
                fleet.init(key),
                TICKS,
                lambda groups: (
                    groups[0].samples["probe"].measurement,
                    groups[0].command.pitch_rad,
                ),
            )
        )(seed_key(3))
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:, 0], (reading, pitch))


@pytest.mark.slow
def test_a_sensor_at_a_tenth_of_a_second_runs_at_each_fifth_tick_and_holds_between(readings):
    reading, _ = readings[5]
    last_due = np.arange(TICKS) // 5 * 5
    np.testing.assert_array_equal(reading.time_s, last_due * 0.02)
    np.testing.assert_array_equal(reading.runs, last_due // 5 + 1)
    np.testing.assert_array_equal(reading.draw, reading.draw[last_due])


def test_a_sensor_at_every_step_runs_at_every_step(readings):
    reading, _ = readings[1]
    np.testing.assert_array_equal(reading.time_s, np.arange(TICKS) * 0.02)
    np.testing.assert_array_equal(reading.runs, np.arange(TICKS) + 1)
    assert len(set(reading.draw)) == TICKS


def test_a_component_receives_the_time_between_its_own_runs(readings):
    np.testing.assert_allclose(readings[1][0].dt_s, 0.02, rtol=1e-15)
    np.testing.assert_allclose(readings[5][0].dt_s, 0.1, rtol=1e-15)


def test_a_draw_depends_on_the_tick_and_not_on_the_rate(readings):
    np.testing.assert_array_equal(readings[5][0].draw[::5], readings[1][0].draw[::5])


def test_a_controller_at_a_tenth_of_a_second_holds_its_command(readings):
    np.testing.assert_allclose(readings[5][1], np.arange(TICKS) // 5 / 100, atol=1e-15)
    np.testing.assert_allclose(readings[1][1], np.arange(TICKS) / 100, atol=1e-15)


@pytest.mark.slow
def test_a_skipped_controller_restarts_immediately():
    scenario = build(parse_document(ONE_PELICAN, "one.yaml"), Path())
    slow = dataclasses.replace(scenario.vehicles["gull"], cascade=(Scheduled(Stepwise(), 5),))
    fleet = build_fleet(scenario.world, {"gull": slow}, rate_hz=50.0)
    sticks = {"gull": AttitudeThrottle(0.5, 0.0, 0.59, 0.0, 12.0)}
    with jax.enable_x64(True):
        step = jax.jit(lambda state: fleet.step(state))
        state = jax.jit(lambda key: fleet.init(key))(seed_key(0))
        pitches = []
        for tick in range(18):
            # passed over at the very first tick, and again after it had run three times
            given = sticks if tick < 2 or tick == 13 else None
            state, (seen,) = fleet.step(state, given) if given else step(state)
            pitches.append(float(seen.command.pitch_rad[0]))
    runs = [0] * 3 + [1] * 5 + [2] * 3
    expected = [0.5] * 2 + [n / 100 for n in runs] + [0.5, 0.0, 0.01, 0.01, 0.01]
    np.testing.assert_allclose(pitches, expected, atol=1e-15)


def test_a_component_at_every_step_holds_no_output():
    clock = Clock(jnp.asarray(0, jnp.int32), 0.02)
    inputs = SimpleNamespace(time_s=1.0)
    state = ScheduledState(jnp.asarray(0, jnp.int32), None, None)
    held, output = run(Scheduled(Probe(), 1), state, inputs, clock, seed_key(0))
    assert held.output is None
    assert float(output.time_s) == 1.0


@pytest.mark.parametrize(
    ("physics_hz", "wanted_hz", "steps"),
    [(50.0, None, 1), (50.0, 50, 1), (50.0, 10, 5), (400.0, 0.5, 800), (100.0, 100 / 3, 3)],
)
def test_a_rate_that_divides_gives_whole_steps(physics_hz, wanted_hz, steps):
    assert steps_between(physics_hz, wanted_hz) == steps


@pytest.mark.parametrize(("physics_hz", "wanted_hz"), [(50.0, 30), (50.0, 51), (50.0, 49.999)])
def test_a_rate_that_does_not_divide_is_rejected_with_both_numbers(physics_hz, wanted_hz):
    with pytest.raises(ScenarioError) as refused:
        steps_between(physics_hz, wanted_hz)
    assert f"rate_hz {wanted_hz:g} does not divide" in str(refused.value)
    assert f"{physics_hz:g} Hz" in str(refused.value)


@given(st.floats(1.0, 1000.0), st.integers(1, 10_000))
def test_any_fraction_of_the_physics_rate_divides_it(physics_hz, steps):
    assert steps_between(physics_hz, physics_hz / steps) == steps


@pytest.mark.parametrize(
    ("physics_hz", "wanted_hz"),
    [(50.0, 30), (50.0, 7), (333.3, 0.07), (480.0, 0.00101), (100.0, 3e-5), (1000.0, 1.1e-5)],
)
def test_the_two_proposed_rates_are_valid(physics_hz, wanted_hz):
    with pytest.raises(ScenarioError) as refused:
        steps_between(physics_hz, wanted_hz)
    higher, lower = str(refused.value).rpartition("write ")[2].split(" or ")
    assert float(higher) > wanted_hz > float(lower)
    for rate in (higher, lower):
        assert steps_between(physics_hz, float(rate)) >= 1


@pytest.mark.parametrize("physics_hz", [1.0, 50.0, 480.0, 1000.0])
def test_too_low_a_rate_is_rejected_with_the_lowest_valid_one(physics_hz):
    with pytest.raises(ScenarioError, match=r"1e-10 is too low for .* write \S+ or more$") as no:
        steps_between(physics_hz, 1e-10)
    lowest_hz = float(str(no.value).rpartition("write ")[2].split()[0])
    # a power of ten, at most ten times what can just be counted
    assert physics_hz / lowest_hz <= steps_between(physics_hz, lowest_hz) < 2**31
    assert lowest_hz < 10 * physics_hz / 2**31
