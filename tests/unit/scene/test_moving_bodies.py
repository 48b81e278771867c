"""All that moves: who there is, and where they are."""

import math

import numpy as np
import pytest

from kittiwake.rendering.rotation import rotated
from kittiwake.scene.moving_bodies import LONGEST_S, SHOWN_RADPS, MovingBodies

ROTORS = tuple(f"act_rotor_{i}_radps" for i in range(4))
HALF = math.sqrt(0.5)
TO_THE_LEFT = (HALF, 0.0, 0.0, HALF)


def part_of(cast, frame, name):
    numbers = [i for i, part in enumerate(cast.parts) if f" {part.name}".endswith(f" {name}")]
    assert len(numbers) == 1
    return cast.parts[numbers[0]], cast.poses(frame)[numbers[0]]


def turned_between(cast, show, placed, name, **numbers):
    """By which angle a part turned from one frame to another, 0.05 s later."""
    _, before = part_of(cast, placed(show, **numbers), name)
    _, after = part_of(cast, placed(show, time_s=0.05, **numbers), name)
    cosine = np.abs((before.q_world_from_part * after.q_world_from_part).sum(axis=1))
    return 2.0 * np.arccos(np.minimum(cosine, 1.0))


def test_bodies_are_where_their_rows_say_and_turned_as_they_say(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    _, body = part_of(MovingBodies(show), placed(show, (1.0, 2.0, 3.0), TO_THE_LEFT), "body")
    np.testing.assert_allclose(body.positions_world_m, [[1.0, 2.0, 3.0]])
    ahead = rotated(body.q_world_from_part, np.array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(ahead, [[0.0, 1.0, 0.0]], atol=1e-12)


def test_rotors_are_carried_by_their_body(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    _, left = part_of(MovingBodies(show), placed(show, (1.0, 2.0, 3.0), TO_THE_LEFT), "rotors left")
    # the one ahead and the one behind, at 0.17 m along what was x
    np.testing.assert_allclose(
        left.positions_world_m, [[1.0, 2.17, 3.0], [1.0, 1.83, 3.0]], atol=1e-12
    )


def test_rotors_stand_still_when_off(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    off = dict.fromkeys(ROTORS, 0.0)
    turned = turned_between(MovingBodies(show), show, placed, "rotors left", **off)
    np.testing.assert_allclose(turned, 0.0, atol=1e-6)


def test_rotors_turn_in_proportion_to_their_speed_and_the_right_way(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    # half of the fastest, 1500 rad/s
    cast, half = MovingBodies(show), dict.fromkeys(ROTORS, 750.0)
    expected = 0.5 * SHOWN_RADPS * 0.05
    for name, spin in (("rotors left", 1.0), ("rotors right", -1.0)):
        before = part_of(cast, placed(show, **half), name)[1].q_world_from_part
        after = part_of(cast, placed(show, time_s=0.05, **half), name)[1].q_world_from_part
        yaw = 2.0 * (np.arctan2(after[:, 3], after[:, 0]) - np.arctan2(before[:, 3], before[:, 0]))
        away = np.mod(yaw - spin * expected + math.pi, 2.0 * math.pi) - math.pi
        np.testing.assert_allclose(away, 0.0, atol=1e-9)


def test_a_jump_in_time_turns_rotors_by_little(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    cast, full = MovingBodies(show), dict.fromkeys(ROTORS, 1500.0)
    _, before = part_of(cast, placed(show, time_s=100.0, **full), "rotors left")
    _, back = part_of(cast, placed(show, time_s=3.0, **full), "rotors left")
    np.testing.assert_allclose(before.q_world_from_part, back.q_world_from_part)
    _, ahead = part_of(cast, placed(show, time_s=1e6, **full), "rotors left")
    yaw = 2.0 * np.arctan2(ahead.q_world_from_part[:, 3], ahead.q_world_from_part[:, 0])
    begun = 2.0 * np.arctan2(back.q_world_from_part[:, 3], back.q_world_from_part[:, 0])
    away = np.mod(yaw - begun - SHOWN_RADPS * LONGEST_S, 2.0 * math.pi)
    np.testing.assert_allclose(np.minimum(away, 2.0 * math.pi - away), 0.0, atol=1e-9)


def test_without_speeds_of_rotors_the_thrust_says_whether_they_turn(staged, placed):
    show = staged("hover-pelican", ("act_thrust_n",))
    cast = MovingBodies(show)
    assert turned_between(cast, show, placed, "rotors left", act_thrust_n=16.0).min() > 0.1
    still = turned_between(cast, show, placed, "rotors left", act_thrust_n=0.0)
    np.testing.assert_allclose(still, 0.0, atol=1e-6)


def test_a_vehicle_without_a_finite_row_stays_where_it_was(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    cast = MovingBodies(show)
    cast.poses(placed(show, (1.0, 2.0, 3.0)))
    _, body = part_of(cast, placed(show, (math.nan, 0.0, 0.0), time_s=1.0), "body")
    np.testing.assert_allclose(body.positions_world_m, [[1.0, 2.0, 3.0]])


def test_before_its_first_row_a_vehicle_is_at_its_start(staged, placed):
    show = staged("hover-hummingbird", ROTORS)
    _, body = part_of(MovingBodies(show), placed(show)._replace(rows={}), "body")
    np.testing.assert_allclose(body.positions_world_m, [[0.0, 0.0, 10.0]])


def test_a_vessel_leans_with_its_roll(staged, placed):
    show = staged("cruise-otter", ("act_left_radps", "act_right_radps"))
    roll = 0.2
    q = (math.cos(0.5 * roll), math.sin(0.5 * roll), 0.0, 0.0)
    _, hulls = part_of(MovingBodies(show), placed(show, q=q), "hulls")
    up = rotated(hulls.q_world_from_part, np.array([[0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(up, [[0.0, -math.sin(roll), math.cos(roll)]], atol=1e-12)


def test_a_rudder_shows_its_angle(staged, placed):
    show = staged("cruise-strider", ("act_rudder_rad",))
    _, rudder = part_of(MovingBodies(show), placed(show, act_rudder_rad=0.3), "rudder")
    np.testing.assert_allclose(rudder.positions_world_m, [[-0.34727, 0.0, 0.0]])
    ahead = rotated(rudder.q_world_from_part, np.array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(ahead, [[math.cos(0.3), math.sin(0.3), 0.0]], atol=1e-12)


def test_a_head_looks_along_its_angles(staged, placed):
    show = staged("surface-following", ("sensor.head.pitch_rad", "sensor.head.yaw_rad"))
    theta, phi = 0.7, -0.4
    told = {"sensor.head.pitch_rad": theta, "sensor.head.yaw_rad": phi}
    _, head = part_of(MovingBodies(show), placed(show, **told), "head")
    looks = rotated(head.q_world_from_part, np.array([[1.0, 0.0, 0.0]]))
    # as interfaces/head.py has it
    expected = [
        math.cos(phi) * math.cos(theta),
        math.sin(phi),
        -math.cos(phi) * math.sin(theta),
    ]
    np.testing.assert_allclose(looks, [expected], atol=1e-12)


def test_a_platform_moves_as_its_model_says(staged, placed):
    show = staged("moving-deck", ROTORS)
    (platform,) = show.scenario.world.platforms
    cast = MovingBodies(show)
    for time_s in (0.0, 1.3):
        support = platform.support(time_s)
        _, deck = part_of(cast, placed(show, time_s=time_s), "platforms 1")
        center = support.center_world_m
        np.testing.assert_allclose(
            deck.positions_world_m, [[float(center.x), float(center.y), float(center.z)]]
        )
    assert part_of(cast, placed(show), "platforms 1")[0].vehicles == ()


@pytest.fixture
def flock(staged):
    changes = [
        "vehicles.hummingbird.count=1000",
        "vehicles.hummingbird.spacing_m=[2, 2, 2]",
        "vehicles.hummingbird.guidance={type: hold}",
        "world={}",
    ]
    return staged("hover-hummingbird", ROTORS, changes)


def test_a_thousand_vehicles_are_few_batches(flock, placed):
    cast = MovingBodies(flock)
    assert len(cast.parts) <= 8
    assert {part.instances for part in cast.parts} == {1000, 2000}
    for part, poses in zip(cast.parts, cast.poses(placed(flock)), strict=True):
        assert len(poses.positions_world_m) == part.instances == len(part.vehicles)
