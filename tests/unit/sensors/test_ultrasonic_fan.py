"""Ring of ultrasonic fans, and sonar cone: directions, widths and reported echoes."""

import math

import numpy as np
import pytest
from tests.unit.sensors.range_scene import EXACT_M, around, many, read

from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.environment.obstacles.round import Sphere
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.sonar_cone import SonarCone
from kittiwake.sensors.ultrasonic_fan import UltrasonicFan

COUNT = 6
FAN = UltrasonicFan(COUNT, ring_radius_m=0.1)
CONE = SonarCone()
WALL = Box(Vec3(3.5, 0.0, 0.0), Vec3(1.0, 40.0, 40.0))


def ball(azimuth_rad, elevation_rad, away_m=3.0, from_m=0.0, radius_m=0.01):
    """A small ball in a direction from a place that far out on the way to azimuth 30 degrees."""
    level = away_m * math.cos(elevation_rad)
    return Sphere(
        Vec3(
            from_m * math.cos(math.pi / COUNT) + level * math.cos(azimuth_rad),
            from_m * math.sin(math.pi / COUNT) + level * math.sin(azimuth_rad),
            away_m * math.sin(elevation_rad),
        ),
        radius_m,
    )


@pytest.mark.slow
@pytest.mark.parametrize("sensor", range(COUNT))
def test_sensor_i_looks_along_its_azimuth_and_reads_a_wall_within_the_bound(sensor):
    azimuth = 2.0 * math.pi * sensor / COUNT + math.pi / COUNT
    inputs = around([WALL], Start(yaw_rad=-azimuth))
    true = FAN.ideal(inputs)
    # the others look at least 60 degrees aside, less the fan's 15: 2.9 / cos(45 deg) and more
    assert float(true.ranges_m[sensor]) == pytest.approx(2.9, abs=EXACT_M)
    assert int(np.argmin(true.ranges_m)) == sensor
    measured = read(FAN, inputs)
    assert bool(measured.valid[sensor])
    assert 0.0 < abs(float(measured.ranges_m[sensor]) - 2.9) <= 0.005


@pytest.mark.slow
def test_noise_of_the_fan_is_evenly_spread_and_independent():
    count, bound = 4000, 0.005
    azimuth = math.pi / COUNT
    hall = [Box(Vec3(0.0, 0.0, 0.0), Vec3(4.0, 4.0, 4.0))]
    inputs = around(hall, Start(yaw_rad=-azimuth))
    errors = np.asarray(many(FAN, inputs, count).ranges_m) - np.asarray(FAN.ideal(inputs).ranges_m)
    assert np.abs(errors).max() <= bound + EXACT_M
    # a uniform distribution's s^2 has the variance (9/5 - 1) s^4 / n
    spread = errors.std(axis=0) / (bound / math.sqrt(3.0))
    assert np.abs(spread - 1.0).max() < 3.0 * 0.5 * math.sqrt(0.8 / count)
    correlation = np.corrcoef(errors.T)[np.triu_indices(COUNT, 1)]
    # of fifteen pairs: 3.5 standard errors are left by one in 140
    assert np.abs(correlation).max() < 3.5 / math.sqrt(count)


def test_nothing_in_any_fan_reads_the_longest_range():
    measured = read(FAN, around())
    np.testing.assert_array_equal(measured.ranges_m, 5.0)
    assert not np.asarray(measured.valid).any()


@pytest.mark.slow
@pytest.mark.parametrize("aside", [(15.0, 0.0), (-15.0, 0.0), (0.0, 15.0), (15.0, -15.0)])
def test_the_outermost_rays_stand_on_the_edges_of_the_fan(aside):
    axis, (azimuth, elevation) = math.pi / COUNT, np.radians(aside)
    inside = around([ball(axis + azimuth, elevation, from_m=0.1)])
    true = FAN.ideal(inside)
    assert [bool(v) for v in true.valid] == [True] + [False] * (COUNT - 1)
    assert float(true.ranges_m[0]) == pytest.approx(2.99, abs=EXACT_M)
    # 0.5 degrees farther the ball of 0.2 degrees is outside
    outside = ball(axis + 1.034 * azimuth, 1.034 * elevation, from_m=0.1)
    assert not np.asarray(FAN.ideal(around([outside])).valid).any()


def test_reports_the_nearest_echo_of_a_fan():
    azimuth = math.pi / COUNT
    near = ball(azimuth + math.radians(15.0), 0.0, away_m=1.0, from_m=0.1)
    true = FAN.ideal(around([WALL, near], Start(yaw_rad=0.0)))
    assert float(true.ranges_m[0]) == pytest.approx(0.99, abs=EXACT_M)


def test_a_limit_of_incidence_silences_the_oblique_rays():
    wide = UltrasonicFan(COUNT, noise_bound_m=0.0, max_incidence_rad=math.radians(27.5))
    for turn_deg, valid in ((42.4, True), (42.6, False)):
        # the wall's normal so far from the sensor's axis, whose fan reaches 15 degrees towards it
        start = Start(yaw_rad=math.radians(turn_deg) - math.pi / COUNT)
        assert bool(wide.ideal(around([WALL], start)).valid[0]) is valid


def assert_reads(reading, range_m):
    assert bool(reading.valid)
    assert float(reading.range_m) == pytest.approx(range_m, abs=EXACT_M)


@pytest.mark.slow
@pytest.mark.parametrize("turn_deg", [0.0, 5.0, -10.0, 15.0])
def test_cone_measures_the_orthogonal_distance_of_a_wall_within_its_angle(turn_deg):
    assert_reads(CONE.ideal(around([WALL], Start(yaw_rad=math.radians(turn_deg)))), 3.0)


def test_beyond_the_cone_the_outermost_ray_is_the_nearest():
    true = CONE.ideal(around([WALL], Start(yaw_rad=math.radians(25.0))))
    assert_reads(true, 3.0 / math.cos(math.radians(10.0)))


def test_a_wall_echoes_into_a_cone_up_to_the_limit_of_its_outermost_ray():
    for turn_deg, valid in ((42.4, True), (42.6, False)):
        true = CONE.ideal(around([WALL], Start(pitch_rad=math.radians(turn_deg))))
        assert bool(true.valid) is valid


@pytest.mark.parametrize(("aside_deg", "seen"), [(15.0, True), (15.6, False)])
@pytest.mark.parametrize("turn", range(0, 12, 5))
def test_cone_detects_objects_up_to_its_half_angle(aside_deg, seen, turn):
    aside, about = math.radians(aside_deg), turn * math.pi / 6.0
    place = Vec3(
        3.0 * math.cos(aside),
        3.0 * math.sin(aside) * math.cos(about),
        3.0 * math.sin(aside) * math.sin(about),
    )
    true = CONE.ideal(around([Sphere(place, 0.01)]))
    assert bool(true.valid) is seen
    if seen:
        assert_reads(true, 2.99)


def test_a_cone_looks_where_its_mount_is_turned():
    down = SonarCone(Mount(Vec3(0.0, 0.0, -0.1), pitch_rad=math.pi / 2))
    inputs = around([WALL], Start(Vec3(0.0, 0.0, 2.0)), ground_z_m=0.0)
    assert_reads(down.ideal(inputs), 1.9)


@pytest.mark.slow
def test_noise_of_a_cone_keeps_its_bound():
    cone = SonarCone(noise_bound_m=0.03)
    errors = np.asarray(many(cone, around([WALL]), 500).range_m) - 3.0
    assert 0.02 < np.abs(errors).max() <= 0.03
