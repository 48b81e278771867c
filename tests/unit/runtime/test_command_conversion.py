"""Conversion of commands to the types that a vehicle accepts."""

from math import pi

import numpy as np
import pytest

from kittiwake.control.position import Position
from kittiwake.control.position_velocity import PositionVelocity
from kittiwake.control.yaw_rate import YawRate
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
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.command_conversion import CommandConverter
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

HOME_M = np.array([1.0, 2.0, 3.0])
BY_POSITION = (PositionYaw, AccelerationYaw, ThrustAttitude, MotorsOff)
BY_VELOCITY = (VelocityYaw, AccelerationYaw, MotorsOff)
BY_ACCELERATION = (AccelerationYaw, MotorsOff)
BY_MODES = (AccelerationYaw, ThrustAttitude, ModeCommand, MotorsOff)
BY_HEADING = (HeadingSpeed, MotorsOff)


def now(time_s=0.0, velocity=(0.0, 0.0, 0.0), yaw_rad=0.0, pitch_rad=0.0):
    start = Start(
        Vec3.of(HOME_M),
        pitch_rad=pitch_rad,
        yaw_rad=yaw_rad,
        velocity_world_mps=Vec3.of(velocity),
    )
    return VehicleEstimate(time_s, start.kinematics())


def converted(command, accepted, estimate=None):
    return CommandConverter().convert(command, estimate or now(), accepted)


def position(*offset_m, yaw_rad=0.0):
    return PositionYaw(Vec3.of(HOME_M + np.array(offset_m)), yaw_rad)


def numbers(vector):
    return np.array([vector.x, vector.y, vector.z])


def test_an_accepted_command_stays_as_it_is():
    command = AccelerationYaw(Vec3(1.0, 0.0, 0.0), 0.5)
    assert converted(command, BY_POSITION) is command


def test_an_unaccepted_command_stays_as_it_is_to_be_refused():
    sticks = AttitudeThrottle(0.0, 0.0, 0.5, 0.0, 12.0)
    for accepted in (BY_POSITION, BY_MODES):
        assert converted(sticks, accepted) is sticks
    turning = VelocityYawRate(Vec3.zero(), 0.0)
    assert converted(turning, BY_HEADING) is turning


def test_motors_off_is_no_mode_command():
    assert isinstance(converted(MotorsOff(), BY_MODES), MotorsOff)


def test_a_position_becomes_a_mode_command_for_a_vehicle_with_modes():
    command = converted(position(0.0, 0.0, 0.0), BY_MODES)
    assert isinstance(command, ModeCommand)
    assert ModeCommand.MODES[int(command.mode)] == "position-yaw"
    assert numbers(command.position.position_world_m).tolist() == HOME_M.tolist()
    assert command.position_given


def test_a_body_velocity_stays_one_inside_a_mode_command():
    velocity = BodyVelocityYawRate(Vec3(1.0, 0.0, 0.0), 0.1)
    command = converted(velocity, BY_MODES, now(yaw_rad=1.0))
    assert command.velocity_in_body_axes
    assert numbers(command.velocity.velocity_world_mps).tolist() == [1.0, 0.0, 0.0]


def test_a_position_becomes_a_velocity_by_the_law_of_position_velocity():
    law = PositionVelocity()
    near = converted(position(0.5, 0.0, 0.0, yaw_rad=0.2), BY_VELOCITY)
    assert isinstance(near, VelocityYaw)
    assert numbers(near.velocity_world_mps) == pytest.approx([0.5 * law.gain_per_s, 0.0, 0.0])
    assert near.yaw_rad == 0.2
    far = converted(position(30.0, 40.0, 0.0), BY_VELOCITY)
    limited = law.max_speed_mps * np.array([0.6, 0.8, 0.0])
    assert numbers(far.velocity_world_mps) == pytest.approx(limited)


def test_a_position_becomes_an_acceleration_by_the_law_of_position():
    braking = converted(position(0.0, 0.0, 0.0), BY_ACCELERATION, now(velocity=(1.0, 0.0, 0.0)))
    assert isinstance(braking, AccelerationYaw)
    damping = 2.0 * Position().damping_ratio * Position().natural_frequency_radps
    assert numbers(braking.acceleration_world_mps2) == pytest.approx([-damping, 0.0, 0.0])
    far = converted(position(0.0, 0.0, 90.0), BY_ACCELERATION)
    limit = Position().max_vertical_acceleration_mps2
    assert numbers(far.acceleration_world_mps2) == pytest.approx([0.0, 0.0, limit])


def test_a_vessel_heads_for_its_target_and_slows_down_before_it():
    far = converted(position(0.0, 30.0, 0.0), BY_HEADING)
    assert isinstance(far, HeadingSpeed)
    assert far.heading_rad == pytest.approx(pi / 2.0)
    near = converted(position(1.0, 0.0, 0.0), BY_HEADING)
    assert 0.0 < near.speed_mps < far.speed_mps
    # it does not turn on the spot after a place that it has
    there = converted(position(0.0, 0.1, 0.0), BY_HEADING, now(yaw_rad=1.0))
    assert there.heading_rad == pytest.approx(1.0)


@pytest.mark.parametrize("accepted", [BY_VELOCITY, (VelocityYawRate, MotorsOff)])
def test_body_velocity_follows_the_attitude(accepted):
    velocity = BodyVelocityYawRate(Vec3(2.0, 1.0, 0.5), 0.0)
    level = converted(velocity, accepted, now(yaw_rad=pi / 2.0))
    assert isinstance(level, accepted[0])
    assert numbers(level.velocity_world_mps) == pytest.approx([-1.0, 2.0, 0.5])
    ahead = BodyVelocityYawRate(Vec3(2.0, 0.0, 0.0), 0.0)
    pitched = converted(ahead, accepted, now(pitch_rad=pi / 6.0))
    assert numbers(pitched.velocity_world_mps) == pytest.approx([3.0**0.5, 0.0, -1.0])


def test_velocity_error_becomes_an_acceleration():
    velocity = VelocityYawRate(Vec3(1.0, 0.0, 0.0), 0.0)
    resting = converted(velocity, BY_ACCELERATION)
    assert isinstance(resting, AccelerationYaw)
    assert numbers(resting.acceleration_world_mps2)[0] > 1.0
    moving = converted(velocity, BY_ACCELERATION, now(velocity=(1.0, 0.0, 0.0)))
    assert numbers(moving.acceleration_world_mps2) == pytest.approx([0.0, 0.0, 0.0])


def turned(converter, rate_radps, times_s, follows=lambda yaw_rad: yaw_rad):
    """Return the yaw setpoints for a vehicle whose yaw follows them."""
    yaw_rad, setpoints = 0.2, []
    for time_s in times_s:
        velocity = VelocityYawRate(Vec3.zero(), rate_radps)
        command = converter.convert(velocity, now(time_s, yaw_rad=yaw_rad), BY_ACCELERATION)
        setpoints.append(command.yaw_rad)
        yaw_rad = follows(command.yaw_rad)
    return np.array(setpoints)


def test_the_yaw_turns_at_the_rate_from_the_present_yaw():
    times_s = np.arange(4.0, 8.0, 0.02)
    found = turned(CommandConverter(), 0.5, times_s)
    np.testing.assert_allclose(found, 0.2 + 0.5 * (times_s - 4.0), atol=1e-9)


def test_the_yaw_setpoint_waits_for_a_vehicle_that_cannot_turn():
    found = turned(CommandConverter(), 2.0, np.arange(0.0, 30.0, 0.1), follows=lambda _: 0.2)
    assert found.max() == pytest.approx(0.2 + YawRate().max_lead_rad)


def test_a_new_stick_command_continues_the_yaw_setpoint():
    converter = CommandConverter()
    lagging = turned(converter, 0.5, np.arange(0.0, 1.0, 0.1), follows=lambda yaw: yaw - 0.1)
    assert turned(converter, 0.0, [0.9])[0] == pytest.approx(lagging[-1], abs=1e-9)


def test_another_command_ends_the_yaw_setpoint():
    converter = CommandConverter()
    turned(converter, 0.5, np.arange(0.0, 1.0, 0.1), follows=lambda yaw: yaw - 0.1)
    converter.convert(position(0.0, 0.0, 0.0), now(1.0), BY_ACCELERATION)
    assert turned(converter, 0.0, [1.1])[0] == pytest.approx(0.2)
