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
    DESCENT_MPS,
    MAX_ACCELERATION_MPS2,
    MAX_SPEED_MPS,
    MAX_YAW_LEAD_RAD,
    Capabilities,
    GoTo,
    HoldAttitude,
    HoldCommand,
    LandManeuver,
    VehicleEstimate,
    estimate_from_row,
    track_position,
)

HOME_M = np.array([1.0, 2.0, 3.0])
FLIES = (PositionYaw, AccelerationYaw, ThrustAttitude, MotorsOff)
BY_VELOCITY = (VelocityYaw, AccelerationYaw, MotorsOff)
BY_ACCELERATION = (AccelerationYaw, MotorsOff)
BY_MODES = (AccelerationYaw, ThrustAttitude, ModeCommand, MotorsOff)


def now(time_s=0.0, place=HOME_M, velocity=(0.0, 0.0, 0.0), yaw_rad=0.0, touching=None):
    return VehicleEstimate(time_s, np.array(place), np.array(velocity), yaw_rad, touching)


def capabilities(*takes, ground_z_m=0.0):
    return Capabilities(takes, 9.81, 1.0, ground_z_m)


def numbers(vector):
    return np.array([vector.x, vector.y, vector.z])


# going to a place


def test_a_point_moves_along_the_line_at_the_speed_and_then_stays():
    place = HOME_M + np.array([3.0, 0.0, 4.0])
    goes = GoTo(place, 0.5, 2.0)
    for time_s in np.arange(10.0, 15.0, 0.1):
        said = goes.command(now(time_s), capabilities(*FLIES))
        gone_m = min(2.0 * (time_s - 10.0), 5.0)
        np.testing.assert_allclose(
            numbers(said.position_world_m), HOME_M + gone_m * np.array([0.6, 0.0, 0.8]), atol=1e-9
        )
        speed_mps = np.linalg.norm(numbers(said.velocity_world_mps))
        assert speed_mps == pytest.approx(2.0 if gone_m < 5.0 else 0.0)
        assert said.yaw_rad == 0.5
    assert numbers(said.position_world_m).tolist() == place.tolist()


def test_a_path_begins_at_the_position_of_the_first_command():
    goes = GoTo(HOME_M + np.array([4.0, 0.0, 0.0]), 0.0, 1.0)
    goes.command(now(5.0), capabilities(*FLIES))
    drifted = now(6.0, place=HOME_M + np.array([0.0, 3.0, 0.0]))
    said = goes.command(drifted, capabilities(*FLIES))
    np.testing.assert_allclose(numbers(said.position_world_m), HOME_M + np.array([1.0, 0.0, 0.0]))


def test_the_present_position_is_held():
    said = GoTo(HOME_M, 0.0).command(now(), capabilities(*FLIES))
    assert numbers(said.position_world_m).tolist() == HOME_M.tolist()
    assert numbers(said.velocity_world_mps).tolist() == [0.0, 0.0, 0.0]


def test_a_position_becomes_a_mode_command_for_a_vehicle_with_modes():
    said = track_position(HOME_M, np.zeros(3), 0.3, now(), capabilities(*BY_MODES))
    assert isinstance(said, ModeCommand)
    assert ModeCommand.MODES[int(said.mode)] == "position-yaw"
    assert numbers(said.position.position_world_m).tolist() == HOME_M.tolist()
    assert said.position_given


def test_a_vessel_heads_for_its_target_and_slows_down_before_it():
    takes = capabilities(HeadingSpeed, MotorsOff)
    far = track_position(HOME_M + np.array([0.0, 30.0, 0.0]), np.zeros(3), 0.0, now(), takes)
    assert isinstance(far, HeadingSpeed)
    assert far.heading_rad == pytest.approx(pi / 2.0)
    near = track_position(HOME_M + np.array([0.0, 1.0, 0.0]), np.zeros(3), 0.0, now(), takes)
    assert 0.0 < near.speed_mps < far.speed_mps
    there = track_position(
        HOME_M + np.array([0.0, 0.1, 0.0]), np.zeros(3), 0.0, now(yaw_rad=1.0), takes
    )
    # it does not turn on the spot after a place that it has
    assert there.heading_rad == 1.0


def test_position_error_becomes_a_velocity_within_the_limit():
    takes = capabilities(*BY_VELOCITY)
    near = track_position(HOME_M + np.array([0.5, 0.0, 0.0]), np.zeros(3), 0.2, now(), takes)
    assert isinstance(near, VelocityYaw)
    assert numbers(near.velocity_world_mps) == pytest.approx([0.5, 0.0, 0.0])
    far = track_position(HOME_M + np.array([30.0, 40.0, 0.0]), np.zeros(3), 0.2, now(), takes)
    assert numbers(far.velocity_world_mps) == pytest.approx(
        [0.6 * MAX_SPEED_MPS, 0.8 * MAX_SPEED_MPS, 0.0]
    )
    assert far.yaw_rad == 0.2


def test_position_error_becomes_a_damped_acceleration_within_the_limit():
    takes = capabilities(*BY_ACCELERATION)
    here = track_position(HOME_M, np.zeros(3), 0.0, now(velocity=(1.0, 0.0, 0.0)), takes)
    assert isinstance(here, AccelerationYaw)
    assert numbers(here.acceleration_world_mps2)[0] < 0.0
    far = track_position(HOME_M + np.array([0.0, 0.0, 90.0]), np.zeros(3), 0.0, now(), takes)
    assert numbers(far.acceleration_world_mps2) == pytest.approx([0.0, 0.0, MAX_ACCELERATION_MPS2])


# landing


def test_a_landing_descends_steadily_above_its_start():
    lands = LandManeuver()
    for time_s in (7.0, 8.0, 9.0):
        said = lands.command(now(time_s, touching=False, yaw_rad=0.4), capabilities(*FLIES))
        sunk = HOME_M - np.array([0.0, 0.0, DESCENT_MPS * (time_s - 7.0)])
        np.testing.assert_allclose(numbers(said.position_world_m), sunk)
        assert said.yaw_rad == 0.4


@pytest.mark.parametrize("stands_on_m", [0.1, 2.2])
def test_motors_stop_after_touchdown_at_any_height(stands_on_m):
    lands, said, time_s = LandManeuver(), None, 0.0
    while not isinstance(said, MotorsOff) and time_s < 20.0:
        up_m = max(3.0 - DESCENT_MPS * time_s, stands_on_m)
        sinks = -DESCENT_MPS if up_m > stands_on_m else 0.0
        place = (1.0, 2.0, up_m)
        moved = now(time_s, place, (0.0, 0.0, sinks), touching=up_m == stands_on_m)
        said = lands.command(moved, capabilities(*FLIES))
        time_s += 0.02
    touched_s = (3.0 - stands_on_m) / DESCENT_MPS
    assert touched_s + 1.0 < time_s < touched_s + 2.0
    # for good, even if it bounces
    assert isinstance(lands.command(now(time_s, touching=False), capabilities(*FLIES)), MotorsOff)


def test_a_vehicle_that_hovers_without_touching_anything_keeps_its_motors():
    lands = LandManeuver()
    for time_s in np.arange(0.0, 10.0, 0.1):
        assert not isinstance(
            lands.command(now(time_s, touching=False), capabilities(*FLIES)), MotorsOff
        )


def test_a_touch_in_passing_is_no_landing():
    lands = LandManeuver()
    for count in range(100):
        said = lands.command(now(count / 10.0, touching=count % 5 > 0), capabilities(*FLIES))
        assert not isinstance(said, MotorsOff)


def test_landing_without_contact_sensing_stops_above_the_ground():
    lands = LandManeuver()
    for time_s in np.arange(0.0, 20.0, 0.5):
        said = lands.command(now(time_s), capabilities(*FLIES, ground_z_m=-1.0))
        assert isinstance(said, PositionYaw)
    assert numbers(said.position_world_m)[2] == -1.0 + CLEARANCE_M
    assert numbers(said.velocity_world_mps)[2] == 0.0


# angles


def test_hold_attitude_sets_the_thrust_by_angles_and_height():
    level = HoldAttitude(0.0, 0.0, 0.0, 3.0).command(now(), capabilities(*FLIES))
    assert isinstance(level, ThrustAttitude)
    assert level.thrust_n == pytest.approx(9.81)
    leaning = HoldAttitude(0.0, pi / 3.0, 0.0, 3.0).command(now(), capabilities(*FLIES))
    assert leaning.thrust_n == pytest.approx(2.0 * 9.81)
    assert (
        HoldAttitude(0.0, 0.0, 0.0, 2.0).command(now(), capabilities(*FLIES)).thrust_n
        < level.thrust_n
    )
    rising = now(velocity=(0.0, 0.0, 1.0))
    assert (
        HoldAttitude(0.0, 0.0, 0.0, 3.0).command(rising, capabilities(*FLIES)).thrust_n
        < level.thrust_n
    )


def test_hold_attitude_commands_its_angles():
    said = HoldAttitude(0.1, -0.2, 0.3, 3.0).command(now(), capabilities(*FLIES))
    angles = said.q_world_from_body.to_euler()
    found = [angles.roll_rad, angles.pitch_rad, angles.yaw_rad]
    np.testing.assert_allclose(found, [0.1, -0.2, 0.3], atol=1e-9)


def test_hold_attitude_limits_the_thrust():
    strong = Capabilities(FLIES, 9.81, 1.0, 0.0, 15.0)
    said = HoldAttitude(0.0, pi / 3.0, 0.0, 30.0).command(now(), strong)
    assert said.thrust_n == 15.0


# signals that are given as they are


def test_an_accepted_command_is_passed_on_unchanged():
    asked = AccelerationYaw(Vec3(1.0, 0.0, 0.0), 0.5)
    assert HoldCommand(asked).command(now(), capabilities(*FLIES)) is asked


def test_an_unaccepted_command_is_passed_on_to_be_refused():
    sticks = AttitudeThrottle(0.0, 0.0, 0.5, 0.0, 12.0)
    for takes in (FLIES, BY_MODES):
        assert HoldCommand(sticks).command(now(), capabilities(*takes)) is sticks
    turning = VelocityYawRate(Vec3.zero(), 0.0)
    assert HoldCommand(turning).command(now(), capabilities(HeadingSpeed, MotorsOff)) is turning


def test_motors_off_is_no_mode_command():
    assert isinstance(HoldCommand(MotorsOff()).command(now(), capabilities(*BY_MODES)), MotorsOff)


def test_a_body_velocity_stays_one_inside_a_mode_command():
    asked = BodyVelocityYawRate(Vec3(1.0, 0.0, 0.0), 0.1)
    said = HoldCommand(asked).command(now(yaw_rad=1.0), capabilities(*BY_MODES))
    assert said.velocity_in_body_axes
    assert numbers(said.velocity.velocity_world_mps).tolist() == [1.0, 0.0, 0.0]


def test_a_position_becomes_a_velocity_for_a_vehicle_that_accepts_velocities():
    asked = PositionYaw(Vec3.of(HOME_M + np.array([0.5, 0.0, 0.0])), 0.2)
    said = HoldCommand(asked).command(now(), capabilities(*BY_VELOCITY))
    assert isinstance(said, VelocityYaw)
    assert numbers(said.velocity_world_mps) == pytest.approx([0.5, 0.0, 0.0])


@pytest.mark.parametrize("takes", [BY_VELOCITY, (VelocityYawRate, MotorsOff)])
def test_body_velocity_follows_the_heading(takes):
    asked = BodyVelocityYawRate(Vec3(2.0, 1.0, 0.5), 0.0)
    said = HoldCommand(asked).command(now(yaw_rad=pi / 2.0), capabilities(*takes))
    assert isinstance(said, takes[0])
    assert numbers(said.velocity_world_mps) == pytest.approx([-1.0, 2.0, 0.5])


def test_velocity_error_becomes_an_acceleration():
    asked = VelocityYawRate(Vec3(1.0, 0.0, 0.0), 0.0)
    resting = HoldCommand(asked).command(now(), capabilities(*BY_ACCELERATION))
    assert isinstance(resting, AccelerationYaw)
    assert numbers(resting.acceleration_world_mps2)[0] > 1.0
    moving = HoldCommand(asked).command(
        now(velocity=(1.0, 0.0, 0.0)), capabilities(*BY_ACCELERATION)
    )
    assert numbers(moving.acceleration_world_mps2) == pytest.approx([0.0, 0.0, 0.0])


def turned(obey, times_s, follows=lambda yaw_rad: yaw_rad):
    """Return the yaw setpoints for a vehicle whose yaw follows them."""
    yaw_rad, asked = 0.2, []
    for time_s in times_s:
        said = obey.command(now(time_s, yaw_rad=yaw_rad), capabilities(*BY_ACCELERATION))
        asked.append(said.yaw_rad)
        yaw_rad = follows(said.yaw_rad)
    return np.array(asked)


def test_the_yaw_turns_at_the_rate_from_the_present_yaw():
    obey = HoldCommand(VelocityYawRate(Vec3.zero(), 0.5))
    times_s = np.arange(4.0, 8.0, 0.02)
    np.testing.assert_allclose(turned(obey, times_s), 0.2 + 0.5 * (times_s - 4.0), atol=1e-9)


def test_the_yaw_setpoint_waits_for_a_vehicle_that_cannot_turn():
    obey = HoldCommand(VelocityYawRate(Vec3.zero(), 2.0))
    asked = turned(obey, np.arange(0.0, 30.0, 0.1), follows=lambda _: 0.2)
    assert asked.max() == pytest.approx(0.2 + MAX_YAW_LEAD_RAD)


def test_a_new_stick_command_continues_the_yaw_setpoint():
    first = HoldCommand(VelocityYawRate(Vec3.zero(), 0.5))
    reached = turned(first, np.arange(0.0, 1.0, 0.1), follows=lambda yaw_rad: yaw_rad - 0.1)[-1]
    second = HoldCommand(VelocityYawRate(Vec3.zero(), 0.0))
    second.follow(first)
    assert turned(second, [0.9], follows=lambda _: 0.0)[0] == pytest.approx(reached, abs=1e-9)


# the estimate


def test_the_estimate_is_read_from_a_row():
    row = {f"estimate.{axis}_m": place for axis, place in zip("xyz", HOME_M, strict=True)}
    row |= {f"estimate.v{axis}_mps": 0.5 for axis in "xyz"}
    row |= {"estimate.qw": np.cos(0.4), "estimate.qx": 0.0, "estimate.qy": 0.0}
    row |= {"estimate.qz": np.sin(0.4), "time_s": 3.0}
    found = estimate_from_row(row)
    assert found.position_m.tolist() == HOME_M.tolist()
    assert found.yaw_rad == pytest.approx(0.8)
    assert found.touching is None
    assert estimate_from_row(row | {"contact": 0.0}).touching is False
    assert estimate_from_row(row | {"contact": 2.0}).touching is True
