"""Moving decks: estimates, following and landing."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.point_mass import DT_S, KEY, inputs_at

import kittiwake as kw
from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.commands import CommandChoice
from kittiwake.core.errors import ScenarioError
from kittiwake.core.measurements import DeckMeasurement, MarkerMeasurement
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.landing.deck_estimate import DeckEstimate
from kittiwake.guidance.landing.deck_landing import DeckLanding
from kittiwake.guidance.landing.follow_deck import FollowDeck
from kittiwake.guidance.landing.uav_usv_landing import UavUsvLanding

SPEED_MPS = Vec3(1.0, -0.5, 0.0)
BEGAN_M = Vec3(3.0, 2.0, 0.35)
STANDING_M = 0.06


def message(time_s, velocity=SPEED_MPS):
    """Return the message of a beacon on a deck that sails straight on."""
    place = BEGAN_M + SPEED_MPS * time_s
    return DeckMeasurement(*as_arrays((place, velocity, 0.0)))


def deck_estimates(says, smoothing_s, every=5, steps=400):
    """Return the deck estimate after each step, with a message every few steps."""

    def once(carried, tick):
        time_s = jnp.asarray(tick, float) * DT_S
        fresh = tick % every == 0
        here = inputs_at(
            Vec3(0.0, 0.0, 2.0),
            time_s,
            measurements={"deck": says(time_s)},
            fresh={"deck": fresh},
        )
        later = match_dtypes(carried.at(here, "deck", smoothing_s, DT_S), carried)
        return later, later

    begun = as_arrays(DeckEstimate.unknown())
    return jax.jit(lambda deck: jax.lax.scan(once, deck, jnp.arange(steps))[1])(begun)


@pytest.mark.parametrize("smoothing_s", [0.0, 0.2])
def test_deck_estimate_moves_at_its_velocity_between_messages(smoothing_s):
    deck = deck_estimates(message, smoothing_s)
    at_s = np.arange(400) * DT_S
    np.testing.assert_allclose(deck.position_world_m.x, 3.0 + at_s, atol=1e-9)
    np.testing.assert_allclose(deck.position_world_m.y, 2.0 - 0.5 * at_s, atol=1e-9)
    # it grows up to the next message
    assert float(np.max(deck.unseen_s)) == pytest.approx(4 * DT_S)


def test_velocity_of_a_deck_is_estimated_from_its_positions():
    def says(time_s):
        away = BEGAN_M + SPEED_MPS * time_s - Vec3(0.0, 0.0, 2.0)
        return MarkerMeasurement(*as_arrays((away, 0.0)), valid=jnp.asarray(True))

    deck = deck_estimates(says, 0.2)
    np.testing.assert_allclose(deck.velocity_world_mps.x[-50:], 1.0, atol=1e-3)
    np.testing.assert_allclose(deck.velocity_world_mps.y[-50:], -0.5, atol=1e-3)


def test_invalid_messages_are_ignored():
    def says(time_s):
        del time_s
        return MarkerMeasurement(*as_arrays((BEGAN_M, 0.0)), valid=jnp.asarray(False))

    assert not np.asarray(deck_estimates(says, 0.2).seen).any()


def test_smoothing_reduces_noise():
    noise = jnp.asarray(np.random.default_rng(3).normal(0.0, 0.02, 400))

    def says(time_s):
        one = message(time_s)
        off = noise[jnp.asarray(jnp.round(time_s / DT_S), jnp.int32)]
        return replace(one, position_world_m=one.position_world_m + Vec3(off, 0.0, 0.0))

    def deviation(smoothing_s):
        deck = deck_estimates(says, smoothing_s, every=1)
        off = np.asarray(deck.position_world_m.x) - 3.0 - np.arange(400) * DT_S
        return np.std(off[50:])

    # the variance that is left of white noise is (1 - theta^2) / (1 + theta^2) where the velocity
    # is known exactly
    theta = np.exp(-DT_S / 0.2)
    left = np.sqrt((1.0 - theta**2) / (1.0 + theta**2))
    assert deviation(0.2) / deviation(0.0) == pytest.approx(left, rel=0.25)


def flown(
    guidance,
    start,
    duration_s,
    push=lambda _: 0.0,
    silent_s=(1e9, 1e9),
    stands_m=STANDING_M,
    half_m=1e9,
):
    """Return by step: time, position relative to the deck, motors off, phase, and end.

    The point moves at the commanded velocity plus 3 1/s times the position error; ``push`` is an
    additional velocity to the east. The deck carries a point within ``half_m`` of its center;
    beyond is the water. There are no messages during ``silent_s``.
    """

    def once(carried, tick):
        state, place, motion = carried
        time_s = jnp.asarray(tick, float) * DT_S
        fresh = (tick % 3 == 0) & ((time_s < silent_s[0]) | (time_s > silent_s[1]))
        here = inputs_at(
            place, time_s, motion, measurements={"deck": message(time_s)}, fresh={"deck": fresh}
        )
        later, command = guidance.step(state, here, DT_S, KEY)
        choice = command if isinstance(command, CommandChoice) else CommandChoice((command,), 0)
        goal = choice.commands[0]
        off = jnp.asarray(choice.index == 1)
        error = goal.position_world_m - place
        motion = goal.velocity_world_mps + error * 3.0 + Vec3(push(time_s), 0.0, 0.0)
        motion = jax.tree.map(lambda a, b: jnp.where(off, a, b), SPEED_MPS, motion)
        moved = place + motion * DT_S
        on_deck = moved - BEGAN_M - SPEED_MPS * (time_s + DT_S)
        carried_there = jnp.hypot(on_deck.x, on_deck.y) < half_m
        least = jnp.where(carried_there, BEGAN_M.z, 0.0) + stands_m
        rests = moved.z <= least
        motion = Vec3(motion.x, motion.y, jnp.where(rests, 0.0, motion.z))
        moved = Vec3(moved.x, moved.y, jnp.maximum(moved.z, least))
        row = (
            time_s,
            moved - BEGAN_M - SPEED_MPS * (time_s + DT_S),
            off,
            guidance.phase(later),
            jnp.asarray(guidance.finished(later)),
        )
        return match_dtypes((later, moved, motion), carried), as_arrays(row)

    begun = as_arrays((guidance.init(KEY), start, Vec3(0.0, 0.0, 0.0)))
    ticks = jnp.arange(round(duration_s / DT_S))
    rows = jax.jit(lambda state: jax.lax.scan(once, state, ticks)[1])(begun)
    return jax.tree.map(np.asarray, rows)


LANDING = DeckLanding(begin_after_s=3.0, standing_height_m=STANDING_M)


@pytest.fixture(scope="module")
def landing():
    with jax.enable_x64(True):
        return flown(LANDING, Vec3(3.0, 2.0, 0.41), 15.0)


def order(phase):
    """The phases in the order in which they come."""
    return phase[np.flatnonzero(np.diff(phase, prepend=-1))].tolist()


def test_following_a_deck_leaves_no_error_at_a_steady_speed():
    _, away, *_ = flown(FollowDeck(altitude_m=1.5), Vec3(0.0, 0.0, 2.0), 10.0)
    assert abs(away.x[-1]) < 1e-3
    assert abs(away.y[-1]) < 1e-3
    assert away.z[-1] == pytest.approx(1.5, abs=1e-3)


def test_landing_passes_its_phases_in_order(landing):
    time_s, _, off, phase, finished = landing
    assert order(phase) == [1, 2, 3, 4, 6]
    assert time_s[np.argmax(phase == 2)] == pytest.approx(3.0, abs=DT_S)
    np.testing.assert_array_equal(off, phase == 6)
    np.testing.assert_array_equal(finished, off)


def test_descent_from_the_approach_altitude_is_linear(landing):
    time_s, away, _, phase, _ = landing
    down = phase == 4
    assert away.z[np.argmax(down)] == pytest.approx(0.65, abs=0.1)
    free = down & (away.z > STANDING_M + 0.01)
    slope = np.polyfit(time_s[free][15:], away.z[free][15:], 1)[0]
    assert slope == pytest.approx(-0.3, abs=0.01)


def test_descent_begins_after_the_settling_time(landing):
    aligns_s = float(landing[0][np.argmax(landing[3] == 3)])

    def push(time_s):
        return jnp.where((time_s > aligns_s) & (time_s < aligns_s + 1.0), 2.0, 0.0)

    time_s, away, _, phase, _ = flown(LANDING, Vec3(3.0, 2.0, 0.41), 15.0, push)
    begins = np.argmax(phase == 4)
    # what a step sees is where the one before led
    beside = np.hypot(away.x, away.y)[: begins - 1] >= LANDING.error_threshold_m
    nears = np.flatnonzero(beside & (time_s[: begins - 1] > aligns_s))[-1] + 1
    assert (phase[nears:begins] == 3).all()
    assert time_s[begins] - time_s[nears] == pytest.approx(LANDING.settle_s, abs=2.5 * DT_S)


def test_leaving_the_cone_causes_a_go_around_and_a_later_landing():
    def push(time_s):
        # slowly, so that a step leads over the edge by little
        return jnp.where((time_s > 5.5) & (time_s < 6.5), 0.6, 0.0)

    _, away, _, phase, finished = flown(LANDING, Vec3(3.0, 2.0, 0.41), 20.0, push)
    assert order(phase) == [1, 2, 3, 4, 5, 3, 4, 6]
    # what a step sees is where the one before led
    seen = np.argmax(phase == 5) - 1
    error = np.hypot(away.x, away.y)
    cone = LANDING.error_threshold_m + LANDING.cone * (away.z - STANDING_M)
    assert error[seen] >= cone[seen]
    assert error[seen - 1] < cone[seen - 1]
    again = (phase == 3) & (np.arange(len(phase)) > seen)
    assert away.z[again].min() > 0.5
    assert finished[-1]


def test_missing_messages_cause_a_go_around_and_a_wait():
    _, _, _, phase, finished = flown(LANDING, Vec3(3.0, 2.0, 0.41), 15.0, silent_s=(4.6, 1e9))
    assert 5 in order(phase)
    assert order(phase)[-1] == 5
    assert not finished.any()


def world_place(away, time_s):
    """Of places over the deck as it sails on."""
    at_s = time_s + DT_S
    return np.stack([away.x + SPEED_MPS.x * at_s, away.y + SPEED_MPS.y * at_s, away.z], axis=-1)


@pytest.mark.slow
@pytest.mark.parametrize("silent_from_s", [2.0, 4.6, 4.9])
def test_lost_deck_is_waited_for_at_the_altitude(silent_from_s):
    time_s, away, _, phase, finished = flown(
        LANDING, Vec3(3.0, 2.0, 0.41), 20.0, silent_s=(silent_from_s, 1e9)
    )
    place = world_place(away, time_s)
    waits = time_s > silent_from_s + LANDING.lost_after_s + 5.0
    assert np.ptp(place[waits], axis=0).max() < 0.01
    assert place[-1, 2] == pytest.approx(LANDING.altitude_m, abs=0.01)
    assert place[-1, 0] == pytest.approx(silent_from_s + LANDING.lost_after_s, abs=0.2)
    assert 4 not in phase[waits]
    assert not finished.any()


@pytest.mark.parametrize(
    "guidance", [FollowDeck(), UavUsvLanding(feed_velocity=True, landing_at_s=6.0)]
)
def test_follower_stops_over_the_last_position_of_a_lost_deck(guidance):
    time_s, away, *_ = flown(guidance, Vec3(3.0, 2.0, 2.0), 15.0, silent_s=(4.0, 1e9))
    place = world_place(away, time_s)
    np.testing.assert_allclose(place[-1], [5.0, -2.5, 1.65], atol=0.05)
    assert np.ptp(place[time_s > 10.0], axis=0).max() < 0.01


def test_deck_that_is_detected_again_is_followed_and_landed_on():
    _, away, _, phase, finished = flown(LANDING, Vec3(3.0, 2.0, 0.41), 30.0, silent_s=(4.6, 9.0))
    assert order(phase)[-4:] == [5, 3, 4, 6]
    assert finished[-1]
    assert np.hypot(away.x, away.y)[-1] < 0.1


@pytest.mark.slow
def test_deck_velocity_is_kept_in_the_last_part_of_the_descent():
    # the marker is not seen from nearby; 1 s is over before it stands
    near = replace(LANDING, commit_m=0.4)
    time_s, _, _, phase, _ = flown(near, Vec3(3.0, 2.0, 0.41), 10.0)
    low_s = float(time_s[phase == 4][-1]) - 1.2
    _, away, _, phase, finished = flown(near, Vec3(3.0, 2.0, 0.41), 10.0, silent_s=(low_s, 1e9))
    assert 5 not in phase
    assert finished[-1]
    assert np.hypot(away.x, away.y)[-1] < 0.1


def test_vehicle_pushed_off_the_deck_goes_around_and_lands_later(landing):
    time_s, away, _, phase, _ = landing
    touches_s = float(time_s[(phase == 4) & (away.z < STANDING_M + 0.001)][0])

    def push(now_s):
        return jnp.where((now_s > touches_s) & (now_s < touches_s + 0.3), 3.0, 0.0)

    waits = replace(LANDING, rest_s=0.5)
    start = Vec3(3.0, 2.0, 0.41)
    _, away, off, phase, finished = flown(waits, start, 25.0, push, half_m=0.3)
    assert away.z[~off].min() < STANDING_M - LANDING.commit_m
    assert order(phase) == [1, 2, 3, 4, 5, 3, 4, 6]
    assert finished[-1]
    assert away.z[off].min() == pytest.approx(STANDING_M, abs=1e-6)


def test_no_go_around_below_the_commit_height():
    late = replace(LANDING, commit_m=0.6)

    def push(time_s):
        return jnp.where((time_s > 6.0) & (time_s < 6.3), 2.0, 0.0)

    _, _, _, phase, finished = flown(late, Vec3(3.0, 2.0, 0.41), 15.0, push)
    assert 5 not in order(phase)
    assert finished[-1]


def test_approach_altitude_above_the_following_altitude_is_refused():
    with pytest.raises(
        ValueError, match=r"`approach_altitude_m`: got 2; must be at most altitude_m, 1\.65"
    ):
        DeckLanding(approach_altitude_m=2.0)


def setpoint_height(guidance, place, time_s):
    """Over the pad, of the simulator's landing; the pad is at the origin's east by 3 m."""
    here = inputs_at(
        place, time_s, measurements={"deck": message(0.0)}, fresh={"deck": jnp.asarray(True)}
    )
    _, signal = guidance.step(guidance.init(KEY), here, DT_S, KEY)
    return float(signal.position_world_m.z) - BEGAN_M.z


@pytest.mark.parametrize(
    ("over_m", "beside_m", "time_s", "wanted_m"),
    [
        (1.6, 0.0, 4.9, 1.65),
        (1.6, 0.0, 5.0, 0.65),
        (0.76, 0.0, 5.0, 0.65),
        (0.74, 0.09, 5.0, -0.35),
        (0.74, 0.11, 5.0, 0.65),
        (0.1, 0.09, 9.0, -0.35),
        (0.1, 0.11, 9.0, 0.65),
    ],
)
def test_vtol_commands_the_heights_of_its_source(over_m, beside_m, time_s, wanted_m):
    place = BEGAN_M + Vec3(0.0, beside_m, over_m)
    assert setpoint_height(UavUsvLanding(), place, time_s) == pytest.approx(wanted_m)


def test_vtol_without_a_time_never_lands():
    assert setpoint_height(UavUsvLanding(landing_at_s=None), BEGAN_M, 99.0) == pytest.approx(1.65)


def problem(changes, name="deck-landing"):
    with pytest.raises(ScenarioError) as refused:
        kw.load(name, changes)
    return str(refused.value)


@pytest.mark.parametrize("kind", ["deck-landing", "follow-deck", "vtol"])
def test_vehicle_without_a_deck_sensor_is_refused(kind):
    own = "vehicles.drone."
    blind = {f"{own}guidance": kind, f"{own}sensors": {"compass": "imu"}}
    assert "no sensor 'deck'; write deck: beacon under sensors" in problem(blind)
    wrong = {f"{own}guidance": kind, f"{own}sensors": {"deck": "imu", "radio": "beacon"}}
    assert "the sensor 'deck' measures no deck; write sensor: radio" in problem(wrong)


def test_vehicle_without_landing_gear_requires_a_standing_height():
    footless = {"vehicles.drone.parameters.landing_gear": None}
    assert "no landing gear; write some under parameters.landing_gear" in problem(footless)
    kw.load("deck-landing", footless | {"vehicles.drone.guidance.standing_height_m": 0.06})
