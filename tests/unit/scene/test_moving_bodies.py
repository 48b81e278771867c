"""Moving bodies and their poses."""

import math

import numpy as np
import pytest

from kittiwake.rendering.rotation import rotated
from kittiwake.scene.moving_bodies import MAX_INTERVAL_S, SHOWN_RADPS, MovingBodies

ROTORS = tuple(f"act_rotor_{i}_radps" for i in range(4))
HALF = math.sqrt(0.5)
YAW_LEFT = (HALF, 0.0, 0.0, HALF)


def part_of(bodies, scene_state, name):
    numbers = [i for i, part in enumerate(bodies.parts) if f" {part.name}".endswith(f" {name}")]
    assert len(numbers) == 1
    return bodies.parts[numbers[0]], bodies.poses(scene_state)[numbers[0]]


def rotation_between(bodies, flight, placed, name, **numbers):
    """Return the rotation angles of a part between two frames 0.05 s apart."""
    _, before = part_of(bodies, placed(flight, **numbers), name)
    _, after = part_of(bodies, placed(flight, time_s=0.05, **numbers), name)
    cosine = np.abs((before.q_world_from_part * after.q_world_from_part).sum(axis=1))
    return 2.0 * np.arccos(np.minimum(cosine, 1.0))


def test_bodies_have_their_logged_poses(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    _, body = part_of(MovingBodies(flight), placed(flight, (1.0, 2.0, 3.0), YAW_LEFT), "body")
    np.testing.assert_allclose(body.positions_world_m, [[1.0, 2.0, 3.0]])
    ahead = rotated(body.q_world_from_part, np.array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(ahead, [[0.0, 1.0, 0.0]], atol=1e-12)


def test_rotors_move_with_their_body(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    _, left = part_of(
        MovingBodies(flight), placed(flight, (1.0, 2.0, 3.0), YAW_LEFT), "rotors left"
    )
    # the front and the rear rotor, 0.17 m along the body's x axis
    np.testing.assert_allclose(
        left.positions_world_m, [[1.0, 2.17, 3.0], [1.0, 1.83, 3.0]], atol=1e-12
    )


def test_rotors_stand_still_when_off(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    off = dict.fromkeys(ROTORS, 0.0)
    angles = rotation_between(MovingBodies(flight), flight, placed, "rotors left", **off)
    np.testing.assert_allclose(angles, 0.0, atol=1e-6)


def test_rotors_turn_in_proportion_to_their_speed_and_the_right_way(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    # half of the fastest, 1500 rad/s
    bodies, half = MovingBodies(flight), dict.fromkeys(ROTORS, 750.0)
    expected = 0.5 * SHOWN_RADPS * 0.05
    for name, spin in (("rotors left", 1.0), ("rotors right", -1.0)):
        before = part_of(bodies, placed(flight, **half), name)[1].q_world_from_part
        after = part_of(bodies, placed(flight, time_s=0.05, **half), name)[1].q_world_from_part
        yaw = 2.0 * (np.arctan2(after[:, 3], after[:, 0]) - np.arctan2(before[:, 3], before[:, 0]))
        error = np.mod(yaw - spin * expected + math.pi, 2.0 * math.pi) - math.pi
        np.testing.assert_allclose(error, 0.0, atol=1e-9)


def test_a_jump_in_time_limits_the_rotation_of_rotors(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    bodies, full = MovingBodies(flight), dict.fromkeys(ROTORS, 1500.0)
    _, before = part_of(bodies, placed(flight, time_s=100.0, **full), "rotors left")
    _, back = part_of(bodies, placed(flight, time_s=3.0, **full), "rotors left")
    np.testing.assert_allclose(before.q_world_from_part, back.q_world_from_part)
    _, ahead = part_of(bodies, placed(flight, time_s=1e6, **full), "rotors left")
    yaw = 2.0 * np.arctan2(ahead.q_world_from_part[:, 3], ahead.q_world_from_part[:, 0])
    initial = 2.0 * np.arctan2(back.q_world_from_part[:, 3], back.q_world_from_part[:, 0])
    error = np.mod(yaw - initial - SHOWN_RADPS * MAX_INTERVAL_S, 2.0 * math.pi)
    np.testing.assert_allclose(np.minimum(error, 2.0 * math.pi - error), 0.0, atol=1e-9)


def test_rotors_without_logged_speeds_turn_by_thrust(staged, placed):
    flight = staged("hover-pelican", ("act_thrust_n",))
    bodies = MovingBodies(flight)
    assert rotation_between(bodies, flight, placed, "rotors left", act_thrust_n=16.0).min() > 0.1
    still = rotation_between(bodies, flight, placed, "rotors left", act_thrust_n=0.0)
    np.testing.assert_allclose(still, 0.0, atol=1e-6)


def test_a_vehicle_without_a_finite_row_stays_where_it_was(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    bodies = MovingBodies(flight)
    bodies.poses(placed(flight, (1.0, 2.0, 3.0)))
    _, body = part_of(bodies, placed(flight, (math.nan, 0.0, 0.0), time_s=1.0), "body")
    np.testing.assert_allclose(body.positions_world_m, [[1.0, 2.0, 3.0]])


def test_before_its_first_row_a_vehicle_is_at_its_start(staged, placed):
    flight = staged("hover-hummingbird", ROTORS)
    _, body = part_of(MovingBodies(flight), placed(flight)._replace(rows={}), "body")
    np.testing.assert_allclose(body.positions_world_m, [[0.0, 0.0, 10.0]])


def test_a_vessel_is_drawn_with_its_roll(staged, placed):
    flight = staged("cruise-otter", ("act_left_radps", "act_right_radps"))
    roll = 0.2
    q = (math.cos(0.5 * roll), math.sin(0.5 * roll), 0.0, 0.0)
    _, hulls = part_of(MovingBodies(flight), placed(flight, q=q), "hulls")
    up = rotated(hulls.q_world_from_part, np.array([[0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(up, [[0.0, -math.sin(roll), math.cos(roll)]], atol=1e-12)


def test_a_rudder_shows_its_angle(staged, placed):
    flight = staged("cruise-strider", ("act_rudder_rad",))
    _, rudder = part_of(MovingBodies(flight), placed(flight, act_rudder_rad=0.3), "rudder")
    np.testing.assert_allclose(rudder.positions_world_m, [[-0.34727, 0.0, 0.0]])
    ahead = rotated(rudder.q_world_from_part, np.array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(ahead, [[math.cos(0.3), math.sin(0.3), 0.0]], atol=1e-12)


def test_a_head_points_along_its_angles(staged, placed):
    flight = staged("surface-following", ("sensor.head.pitch_rad", "sensor.head.yaw_rad"))
    theta, phi = 0.7, -0.4
    angles = {"sensor.head.pitch_rad": theta, "sensor.head.yaw_rad": phi}
    _, head = part_of(MovingBodies(flight), placed(flight, **angles), "head")
    meshes = rotated(head.q_world_from_part, np.array([[1.0, 0.0, 0.0]]))
    # by the definition in interfaces/head.py
    expected = [
        math.cos(phi) * math.cos(theta),
        math.sin(phi),
        -math.cos(phi) * math.sin(theta),
    ]
    np.testing.assert_allclose(meshes, [expected], atol=1e-12)


def test_a_platform_moves_with_its_model(staged, placed):
    flight = staged("moving-deck", ROTORS)
    (platform,) = flight.scenario.world.platforms
    bodies = MovingBodies(flight)
    for time_s in (0.0, 1.3):
        state = platform.deck_state(time_s)
        _, deck = part_of(bodies, placed(flight, time_s=time_s), "platforms 1")
        center = state.center_world_m
        np.testing.assert_allclose(
            deck.positions_world_m, [[float(center.x), float(center.y), float(center.z)]]
        )
    assert part_of(bodies, placed(flight), "platforms 1")[0].vehicles == ()


@pytest.fixture
def flock(staged):
    changes = [
        "vehicles.hummingbird.count=1000",
        "vehicles.hummingbird.spacing_m=[2, 2, 2]",
        "vehicles.hummingbird.guidance={type: hold}",
        "world={}",
    ]
    return staged("hover-hummingbird", ROTORS, changes)


@pytest.mark.slow
def test_a_thousand_vehicles_are_few_batches(flock, placed):
    bodies = MovingBodies(flock)
    assert len(bodies.parts) <= 8
    assert {part.instances for part in bodies.parts} == {1000, 2000}
    for part, poses in zip(bodies.parts, bodies.poses(placed(flock)), strict=True):
        assert len(poses.positions_world_m) == part.instances == len(part.vehicles)
