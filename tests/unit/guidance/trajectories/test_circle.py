"""Circles through the start of a vehicle."""

import jax
import numpy as np
import pytest
from tests.unit.guidance.point_mass import ANYWHERE

import kittiwake as kw
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.trajectories.circle import Circle
from kittiwake.interfaces.guidance import GuidanceInputs

START = Start(position_world_m=Vec3(1.0, 2.0, 3.0), yaw_rad=0.7)
CENTER = Vec3(4.0, 6.0, 8.0)


def setpoints(circle, times_s):
    curve = circle.prepare(ANYWHERE._replace(start=START))
    inputs = (GuidanceInputs(time_s, 0, START.kinematics()) for time_s in times_s)
    return [curve.step((), one, 0.01, jax.random.key(0))[1] for one in inputs]


@pytest.mark.parametrize(("direction", "turn"), [("counterclockwise", 1.0), ("clockwise", -1.0)])
def test_it_sets_off_straight_ahead_and_turns_with_the_path(direction, turn):
    first, quarter, again = setpoints(Circle(2.0, 6.0, direction=direction), [0.0, 1.5, 6.0])
    # sums and sines of numbers up to ten
    close = {"rtol": 0.0, "atol": 1e-14}
    np.testing.assert_allclose(first.position_world_m, START.position_world_m, **close)
    np.testing.assert_allclose(again.position_world_m, first.position_world_m, **close)
    ahead = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    left = np.array([-ahead[1], ahead[0], 0.0])
    speed_mps = 2.0 * np.pi * 2.0 / 6.0
    np.testing.assert_allclose(first.velocity_world_mps, speed_mps * ahead, **close)
    np.testing.assert_allclose(
        quarter.position_world_m - first.position_world_m, 2.0 * (ahead + turn * left), **close
    )
    assert float(first.yaw_rad) == pytest.approx(0.7, abs=1e-14)
    assert float(quarter.yaw_rad) == pytest.approx(0.7 + turn * np.pi / 2.0, abs=1e-14)


def test_around_a_center_it_begins_nearest_to_the_start_at_the_height_of_the_center():
    (first,) = setpoints(Circle(1.0, 5.0, CENTER), [0.0])
    # the start is at (-3, -4) from the center
    np.testing.assert_allclose(first.position_world_m, [3.4, 5.2, 8.0], rtol=0.0, atol=1e-14)


def test_the_specification_flies_in_a_scenario():
    guidance = kw.guidance.Circle(radius_m=1, period_s=8)
    scenario = kw.Scenario(
        vehicles={"body": kw.Vehicle(model="uav-gazebo", guidance=guidance)}, duration_s=1.0
    )
    assert "type: circle" in scenario.to_yaml()
    curve = scenario.vehicles["body"].guidance.component
    assert curve.angular_rates_radps.x == pytest.approx(2.0 * np.pi / 8.0)
