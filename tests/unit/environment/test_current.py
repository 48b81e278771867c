"""Currents: where they flow to, and that a scenario's world takes them to its vehicles."""

import math

import pytest

import kittiwake as kw
from kittiwake.core.kinematics import Start
from kittiwake.environment.current import StillWater, UniformCurrent
from kittiwake.geometry.vec3 import Vec3

HERE = Vec3(3.0, -2.0, 0.0)


@pytest.mark.parametrize(
    ("towards_deg", "direction"), [(0, (0, 1)), (90, (1, 0)), (180, (0, -1)), (270, (-1, 0))]
)
def test_current_flows_in_its_compass_direction(towards_deg, direction):
    velocity = UniformCurrent(0.4, math.radians(towards_deg)).velocity_world_mps(HERE)
    expected = [0.4 * direction[0], 0.4 * direction[1], 0.0]
    assert velocity.array == pytest.approx(expected, abs=1e-15)


def test_water_without_a_current_rests():
    assert StillWater().velocity_world_mps(HERE) == Vec3.zero()


def test_surroundings_contain_the_current():
    changes = {"world.current": {"type": "uniform", "speed_mps": 0.4, "towards_deg": 90}}
    world = kw.load("cruise-strider", changes).scenario.world
    around = world.surroundings(Start(HERE).kinematics(), Vec3.zero())
    assert float(around.current_world_mps.x) == pytest.approx(0.4)
