"""Neighbor tables from the ideal and the lossy radio: range, latency and losses."""

from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.core.arrays import as_arrays
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.core.neighbors import Roster, StateReport
from kittiwake.geometry.vec3 import Vec3
from kittiwake.swarm.ideal_radio import IdealRadio
from kittiwake.swarm.lossy_radio import LossyRadio
from kittiwake.world.radio import Broadcast

PERIOD_S = 0.1


def stacked(items):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(as_arrays, items))


def whole(numbers):
    return jnp.asarray(numbers, jnp.int32)


def broadcast(places, velocities=None, *, lost=(), team=None, leader=None, reported=None):
    """Return the broadcast of vehicles at these places; ``reported`` are their estimates."""
    count = len(places)
    velocities = [(0.0, 0.0, 0.0)] * count if velocities is None else velocities
    reported = places if reported is None else reported
    reports = [
        StateReport(Vec3.of([*map(float, p)]), Vec3.of([*map(float, v)]), 0.0, sent=True)
        for p, v in zip(reported, velocities, strict=True)
    ]
    team = [0] * count if team is None else team
    leader = range(count) if leader is None else leader
    hashes = jnp.arange(7, 7 + count, dtype=jnp.uint32)
    roster = Roster(
        hashes, whole(team), whole(range(count)), whole([count] * count), whole(list(leader))
    )
    present = jnp.asarray([i not in lost for i in range(count)])
    true = stacked([Vec3.of([*map(float, p)]) for p in places])
    return Broadcast(stacked(reports), true, present, roster, jnp.asarray(0.0))


def row(count, gap_m=1.0):
    return [(gap_m * i, 0.0, 0.0) for i in range(count)]


def neighbors_after(radio, message, steps=1, key=None):
    """Return the neighbor tables after some steps with the same broadcast."""
    key = seed_key(0) if key is None else key
    state, step = radio.init(len(message.present), PERIOD_S, key), jax.jit(radio.step)
    for _ in range(steps):
        state, neighbors = step(state, message, PERIOD_S, key)
    return neighbors


RADIOS = {"ideal": IdealRadio, "lossy": LossyRadio}
each_radio = pytest.mark.parametrize("radio", RADIOS.values(), ids=RADIOS)


@pytest.mark.slow
@each_radio
def test_nearest_within_range_are_heard_in_order(radio):
    neighbors = neighbors_after(radio(range_m=2.5, most=3), broadcast(row(6)))
    received = np.asarray(neighbors.entries.received)
    np.testing.assert_array_equal(received.sum(axis=1), [2, 3, 3, 3, 3, 2])
    np.testing.assert_array_equal(np.asarray(neighbors.entries.index_in_team)[0][:2], [1, 2])


@pytest.mark.slow
@each_radio
def test_reports_hold_estimates_and_range_uses_true_positions(radio):
    message = broadcast(row(2), reported=[(0.0, 0.0, 0.0), (77.0, 0.0, 0.0)])
    neighbors = neighbors_after(radio(range_m=2.0, most=1), message)
    assert bool(neighbors.entries.received[0, 0])
    assert float(neighbors.entries.position_world_m.x[0, 0]) == 77.0


@pytest.mark.slow
@each_radio
def test_lost_vehicles_are_silent_and_deaf(radio):
    neighbors = neighbors_after(radio(most=4), broadcast(row(3), lost=(1,)))
    np.testing.assert_array_equal(np.asarray(neighbors.entries.received).sum(axis=1), [1, 0, 1])


@pytest.mark.slow
@each_radio
def test_leader_is_heard_beyond_the_nearest(radio):
    message = broadcast(row(6), leader=[0, 0, 0, 0, 0, 0])
    neighbors = neighbors_after(radio(range_m=50.0, most=1), message)
    np.testing.assert_array_equal(neighbors.leader.received, [False, True, True, True, True, True])
    assert float(neighbors.leader.position_world_m.x[5]) == 0.0


@pytest.mark.slow
@each_radio
def test_other_teams_are_heard_but_no_teammates(radio):
    neighbors = neighbors_after(radio(most=2), broadcast(row(3), team=[0, 0, 1]))
    received, teammate = (
        np.asarray(neighbors.entries.received),
        np.asarray(neighbors.entries.teammate),
    )
    assert received.all()
    np.testing.assert_array_equal(teammate.sum(axis=1), [1, 1, 0])


@pytest.mark.slow
def test_ideal_radio_carries_a_leader_out_of_range_and_the_lossy_one_does_not():
    message = broadcast(row(2, 100.0), leader=[0, 0])
    assert bool(neighbors_after(IdealRadio(range_m=10.0), message).leader.received[1])
    assert not bool(neighbors_after(LossyRadio(range_m=10.0), message).leader.received[1])


@pytest.mark.slow
def test_delayed_message_is_extrapolated():
    radio = LossyRadio(latency_s=3 * PERIOD_S, memory_s=0.5)
    key = seed_key(0)
    state, step = radio.init(2, PERIOD_S, key), jax.jit(radio.step)
    for tick in range(8):
        moving = [(0.0, 0.0, 0.0), (1.0 + 0.2 * tick, 0.0, 0.0)]
        message = broadcast(moving, [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0)])
        state, neighbors = step(state, message, PERIOD_S, key)
        assert bool(neighbors.entries.received[0, 0]) == (tick >= 3)
        if tick >= 3:
            assert float(neighbors.entries.age_s[0, 0]) == pytest.approx(0.3)
            # it moves at the reported velocity
            assert float(neighbors.entries.position_world_m.x[0, 0]) == pytest.approx(
                1.0 + 0.2 * tick
            )


@pytest.mark.slow
@pytest.mark.parametrize(("memory_s", "ticks"), [(0.3, 5), (0.5, 7)])
def test_silent_sender_is_remembered_for_a_time(memory_s, ticks):
    radio, key = LossyRadio(memory_s=memory_s), seed_key(0)
    state, step = radio.init(2, PERIOD_S, key), jax.jit(radio.step)
    received = []
    for tick in range(9):
        message = broadcast(row(2), lost=() if tick < 3 else (1,))
        state, neighbors = step(state, message, PERIOD_S, key)
        received.append(bool(neighbors.entries.received[0, 0]))
        if received[-1]:
            assert float(neighbors.entries.age_s[0, 0]) == pytest.approx(
                max(0, tick - 2) * PERIOD_S
            )
        # and it receives nothing itself
        assert bool(neighbors.entries.received[1, 0]) == (tick < 3)
    assert received == [True] * ticks + [False] * (9 - ticks)


@pytest.mark.slow
def test_sender_out_of_range_is_forgotten():
    radio, key = LossyRadio(range_m=10.0), seed_key(0)
    state = radio.init(2, PERIOD_S, key)
    for gap_m, received in ((5.0, True), (50.0, False)):
        state, neighbors = radio.step(state, broadcast(row(2, gap_m)), PERIOD_S, key)
        assert bool(neighbors.entries.received.any()) == received


@pytest.mark.slow
def test_overload_does_not_revoke_received_messages():
    radio = LossyRadio(bandwidth_bps=5120.0, memory_s=1.0, most=1)
    key, count = seed_key(0), 40
    state = radio.init(count, PERIOD_S, key)
    alone = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)] + [(1e4 + 1e3 * i, 0.0, 0.0) for i in range(38)]
    crowded = alone[:2] + [(2.0 + 0.1 * i, 0.0, 0.0) for i in range(38)]
    for tick in range(8):
        places = alone if tick < 4 else crowded
        state, neighbors = radio.step(state, broadcast(places), PERIOD_S, key)
        assert bool(neighbors.entries.received[0, 0])


@pytest.mark.slow
def test_losses_depend_on_names_and_not_on_indices():
    radio, key = LossyRadio(loss=0.5, memory_s=PERIOD_S), seed_key(3)

    def received(*, shifted):
        """Return the receptions of two vehicles, optionally behind another one in the fleet."""
        places = [(1e5, 0.0, 0.0)] * shifted + row(2)
        message = broadcast(places)
        hashes = jnp.asarray([99] * shifted + [5, 6], jnp.uint32)
        message = eqx.tree_at(lambda one: one.roster.name_hash, message, hashes)
        state, found = radio.init(len(places), PERIOD_S, key), []
        step = jax.jit(radio.step)
        for _ in range(20):
            state, neighbors = step(state, message, PERIOD_S, key)
            found.append(np.asarray(neighbors.entries.received)[-2:, 0])
        return np.array(found)

    in_place = received(shifted=0)
    np.testing.assert_array_equal(received(shifted=1), in_place)
    assert 0.2 < in_place.mean() < 0.8


def share_heard(radio, gap_m, steps=60, vehicles=60):
    """Return the share of delivered messages of pairs on a line, and the number of messages."""
    pairs = [(200.0 * (i // 2) + gap_m * (i % 2), 0.0, 0.0) for i in range(vehicles)]
    message, key = broadcast(pairs), seed_key(5)
    state, step = radio.init(vehicles, PERIOD_S, key), jax.jit(radio.step)
    received = 0
    for _ in range(steps):
        state, neighbors = step(state, message, PERIOD_S, key)
        received += int(np.asarray(neighbors.entries.received).sum())
    return received / (steps * vehicles), steps * vehicles


@pytest.mark.slow
@pytest.mark.parametrize(
    ("radio", "gap_m", "chance"),
    [
        (LossyRadio(loss=0.3, most=1, memory_s=PERIOD_S), 1.0, 0.7),
        (LossyRadio(fade_distance_m=20.0, most=1, memory_s=PERIOD_S), 20.0, np.exp(-1.0)),
        (LossyRadio(fade_distance_m=20.0, most=1, memory_s=PERIOD_S), 10.0, np.exp(-0.25)),
        (
            LossyRadio(
                fade_distance_m=20.0, path_loss_exponent=4.0, most=1, memory_s=PERIOD_S, loss=0.1
            ),
            10.0,
            0.9 * np.exp(-0.0625),
        ),
        # one neighbor sends 64 bytes ten times in a second: 5120 bit/s
        (LossyRadio(bandwidth_bps=1280.0, most=1, memory_s=PERIOD_S), 1.0, 0.25),
        (LossyRadio(bandwidth_bps=5120.0, most=1, memory_s=PERIOD_S), 1.0, 1.0),
    ],
    ids=["lost", "faded", "half faded", "steep", "crowded", "just enough"],
)
def test_delivery_ratio_follows_the_formula(radio, gap_m, chance):
    share, messages = share_heard(radio, gap_m)
    deviation = np.sqrt(chance * (1.0 - chance) / messages)
    assert share == pytest.approx(chance, abs=3.0 * deviation + 1e-12)


@pytest.mark.slow
def test_delivery_is_drawn_once_per_message():
    # of ten remembered messages nearly always one arrived; it stays until a newer one does
    radio, key = LossyRadio(loss=0.5, memory_s=1.0), seed_key(2)
    state, ages = radio.init(2, PERIOD_S, key), []
    for _ in range(60):
        state, neighbors = radio.step(state, broadcast(row(2)), PERIOD_S, key)
        ages.append(round(float(neighbors.entries.age_s[0, 0]) / PERIOD_S))
    assert set(ages) > {0, 1}
    assert all(later in (0, age + 1) for age, later in pairwise(ages))


def test_too_long_memory_is_refused():
    with pytest.raises(ScenarioError, match="got 300 messages; must be 256 at most; reduce them"):
        LossyRadio(memory_s=30.0).check(PERIOD_S)
