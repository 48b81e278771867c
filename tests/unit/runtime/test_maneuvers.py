"""What a person asks for, as signals: pure functions of where a vehicle is."""

from math import pi

import numpy as np
import pytest

from kittiwake.core.commands import (
    AccelerationYaw,
    AttitudeThrottle,
    BodyVelocityYawRate,
    HeadingSpeed,
    ModeCommand,
    MotorsOff,
    PositionYaw,
    ThrustAttitude,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import (
    CLEARANCE_M,
    LEADS_RAD,
    MOST_MPS,
    MOST_MPS2,
    SINKS_MPS,
    Ability,
    GoTo,
    HoldCommand,
    LandManeuver,
    Lean,
    VehicleEstimate,
    estimate_of,
    held_at,
)

HOME_M = np.array([1.0, 2.0, 3.0])
FLIES = (PositionYaw, AccelerationYaw, ThrustAttitude, MotorsOff)
BY_VELOCITY = (VelocityYaw, AccelerationYaw, MotorsOff)
BY_ACCELERATION = (AccelerationYaw, MotorsOff)
BY_MODES = (AccelerationYaw, ThrustAttitude, ModeCommand, MotorsOff)


def now(time_s=0.0, place=HOME_M, velocity=(0.0, 0.0, 0.0), yaw_rad=0.0, touching=None):
    return VehicleEstimate(time_s, np.array(place), np.array(velocity), yaw_rad, touching)


def able(*takes, ground_z_m=0.0):
    return Ability(takes, 9.81, 1.0, ground_z_m)


def numbers(vector):
    return np.array([vector.x, vector.y, vector.z])


# going to a place


def test_a_point_moves_along_the_line_at_the_speed_and_then_stays():
    place = HOME_M + np.array([3.0, 0.0, 4.0])
    goes = GoTo(place, 0.5, 2.0)
    for time_s in np.arange(10.0, 15.0, 0.1):
        said = goes.command(now(time_s), able(*FLIES))
        gone_m = min(2.0 * (time_s - 10.0), 5.0)
        np.testing.assert_allclose(
            numbers(said.position_world_m), HOME_M + gone_m * np.array([0.6, 0.0, 0.8]), atol=1e-9
        )
        speed_mps = np.linalg.norm(numbers(said.velocity_world_mps))
        assert speed_mps == pytest.approx(2.0 if gone_m < 5.0 else 0.0)
        assert said.yaw_rad == 0.5
    assert numbers(said.position_world_m).tolist() == place.tolist()


def test_a_way_begins_where_the_vehicle_was_when_it_was_flown_first():
    goes = GoTo(HOME_M + np.array([4.0, 0.0, 0.0]), 0.0, 1.0)
    goes.command(now(5.0), able(*FLIES))
    drifted = now(6.0, place=HOME_M + np.array([0.0, 3.0, 0.0]))
    said = goes.command(drifted, able(*FLIES))
    np.testing.assert_allclose(numbers(said.position_world_m), HOME_M + np.array([1.0, 0.0, 0.0]))


def test_a_place_where_the_vehicle_is_already_is_held():
    said = GoTo(HOME_M, 0.0).command(now(), able(*FLIES))
    assert numbers(said.position_world_m).tolist() == HOME_M.tolist()
    assert numbers(said.velocity_world_mps).tolist() == [0.0, 0.0, 0.0]


def test_a_vehicle_of_modes_gets_a_place_as_a_mode():
    said = held_at(HOME_M, np.zeros(3), 0.3, now(), able(*BY_MODES))
    assert isinstance(said, ModeCommand)
    assert ModeCommand.MODES[int(said.mode)] == "position-yaw"
    assert numbers(said.position.position_world_m).tolist() == HOME_M.tolist()
    assert said.position_given


def test_a_vessel_heads_for_its_place_and_slows_down_before_it():
    takes = able(HeadingSpeed, MotorsOff)
    far = held_at(HOME_M + np.array([0.0, 30.0, 0.0]), np.zeros(3), 0.0, now(), takes)
    assert isinstance(far, HeadingSpeed)
    assert far.heading_rad == pytest.approx(pi / 2.0)
    near = held_at(HOME_M + np.array([0.0, 1.0, 0.0]), np.zeros(3), 0.0, now(), takes)
    assert 0.0 < near.speed_mps < far.speed_mps
    there = held_at(HOME_M + np.array([0.0, 0.1, 0.0]), np.zeros(3), 0.0, now(yaw_rad=1.0), takes)
    # it does not turn on the spot after a place that it has
    assert there.heading_rad == 1.0


def test_a_vehicle_of_velocities_is_drawn_to_its_place_at_no_more_than_the_most():
    takes = able(*BY_VELOCITY)
    near = held_at(HOME_M + np.array([0.5, 0.0, 0.0]), np.zeros(3), 0.2, now(), takes)
    assert isinstance(near, VelocityYaw)
    assert numbers(near.velocity_world_mps) == pytest.approx([0.5, 0.0, 0.0])
    far = held_at(HOME_M + np.array([30.0, 40.0, 0.0]), np.zeros(3), 0.2, now(), takes)
    assert numbers(far.velocity_world_mps) == pytest.approx([0.6 * MOST_MPS, 0.8 * MOST_MPS, 0.0])
    assert far.yaw_rad == 0.2


def test_a_vehicle_of_accelerations_is_pulled_to_its_place_and_braked():
    takes = able(*BY_ACCELERATION)
    here = held_at(HOME_M, np.zeros(3), 0.0, now(velocity=(1.0, 0.0, 0.0)), takes)
    assert isinstance(here, AccelerationYaw)
    assert numbers(here.acceleration_world_mps2)[0] < 0.0
    far = held_at(HOME_M + np.array([0.0, 0.0, 90.0]), np.zeros(3), 0.0, now(), takes)
    assert numbers(far.acceleration_world_mps2) == pytest.approx([0.0, 0.0, MOST_MPS2])


# landing


def test_a_landing_sinks_steadily_over_the_place_where_it_began():
    lands = LandManeuver()
    for time_s in (7.0, 8.0, 9.0):
        said = lands.command(now(time_s, touching=False, yaw_rad=0.4), able(*FLIES))
        sunk = HOME_M - np.array([0.0, 0.0, SINKS_MPS * (time_s - 7.0)])
        np.testing.assert_allclose(numbers(said.position_world_m), sunk)
        assert said.yaw_rad == 0.4


@pytest.mark.parametrize("stands_on_m", [0.1, 2.2])
def test_motors_stop_where_the_vehicle_stands_whatever_it_stands_on(stands_on_m):
    lands, said, time_s = LandManeuver(), None, 0.0
    while not isinstance(said, MotorsOff) and time_s < 20.0:
        up_m = max(3.0 - SINKS_MPS * time_s, stands_on_m)
        sinks = -SINKS_MPS if up_m > stands_on_m else 0.0
        place = (1.0, 2.0, up_m)
        moved = now(time_s, place, (0.0, 0.0, sinks), touching=up_m == stands_on_m)
        said = lands.command(moved, able(*FLIES))
        time_s += 0.02
    touched_s = (3.0 - stands_on_m) / SINKS_MPS
    assert touched_s + 1.0 < time_s < touched_s + 2.0
    # for good, even if it bounces
    assert isinstance(lands.command(now(time_s, touching=False), able(*FLIES)), MotorsOff)


def test_a_vehicle_that_hovers_without_touching_anything_keeps_its_motors():
    lands = LandManeuver()
    for time_s in np.arange(0.0, 10.0, 0.1):
        assert not isinstance(lands.command(now(time_s, touching=False), able(*FLIES)), MotorsOff)


def test_a_touch_in_passing_is_no_landing():
    lands = LandManeuver()
    for count in range(100):
        said = lands.command(now(count / 10.0, touching=count % 5 > 0), able(*FLIES))
        assert not isinstance(said, MotorsOff)


def test_one_without_feet_stays_above_the_ground():
    lands = LandManeuver()
    for time_s in np.arange(0.0, 20.0, 0.5):
        said = lands.command(now(time_s), able(*FLIES, ground_z_m=-1.0))
        assert isinstance(said, PositionYaw)
    assert numbers(said.position_world_m)[2] == -1.0 + CLEARANCE_M
    assert numbers(said.velocity_world_mps)[2] == 0.0


# angles


def test_a_lean_pushes_as_its_angles_and_its_height_ask():
    level = Lean(0.0, 0.0, 0.0, 3.0).command(now(), able(*FLIES))
    assert isinstance(level, ThrustAttitude)
    assert level.thrust_n == pytest.approx(9.81)
    leaning = Lean(0.0, pi / 3.0, 0.0, 3.0).command(now(), able(*FLIES))
    assert leaning.thrust_n == pytest.approx(2.0 * 9.81)
    assert Lean(0.0, 0.0, 0.0, 2.0).command(now(), able(*FLIES)).thrust_n < level.thrust_n
    rising = now(velocity=(0.0, 0.0, 1.0))
    assert Lean(0.0, 0.0, 0.0, 3.0).command(rising, able(*FLIES)).thrust_n < level.thrust_n


def test_a_lean_has_its_angles():
    said = Lean(0.1, -0.2, 0.3, 3.0).command(now(), able(*FLIES))
    angles = said.q_world_from_body.to_euler()
    found = [angles.roll_rad, angles.pitch_rad, angles.yaw_rad]
    np.testing.assert_allclose(found, [0.1, -0.2, 0.3], atol=1e-9)


def test_a_lean_asks_for_no_more_than_the_most_thrust():
    strong = Ability(FLIES, 9.81, 1.0, 0.0, 15.0)
    said = Lean(0.0, pi / 3.0, 0.0, 30.0).command(now(), strong)
    assert said.thrust_n == 15.0


# signals that are given as they are


def test_a_signal_that_a_vehicle_takes_is_passed_on_as_it_is():
    asked = AccelerationYaw(Vec3(1.0, 0.0, 0.0), 0.5)
    assert HoldCommand(asked).command(now(), able(*FLIES)) is asked


def test_what_no_vehicle_of_this_kind_takes_is_passed_on_to_be_refused():
    sticks = AttitudeThrottle(0.0, 0.0, 0.5, 0.0, 12.0)
    for takes in (FLIES, BY_MODES):
        assert HoldCommand(sticks).command(now(), able(*takes)) is sticks
    turning = VelocityYawRate(Vec3.zero(), 0.0)
    assert HoldCommand(turning).command(now(), able(HeadingSpeed, MotorsOff)) is turning


def test_motors_off_is_off_for_a_vehicle_of_modes_as_well():
    assert isinstance(HoldCommand(MotorsOff()).command(now(), able(*BY_MODES)), MotorsOff)


def test_a_velocity_in_axes_of_the_body_stays_so_inside_a_mode():
    asked = BodyVelocityYawRate(Vec3(1.0, 0.0, 0.0), 0.1)
    said = HoldCommand(asked).command(now(yaw_rad=1.0), able(*BY_MODES))
    assert said.velocity_in_body_axes
    assert numbers(said.velocity.velocity_world_mps).tolist() == [1.0, 0.0, 0.0]


def test_a_place_is_given_to_a_vehicle_of_velocities_as_one():
    asked = PositionYaw(Vec3.of(HOME_M + np.array([0.5, 0.0, 0.0])), 0.2)
    said = HoldCommand(asked).command(now(), able(*BY_VELOCITY))
    assert isinstance(said, VelocityYaw)
    assert numbers(said.velocity_world_mps) == pytest.approx([0.5, 0.0, 0.0])


@pytest.mark.parametrize("takes", [BY_VELOCITY, (VelocityYawRate, MotorsOff)])
def test_ahead_is_where_the_vehicle_looks(takes):
    asked = BodyVelocityYawRate(Vec3(2.0, 1.0, 0.5), 0.0)
    said = HoldCommand(asked).command(now(yaw_rad=pi / 2.0), able(*takes))
    assert isinstance(said, takes[0])
    assert numbers(said.velocity_world_mps) == pytest.approx([-1.0, 2.0, 0.5])


def test_a_velocity_becomes_a_pull_towards_it():
    asked = VelocityYawRate(Vec3(1.0, 0.0, 0.0), 0.0)
    resting = HoldCommand(asked).command(now(), able(*BY_ACCELERATION))
    assert isinstance(resting, AccelerationYaw)
    assert numbers(resting.acceleration_world_mps2)[0] > 1.0
    moving = HoldCommand(asked).command(now(velocity=(1.0, 0.0, 0.0)), able(*BY_ACCELERATION))
    assert numbers(moving.acceleration_world_mps2) == pytest.approx([0.0, 0.0, 0.0])


def turned(obey, times_s, follows=lambda yaw_rad: yaw_rad):
    """The yaw that is asked for of a vehicle whose own follows it."""
    yaw_rad, asked = 0.2, []
    for time_s in times_s:
        said = obey.command(now(time_s, yaw_rad=yaw_rad), able(*BY_ACCELERATION))
        asked.append(said.yaw_rad)
        yaw_rad = follows(said.yaw_rad)
    return np.array(asked)


def test_the_yaw_turns_on_at_the_rate_from_where_it_is():
    obey = HoldCommand(VelocityYawRate(Vec3.zero(), 0.5))
    times_s = np.arange(4.0, 8.0, 0.02)
    np.testing.assert_allclose(turned(obey, times_s), 0.2 + 0.5 * (times_s - 4.0), atol=1e-9)


def test_a_yaw_does_not_run_away_from_a_vehicle_that_cannot_turn():
    obey = HoldCommand(VelocityYawRate(Vec3.zero(), 2.0))
    asked = turned(obey, np.arange(0.0, 30.0, 0.1), follows=lambda _: 0.2)
    assert asked.max() == pytest.approx(0.2 + LEADS_RAD)


def test_a_new_wish_of_a_stick_turns_on_from_the_yaw_of_the_one_before():
    first = HoldCommand(VelocityYawRate(Vec3.zero(), 0.5))
    reached = turned(first, np.arange(0.0, 1.0, 0.1), follows=lambda yaw_rad: yaw_rad - 0.1)[-1]
    second = HoldCommand(VelocityYawRate(Vec3.zero(), 0.0))
    second.follow(first)
    assert turned(second, [0.9], follows=lambda _: 0.0)[0] == pytest.approx(reached, abs=1e-9)


# what is believed


def test_where_a_vehicle_believes_to_be_is_read_from_its_row():
    row = {f"estimate.{axis}_m": place for axis, place in zip("xyz", HOME_M, strict=True)}
    row |= {f"estimate.v{axis}_mps": 0.5 for axis in "xyz"}
    row |= {"estimate.qw": np.cos(0.4), "estimate.qx": 0.0, "estimate.qy": 0.0}
    row |= {"estimate.qz": np.sin(0.4), "time_s": 3.0}
    found = estimate_of(row)
    assert found.position_m.tolist() == HOME_M.tolist()
    assert found.yaw_rad == pytest.approx(0.8)
    assert found.touching is None
    assert estimate_of(row | {"contact": 0.0}).touching is False
    assert estimate_of(row | {"contact": 2.0}).touching is True
