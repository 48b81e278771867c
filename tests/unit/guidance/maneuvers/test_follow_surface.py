"""Following a surface: what is made of a reading, what is done without one, and how it ends."""

import dataclasses
import math
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.guidance.point_mass import KEY, inputs_at

from kittiwake.core.arrays import as_arrays, match_dtypes
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.follow_surface import (
    DONE,
    FOLLOWING,
    LOOKING,
    LOST,
    UNSEEN,
    FollowSurface,
)
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.head import HeadMeasurement
from kittiwake.sensors.ultrasonic import Ultrasonic
from kittiwake.sensors.ultrasonic_head import UltrasonicHead

DT_S = 0.1
HEAD = UltrasonicHead()
PLACE = Vec3(1.0, 2.0, 3.0)
STILL = Vec3(0.0, 0.0, 0.0)


def context(**sensors):
    return BuildContext(SimpleNamespace(), SimpleNamespace(), Start(), sensors)


def following(**parameters):
    return FollowSurface("head", **parameters).prepare(context(head=HEAD))


def seeing(guidance, start, reading, *, fresh=True):
    """Return the next state and the command after one measurement."""
    inputs = inputs_at(PLACE, measurements={"head": reading}, fresh={"head": jnp.asarray(fresh)})
    inputs = dataclasses.replace(inputs, estimate=start.kinematics())
    return guidance.step(guidance.init(KEY), inputs, DT_S, KEY)


def flown(guidance, valid, velocity=STILL):
    """By step of 0.1 s: the part, place of the signal, speed, where to stay, finished.

    The vehicle is at x = 1, 2, ... m; below it is a floor, which the head sees where ``valid``.
    """

    def once(state, seen):
        number, sight = seen
        reading = HeadMeasurement(1.5, sight, math.pi / 2, 0.0)
        place = Vec3(number + 1.0, 0.0, 1.5)
        inputs = inputs_at(
            *(place, number * DT_S, velocity),
            measurements={"head": reading},
            fresh={"head": jnp.asarray(True)},
        )
        later, command = guidance.step(state, inputs, DT_S, KEY)
        along, still = command.commands
        row = (later.part, command.index, along.speed_along_mps, still.position_world_m.x)
        return match_dtypes(later, state), as_arrays((*row, guidance.finished(later)))

    seen = (jnp.arange(len(valid), dtype=float), jnp.asarray(valid))
    begun = as_arrays(guidance.init(KEY))
    return map(np.asarray, eqx.filter_jit(lambda state: jax.lax.scan(once, state, seen)[1])(begun))


def test_normal_and_distance_follow_from_range_and_attitude():
    start = Start(PLACE, roll_rad=0.1, pitch_rad=-0.2, yaw_rad=0.5)
    _, command = seeing(following(), start, HeadMeasurement(0.8, jnp.asarray(True), 0.9, -0.3))
    along, _ = command.commands
    assert int(command.index) == 0
    look = np.array([math.cos(0.3) * math.cos(0.9), -math.sin(0.3), -math.cos(0.3) * math.sin(0.9)])
    q = start.kinematics().q_world_from_body
    normal = -np.asarray(q.rotate(Vec3.of(look.tolist())).array)
    np.testing.assert_allclose(along.normal_world.array, normal, rtol=0.0, atol=1e-12)
    assert float(along.distance_m) == pytest.approx(0.8 + look @ [0.215, 0.0, -0.01], abs=1e-12)
    assert float(along.wanted_distance_m) == 1.0


def test_distance_is_independent_of_the_tilt():
    # 1.4 m under the center of mass; the head looks straight down at every pitch
    for pitch in (-0.2, 0.0, 0.3):
        low = 0.215 * math.sin(pitch) + 0.01 * math.cos(pitch)
        reading = HeadMeasurement(1.4 - low, jnp.asarray(True), math.pi / 2 - pitch, 0.0)
        _, command = seeing(following(), Start(PLACE, pitch_rad=pitch), reading)
        assert float(command.commands[0].distance_m) == pytest.approx(1.4, abs=1e-12)
        np.testing.assert_allclose(command.commands[0].normal_world.array, [0, 0, 1], atol=1e-12)


@pytest.mark.parametrize(("valid", "fresh"), [(False, True), (True, False)])
def test_vehicle_holds_without_a_valid_measurement(valid, fresh):
    start = Start(PLACE, yaw_rad=0.5)
    reading = HeadMeasurement(0.8, jnp.asarray(valid), 0.9, 0.0)
    state, command = seeing(following(), start, reading, fresh=fresh)
    assert int(state.part) == LOOKING
    assert int(command.index) == 1
    still = command.commands[1]
    np.testing.assert_allclose(still.position_world_m.array, PLACE.array)
    assert float(still.yaw_rad) == 0.5


def test_last_measurement_is_used_for_a_while_before_holding():
    guidance = following(hold_s=0.35, give_up_s=2.0)
    valid = [False] * 2 + [True] * 3 + [False] * 7 + [True] * 3
    part, place, _, stays_at, finished = flown(guidance, valid)
    # three steps of 0.1 s are within 0.35 s, the fourth is not
    expected = [LOOKING] * 2 + [FOLLOWING] * 6 + [UNSEEN] * 4 + [FOLLOWING] * 3
    np.testing.assert_array_equal(part, expected)
    np.testing.assert_array_equal(place, np.asarray(expected) != FOLLOWING)
    # where it began, and where it followed last: at the eighth step
    np.testing.assert_array_equal(stays_at[:2], 1.0)
    np.testing.assert_array_equal(stays_at[8:12], 8.0)
    assert not finished.any()


@pytest.mark.parametrize("seen_first", [True, False])
def test_surface_out_of_sight_is_lost_for_good(seen_first):
    guidance = following(hold_s=0.15, give_up_s=0.55)
    valid = [seen_first] + [False] * 7 + [True] * 2
    part, place, *_, finished = flown(guidance, valid)
    assert (part[-4:] == LOST).all()
    assert (place[-4:] == 1).all()
    assert not finished.any()
    # the sixth step without a reading is the first beyond 0.55 s
    assert np.argmax(part == LOST) == (6 if seen_first else 5)
    assert guidance.phases()[LOST] == "lost the surface"


def test_speed_changes_linearly_to_the_desired_one():
    guidance = following(speed_mps=0.5, acceleration_mps2=2.0)
    # over a floor ahead is along
    *_, speed, _, _ = flown(guidance, [True] * 6, Vec3(-0.3, 0.0, 0.0))
    np.testing.assert_allclose(speed, [-0.1, 0.1, 0.3, 0.5, 0.5, 0.5], atol=1e-12)


def test_task_is_done_at_rest_after_its_path_length():
    guidance = following(speed_mps=0.5, acceleration_mps2=2.0, way_m=0.18)
    part, place, speed, _, finished = flown(guidance, [True] * 9, Vec3(0.5, 0.1, 0.0))
    # four steps make 0.2 m ahead; what goes aside does not count
    np.testing.assert_array_equal(part, [FOLLOWING] * 4 + [DONE] * 5)
    np.testing.assert_array_equal(finished, part == DONE)
    np.testing.assert_allclose(speed[4:], [0.3, 0.1, 0.0, 0.0, 0.0], atol=1e-12)
    assert (place == 0).all()


def test_path_length_is_counted_downhill_too():
    guidance = following(speed_mps=-0.5, way_m=0.18)
    part, *_ = flown(guidance, [True] * 6, Vec3(-0.5, 0.0, 0.0))
    np.testing.assert_array_equal(part, [FOLLOWING] * 4 + [DONE] * 2)


def test_task_is_done_after_its_time_even_without_the_surface():
    guidance = following(speed_mps=0.0, duration_s=0.25, hold_s=0.0, give_up_s=0.25)
    part, place, *_, finished = flown(guidance, [True] * 5 + [False] * 5)
    np.testing.assert_array_equal(part, [FOLLOWING] * 3 + [DONE] * 7)
    np.testing.assert_array_equal(place, [0] * 5 + [1] * 5)
    assert finished[3:].all()


def test_task_without_an_end_has_no_final_phase():
    assert following().phases()[-1] == "following the surface"
    assert following(way_m=3.0).phases()[DONE] == "at rest before the surface"


@pytest.mark.parametrize(
    ("given", "sensors", "message"),
    [
        ({}, {}, "`sensor`: 'head' is not a surface head.*write sensors: {head: ultrasonic-head}"),
        ({}, {"head": Ultrasonic(), "nose": HEAD}, "'head' is not a surface head; write nose"),
        ({"distance_m": 6.0}, {"head": HEAD}, "`distance_m`: got 6; must be between 0 and 5"),
    ],
)
def test_unsuitable_vehicles_are_refused(given, sensors, message):
    with pytest.raises(ScenarioError, match=message):
        FollowSurface("head", **given).prepare(context(**sensors))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"speed_mps": 0.0, "way_m": 2.0}, "`way_m`: not reached .*write duration_s"),
        ({"hold_s": 5.0}, "`give_up_s`: got 5; must be above hold_s, 5"),
    ],
)
def test_contradictory_parameters_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        FollowSurface("head", **given)
