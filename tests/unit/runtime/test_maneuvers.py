"""Maneuvers as commands: guidance stepped with estimates, block by block."""

from math import pi

import numpy as np
import pytest

from kittiwake.core.commands import AccelerationYaw, MotorsOff, PositionYaw, ThrustAttitude
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.landing.land import Land
from kittiwake.guidance.maneuvers.takeoff import HOVERING
from kittiwake.runtime.maneuvers import (
    Capabilities,
    HoldAttitude,
    HoldCommand,
    Landing,
    compile_maneuvers,
    go_to,
    hold,
    ramp_landing,
    ramp_takeoff,
    take_off,
)
from kittiwake.runtime.standalone_component import _step
from kittiwake.runtime.vehicle_estimate import VehicleEstimate, estimate_from_row

HOME_M = np.array([1.0, 2.0, 3.0])
CAPABILITIES = Capabilities((PositionYaw, MotorsOff), 9.81, 1.0, 0.0)
BLOCK_S = 0.02


def now(time_s=0.0, place=HOME_M, velocity=(0.0, 0.0, 0.0), yaw_rad=0.0, touching=None):
    start = Start(Vec3.of(place), yaw_rad=yaw_rad, velocity_world_mps=Vec3.of(velocity))
    return VehicleEstimate(time_s, start.kinematics(), touching)


def numbers(vector):
    return np.array([vector.x, vector.y, vector.z])


# going to a place


def test_go_to_moves_a_point_along_the_line_within_the_speed_and_then_holds():
    place = HOME_M + np.array([3.0, 0.0, 4.0])
    maneuver, fastest_mps = go_to(place, 0.5, 2.0), 0.0
    for time_s in np.arange(10.0, 16.0, 0.1):
        command = maneuver.command(now(time_s), CAPABILITIES)
        way_m = numbers(command.position_world_m) - HOME_M
        assert np.linalg.norm(np.cross(way_m, [0.6, 0.0, 0.8])) < 1e-9
        fastest_mps = max(fastest_mps, np.linalg.norm(numbers(command.velocity_world_mps)))
        assert command.yaw_rad == 0.5
    assert 1.99 < fastest_mps < 2.0 + 1e-9
    np.testing.assert_allclose(numbers(command.position_world_m), place)
    np.testing.assert_allclose(numbers(command.velocity_world_mps), 0.0)


def test_a_path_begins_at_the_position_of_the_first_command():
    maneuver = go_to(HOME_M + np.array([4.0, 0.0, 0.0]), 0.0, 1.0)
    maneuver.command(now(5.0), CAPABILITIES)
    drifted = now(6.0, place=HOME_M + np.array([0.0, 3.0, 0.0]))
    point_m = numbers(maneuver.command(drifted, CAPABILITIES).position_world_m)
    np.testing.assert_allclose(point_m[1:], HOME_M[1:])
    assert HOME_M[0] < point_m[0] < HOME_M[0] + 1.0


def test_a_position_is_held():
    command = hold(HOME_M, 0.2).command(now(place=HOME_M + 1.0), CAPABILITIES)
    assert numbers(command.position_world_m).tolist() == HOME_M.tolist()
    assert numbers(command.velocity_world_mps).tolist() == [0.0, 0.0, 0.0]
    assert command.yaw_rad == 0.2


# takeoff


@pytest.mark.slow
def test_a_takeoff_climbs_by_its_height_and_hovers():
    maneuver, height_m = take_off(2.0), 3.0
    for time_s in np.arange(0.0, 8.0, BLOCK_S):
        estimate = now(time_s, (1.0, 2.0, height_m), yaw_rad=0.3)
        command = maneuver.command(estimate, CAPABILITIES)
        height_m += BLOCK_S * float(np.clip(command.position_world_m.z - height_m, -1.0, 1.0))
        np.testing.assert_allclose(numbers(command.position_world_m)[:2], [1.0, 2.0])
        assert command.yaw_rad == pytest.approx(0.3)
    assert maneuver.phase() == HOVERING
    assert height_m == pytest.approx(5.0, abs=0.1)


# landing


def descend(maneuver, stands_m, seconds=40.0, from_m=3.0):
    """Return height and time of the end of a landing; the vehicle follows up to 0.5 m/s."""
    height_m, time_s = from_m, 0.0
    while time_s < seconds:
        touching = height_m <= stands_m
        command = maneuver.command(
            now(time_s, (1.0, 2.0, height_m), touching=touching), CAPABILITIES
        )
        if isinstance(command, MotorsOff):
            break
        sinks_m = BLOCK_S * min(height_m - command.position_world_m.z, 0.5)
        height_m, time_s = max(height_m - sinks_m, stands_m), time_s + BLOCK_S
    return height_m, time_s


@pytest.mark.slow
@pytest.mark.parametrize("stands_m", [0.1, 2.2])
def test_motors_stop_after_touchdown_at_any_height(stands_m):
    maneuver = Landing(Land(landing_height_world_m=0.1), "lands")
    height_m, time_s = descend(maneuver, stands_m)
    assert height_m == stands_m
    assert time_s < 20.0
    # for good, even if it bounces
    assert isinstance(maneuver.command(now(time_s, touching=False), CAPABILITIES), MotorsOff)


def test_a_vehicle_that_hovers_without_touching_anything_keeps_its_motors():
    maneuver = Landing(Land(landing_height_world_m=0.1), "lands")
    for time_s in np.arange(0.0, 10.0, 0.1):
        command = maneuver.command(now(time_s, touching=False), CAPABILITIES)
        assert not isinstance(command, MotorsOff)


@pytest.mark.slow
def test_a_touch_in_passing_is_no_landing():
    maneuver = Landing(Land(landing_height_world_m=0.1), "lands")
    maneuver.command(now(0.0, (1.0, 2.0, 3.0), touching=True), CAPABILITIES)
    height_m, _ = descend(maneuver, 0.1, from_m=2.9)
    assert height_m == 0.1


# ramps


def test_a_ramp_ends_with_the_distance_to_its_end():
    maneuver = ramp_takeoff(2.0, 4.0, 1.0)
    for time_s in np.arange(10.0, 14.9, BLOCK_S):
        command = maneuver.command(now(time_s), CAPABILITIES)
        assert not maneuver.over
    assert numbers(command.position_world_m).tolist() == [1.0, 2.0, 5.0]
    maneuver.command(now(15.1), CAPABILITIES)
    assert maneuver.over
    assert maneuver.residual_m == pytest.approx(2.0)
    assert numbers(maneuver.goal.position_world_m).tolist() == [1.0, 2.0, 5.0]


@pytest.mark.parametrize(("max_residual_m", "off"), [(0.2, False), (1.1, True), (np.inf, True)])
def test_a_ramp_down_switches_the_motors_off_within_the_residual(max_residual_m, off):
    maneuver = ramp_landing(2.0, None, 0.0, max_residual_m)
    maneuver.command(now(0.0), CAPABILITIES)
    command = maneuver.command(now(4.1), CAPABILITIES)
    assert maneuver.residual_m == pytest.approx(1.0)
    assert maneuver.off == isinstance(command, MotorsOff) == off


# angles


def test_hold_attitude_sets_the_thrust_by_angles_and_height():
    level = HoldAttitude(0.0, 0.0, 0.0, 3.0).command(now(), CAPABILITIES)
    assert isinstance(level, ThrustAttitude)
    assert level.thrust_n == pytest.approx(9.81)
    leaning = HoldAttitude(0.0, pi / 3.0, 0.0, 3.0).command(now(), CAPABILITIES)
    assert leaning.thrust_n == pytest.approx(2.0 * 9.81)
    lower = HoldAttitude(0.0, 0.0, 0.0, 2.0).command(now(), CAPABILITIES)
    assert lower.thrust_n < level.thrust_n
    rising = now(velocity=(0.0, 0.0, 1.0))
    assert HoldAttitude(0.0, 0.0, 0.0, 3.0).command(rising, CAPABILITIES).thrust_n < level.thrust_n


def test_hold_attitude_commands_its_angles():
    command = HoldAttitude(0.1, -0.2, 0.3, 3.0).command(now(), CAPABILITIES)
    angles = command.q_world_from_body.to_euler()
    found = [angles.roll_rad, angles.pitch_rad, angles.yaw_rad]
    np.testing.assert_allclose(found, [0.1, -0.2, 0.3], atol=1e-9)


def test_hold_attitude_limits_the_thrust():
    strong = CAPABILITIES._replace(max_thrust_n=15.0)
    command = HoldAttitude(0.0, pi / 3.0, 0.0, 30.0).command(now(), strong)
    assert command.thrust_n == 15.0


# commands that are given as they are


def test_a_held_command_is_passed_on_unchanged():
    command = AccelerationYaw(Vec3(1.0, 0.0, 0.0), 0.5)
    assert HoldCommand(command).command(now(), CAPABILITIES) is command


def test_maneuvers_compile_nothing_after_the_first():
    compile_maneuvers([(AccelerationYaw, MotorsOff)])
    count = _step._cache_size()
    maneuvers = (
        hold(HOME_M, 1.0),
        go_to(HOME_M, 1.0, 3.0),
        take_off(4.0),
        Landing(Land(landing_height_world_m=2), "lands"),
        ramp_takeoff(3.0, None, 1.0),
        ramp_landing(3.0, 2.0, 1.0, np.inf),
        HoldAttitude(0.0, 0.0, 0.0, 2.0),
    )
    for maneuver in maneuvers:
        for time_s in (1.0, 2.0):
            maneuver.command(now(time_s, touching=True), CAPABILITIES)
    assert _step._cache_size() == count


# the estimate


def test_the_estimate_is_read_from_a_row():
    row = {f"estimate.{axis}_m": place for axis, place in zip("xyz", HOME_M, strict=True)}
    row |= {f"estimate.v{axis}_mps": 0.5 for axis in "xyz"}
    row |= {f"estimate.w{axis}_radps": 0.1 for axis in "xyz"}
    row |= {"estimate.qw": np.cos(0.4), "estimate.qx": 0.0, "estimate.qy": 0.0}
    row |= {"estimate.qz": np.sin(0.4), "time_s": 3.0}
    found = estimate_from_row(row)
    assert found.position_m.tolist() == HOME_M.tolist()
    assert found.yaw_rad == pytest.approx(0.8)
    forward = 0.5 * (np.cos(0.8) + np.sin(0.8))
    assert found.motion.velocity_body_mps.x == pytest.approx(forward)
    assert found.touching is None
    assert estimate_from_row(row | {"contact": 0.0}).touching is False
    assert estimate_from_row(row | {"contact": 2.0}).touching is True
