"""Named random streams: independent of each other and of other components."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.core.component import Scheduled
from kittiwake.core.keys import fold_in_name, seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import Instrument
from kittiwake.interfaces.sensor import AbstractSensor
from kittiwake.pytree import Module
from kittiwake.sim.fleet_builder import build_fleet


class Reading(Module):
    """A measurement for these tests."""

    height_m: Real


class NoisyHeight(AbstractSensor):
    """A sensor for these tests."""

    def step(self, state, inputs, dt_s, key):
        noise = jax.random.normal(key, dtype=jnp.result_type(float))
        return state, Reading(inputs.truth.position_world_m.z + noise)


def bits(key):
    return jax.random.key_data(key).tolist()


def streams(fleet, seed=0):
    """Return the bits of each initial key, by vehicle and stream."""
    # compiled at once: an operation after the other takes longer
    state = jax.jit(lambda key: fleet.init(key))(seed_key(seed))
    return {
        (name, stream): bits(key[index])
        for group, vehicles in zip(fleet.groups, state.groups, strict=True)
        for index, name in enumerate(group.names)
        for stream, key in vehicles.streams.items()
    }


@pytest.fixture(scope="module")
def scenario():
    bare = {"vehicles.pelican.estimator": "truth", "vehicles.pelican.sensors": {}}
    return kw.load("keep-spot", bare).scenario


def fleet_of(scenario, **vehicles):
    return build_fleet(scenario.world, vehicles, scenario.rate_hz)


def test_named_stream_has_constant_bits():
    # recorded runs are repeated by their seed alone: these bits may not change with a release
    assert bits(fold_in_name(seed_key(7), "pelican")) == [3909213807, 2974805173]


def test_bits_do_not_depend_on_the_generator_that_jax_is_set_to():
    expected = bits(fold_in_name(seed_key(7), "pelican"))
    with jax.default_prng_impl("rbg"):
        assert bits(fold_in_name(seed_key(7), "pelican")) == expected


def test_streams_differ_by_seed_and_by_name():
    keys = {
        tuple(bits(fold_in_name(seed_key(seed), name)))
        for seed in range(50)
        for name in ("dynamics", "turbulence", "sensor.a", "sensor.b")
    }
    assert len(keys) == 200


@pytest.mark.parametrize("seed", [0, 2**31, 2**32, 2**40 + 5, 2**63 - 1])
def test_seed_gives_the_same_key_in_either_precision(seed):
    with jax.enable_x64(False):
        single = bits(seed_key(seed))
    assert single == bits(seed_key(seed)) == [seed >> 32, seed % 2**32]


def test_streams_of_two_names_are_uncorrelated():
    draws = [jax.random.normal(fold_in_name(seed_key(0), name), (10_000,)) for name in ("a", "b")]
    # one standard error of a correlation of 10,000 pairs is 0.01
    assert abs(np.corrcoef(*draws)[0, 1]) < 0.04


@pytest.mark.slow
def test_another_sensor_changes_no_other_stream(scenario):
    vehicle = scenario.vehicles["pelican"]
    equipped = dataclasses.replace(
        vehicle, sensors={"height": Scheduled(Instrument(NoisyHeight()))}
    )
    before = streams(fleet_of(scenario, pelican=vehicle))
    after = streams(fleet_of(scenario, pelican=equipped))
    assert set(after) - set(before) == {("pelican", "sensor.height")}
    assert {name: after[name] for name in before} == before


@pytest.mark.slow
def test_another_sensor_changes_no_bit_of_the_flight(scenario):
    vehicle = scenario.vehicles["pelican"]
    one = {"height": Scheduled(Instrument(NoisyHeight()))}
    two = {"second": Scheduled(Instrument(NoisyHeight())), **one}

    def flown(sensors):
        fleet = fleet_of(scenario, pelican=dataclasses.replace(vehicle, sensors=sensors))

        def select(snapshots):
            seen = snapshots[0]
            return seen.truth.position_world_m, seen.samples.get("height")

        return jax.jit(lambda s: fleet.rollout(s, 50, select)[1])(fleet.init(seed_key(0)))

    plain, _ = flown({})
    with_one, heights = flown(one)
    with_two, again = flown(two)
    assert eqx.tree_equal(plain, with_one, with_two)
    assert eqx.tree_equal(heights, again)
    assert np.std(heights.measurement.height_m - with_one.z) == pytest.approx(1.0, abs=0.4)


@pytest.mark.slow
def test_another_vehicle_changes_no_stream_of_the_first(scenario):
    vehicle = scenario.vehicles["pelican"]
    alone = streams(fleet_of(scenario, pelican=vehicle))
    together = streams(fleet_of(scenario, other=vehicle, pelican=vehicle))
    assert {name: together[name] for name in alone} == alone
    assert len({tuple(key) for key in together.values()}) == len(together)
