"""Directions along which the ranges of each sensor are measured."""

import math

import numpy as np
import pytest
from tests.unit.sensors.range_scene import around, read

from kittiwake.environment.obstacles.round import Sphere
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.imu import Imu
from kittiwake.sensors.lidar import Lidar2D
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import RangeCamera
from kittiwake.sensors.sonar_cone import SonarCone
from kittiwake.sensors.ultrasonic import Ultrasonic
from kittiwake.sensors.ultrasonic_array import UltrasonicArray
from kittiwake.sensors.ultrasonic_fan import UltrasonicFan

MOUNT = Mount(Vec3.zero(), 0.2, -0.4, 2.0)
AWAY_M, RADIUS_M = 3.0, 0.2
SENSORS = {
    "fan": UltrasonicFan(5, mount=MOUNT, noise_bound_m=0.0),
    "lidar": Lidar2D(MOUNT, 7, 2.0, deviation_m=0.0),
    "camera": RangeCamera(MOUNT, 3, 2, along="ray"),
    "cone": SonarCone(MOUNT),
    "line": Ultrasonic(direction_body=Vec3(0.0, -2.0, 1.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SENSORS)
def test_a_ball_along_a_beam_is_measured_by_its_range(name):
    sensor = SENSORS[name]
    looks = sensor.beam_directions_body()
    for number, look in enumerate(looks):
        assert look.norm() == pytest.approx(1.0, abs=1e-12)
        said = read(sensor, around([Sphere(look * AWAY_M, RADIUS_M)]))
        distance, valid = (np.ravel(getattr(said, field)) for field in (ranges_of(said), "valid"))
        assert distance.shape == (len(looks),)
        assert valid[number]
        assert distance[number] == pytest.approx(AWAY_M - RADIUS_M, abs=1e-9)


def ranges_of(measurement):
    (name,) = (name for name, unit in measurement.quantities().items() if unit == "m")
    return name


def test_an_array_looks_along_its_five_lines():
    half = math.sqrt(0.5)
    expected = [[1, 0, 0], [0, 0, -1], [half, half, 0], [half, -half, 0], [-1, 0, 0]]
    looks = [look.array for look in UltrasonicArray().beam_directions_body()]
    np.testing.assert_allclose(looks, expected, atol=1e-12)


def test_sensors_without_ranges_have_no_beam_directions():
    assert Imu().beam_directions_body() is None
    # its numbers are parts of the ways, not the ways along the rays
    assert RangeCamera(along="axis").beam_directions_body() is None
