"""What a flight remembers, in a fleet whose groups are others."""

from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.runtime.state_transfer import transfer_state
from kittiwake.scenario.build import build
from kittiwake.scenario.document import apply_overrides, parse_document
from kittiwake.scenario.vehicle_changes import with_vehicle, without_vehicle

TERNS = """
name: terns
time: {rate_hz: 100, duration_s: 5}
world:
  turbulence: {type: dryden, speed_at_6m_mps: 2}
vehicles:
  tern:
    model: angle-velocity
    count: 3
    spacing_m: [5, 0, 0]
    start: {position_world_m: [0, 0, 5]}
    controller: position
    guidance: {type: hold}
  auk:
    model: angle-velocity
    start: {position_world_m: [0, 9, 7]}
    controller: position
    guidance: {type: hold}
"""


def fleet(*overrides):
    document = parse_document(TERNS, "terns.yaml")
    return build(apply_overrides(document, overrides), Path()).fleet()


def places(fleet, state):
    """Where each vehicle is, by name."""
    return {
        name: tuple(float(part[lane]) for part in (truth.x, truth.y, truth.z))
        for group, kinematics in zip(fleet.groups, fleet.truths(state), strict=True)
        for truth in [kinematics.position_world_m]
        for lane, name in enumerate(group.names)
    }


def streams(fleet, state):
    """The key of each vehicle's gusts, by name."""
    return {
        name: jax.random.key_data(own.streams["turbulence"][lane]).tolist()
        for group, own in zip(fleet.groups, state.groups, strict=True)
        for lane, name in enumerate(group.names)
    }


@pytest.fixture(scope="module")
def flown():
    """A fleet of one group, and its state after half a second."""
    with jax.enable_x64(True):
        one = fleet()
        assert len(one.groups) == 1
        start = one.init(kw.seed_key(3))
        return one, jax.jit(lambda state: one.rollout(state, 50)[0])(start)


@pytest.mark.slow
def test_vehicles_that_change_groups_keep_their_states(flown):
    one, state = flown
    # a sensor makes the auk a kind of its own
    two = fleet("vehicles.auk.sensors={below: ultrasonic}")
    assert [group.names for group in two.groups] != [group.names for group in one.groups]
    later = transfer_state(one, state, two, two.init(kw.seed_key(9)))
    assert int(later.tick) == 50
    assert places(two, later) == places(one, state)
    assert streams(two, later) == streams(one, state)
    # and back into one group, in another order
    back = transfer_state(two, later, one, one.init(kw.seed_key(10)))
    for found, expected in zip(*map(jax.tree.leaves, (back, state)), strict=True):
        if jax.numpy.issubdtype(found.dtype, jax.dtypes.prng_key):
            found, expected = map(jax.random.key_data, (found, expected))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_states_of_added_components_start_fresh(flown):
    one, state = flown
    two = fleet("vehicles.auk.sensors={below: ultrasonic}")
    fresh = two.init(kw.seed_key(9))
    later = transfer_state(one, state, two, fresh)
    group, lane = two.locate("auk")
    for found, begun in zip(
        *(jax.tree.leaves(whole.groups[group].sensors) for whole in (later, fresh)), strict=True
    ):
        if not jax.numpy.issubdtype(found.dtype, jax.dtypes.prng_key):
            np.testing.assert_array_equal(found[lane], begun[lane])


@pytest.mark.slow
def test_messages_stay_with_their_vehicles_when_others_come_and_go():
    radio = "world.radio={type: lossy, memory_s: 0.2}"
    scenario = build(
        apply_overrides(parse_document(TERNS, "terns.yaml"), [radio, "vehicles.tern.count=2"]),
        Path(),
    )
    gull = {"model": "angle-velocity", "start": {"position_world_m": [0, 30, 5]}}
    other = without_vehicle(with_vehicle(scenario, "gull", gull), "tern")
    with jax.enable_x64(True):
        one, two = scenario.fleet(), other.fleet()
        assert [one.names, two.names] == [("tern-1", "tern-2", "auk"), ("auk", "gull")]
        state, fresh = one.init(kw.seed_key(3)), two.init(kw.seed_key(3))
        # each vehicle has sent its own number
        marked = jax.tree.map(
            lambda leaf: np.asarray(leaf) + np.arange(3.0), state.radio.state.positions_world_m
        )
        state = eqx.tree_at(lambda whole: whole.radio.state.positions_world_m, state, marked)
        later = transfer_state(one, state, two, fresh)
    assert later.additions == {"gull": 0}
    for axis in jax.tree.leaves(later.radio.state.positions_world_m):
        np.testing.assert_array_equal(axis[:, 0], 2.0)
        np.testing.assert_array_equal(axis[:, 1], 0.0)
