"""Lidar and range camera: angles, pixels, depths against rooms by hand, noise."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.range_scene import EXACT_M, KEY, around, ideal, many, read

from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box
from kittiwake.environment.obstacles.round import Sphere
from kittiwake.geometry.vec3 import Vec3
from kittiwake.sensors.lidar import Lidar2D
from kittiwake.sensors.mount import Mount
from kittiwake.sensors.range_camera import RangeCamera

ROOM = [Box(Vec3(0.0, 0.0, 0.0), Vec3(6.0, 4.0, 3.0))]
WALL = Box(Vec3(3.5, 0.0, 0.0), Vec3(1.0, 80.0, 80.0))


def test_a_lidar_measures_the_walls_of_a_room():
    lidar = Lidar2D(beams=360)
    angles = np.arange(360) * math.radians(1.0) - math.pi
    np.testing.assert_allclose(lidar.scan_angles_rad(), angles, atol=1e-13)
    with np.errstate(divide="ignore"):
        walls = np.minimum(3.0 / np.abs(np.cos(angles)), 2.0 / np.abs(np.sin(angles)))
    true = ideal(lidar, around(ROOM))
    np.testing.assert_allclose(true.ranges_m, walls, atol=EXACT_M)
    assert np.asarray(true.valid).all()


def test_beams_count_to_the_left_from_the_right_edge():
    half = Lidar2D(beams=3, field_of_view_rad=math.pi)
    np.testing.assert_allclose(half.scan_angles_rad(), [-math.pi / 2, 0.0, math.pi / 2], atol=1e-15)
    true = ideal(half, around(ROOM, Start(Vec3(1.0, 0.5, 0.0))))
    np.testing.assert_allclose(true.ranges_m, [2.5, 2.0, 1.5], atol=EXACT_M)


def test_a_whole_turn_duplicates_no_beam():
    for turn in (2.0 * math.pi, math.radians(360.0), 360 * math.pi / 180):
        angles = Lidar2D(beams=8, field_of_view_rad=turn).scan_angles_rad()
        np.testing.assert_allclose(np.diff(angles), math.pi / 4, atol=1e-14)


def test_a_lidar_turns_with_its_mount_and_its_vehicle():
    upright = Lidar2D(Mount(roll_rad=math.pi / 2), beams=4)
    true = ideal(upright, around(ROOM, Start(Vec3(1.0, 0.5, 0.25), yaw_rad=math.pi / 2)))
    # back, down, ahead and up: a roll of 90 degrees turns the left up
    np.testing.assert_allclose(true.ranges_m, [2.5, 1.75, 1.5, 1.25], atol=EXACT_M)


def test_a_lidar_flags_beams_without_a_hit():
    lidar = Lidar2D(beams=4, min_range_m=1.0, max_range_m=2.5)
    measured = read(lidar, around(ROOM, Start(Vec3(0.0, 1.5, 0.0))))
    assert [bool(v) for v in measured.valid] == [False, False, False, False]
    np.testing.assert_array_equal(measured.ranges_m, 2.5)
    measured = read(lidar, around(ROOM, Start(Vec3(1.0, 0.0, 0.0))))
    assert [bool(v) for v in measured.valid] == [False, True, True, True]
    assert float(measured.ranges_m[0]) == 2.5


@pytest.mark.slow
def test_noise_of_a_lidar_is_white_over_beams_and_scans():
    lidar, count = Lidar2D(beams=6, deviation_m=0.02), 2000
    inputs = around(ROOM)
    true = np.asarray(ideal(lidar, inputs).ranges_m)
    errors = np.asarray(many(lidar, inputs, count).ranges_m) - true
    samples = errors.size
    assert abs(errors.mean()) < 3.0 * 0.02 / math.sqrt(samples)
    assert abs(errors.std() / 0.02 - 1.0) < 3.0 / math.sqrt(2.0 * samples)
    neighbors = np.mean(errors[:, 1:] * errors[:, :-1]) / 0.02**2
    assert abs(neighbors) < 3.0 / math.sqrt(errors[:, 1:].size)


def test_a_wall_is_equally_deep_in_all_pixels_along_the_axis():
    camera = RangeCamera(width=9, height=5)
    true = ideal(camera, around([WALL]))
    np.testing.assert_allclose(true.depth_m, np.full((5, 9), 3.0), atol=EXACT_M)


def test_along_the_rays_a_wall_is_farther_in_the_corners():
    camera = RangeCamera(width=9, height=5, along="ray")
    focal = 4.5 / math.tan(math.radians(30.0))
    left, up = np.meshgrid(np.arange(4.0, -5.0, -1.0), np.arange(2.0, -3.0, -1.0))
    slant = 3.0 * np.sqrt(1.0 + (left**2 + up**2) / focal**2)
    np.testing.assert_allclose(ideal(camera, around([WALL])).depth_m, slant, atol=EXACT_M)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left", "up", "row", "column"), [(1, 1, 0, 0), (1, -1, 2, 0), (-1, 1, 0, 2), (0, -1, 2, 1)]
)
def test_rows_count_from_above_and_columns_from_the_left(left, up, row, column):
    camera = RangeCamera(width=3, height=3, horizontal_field_of_view_rad=math.pi / 2)
    # pixels are 2/3 of a focal length apart
    ball = Sphere(Vec3(3.0, 2.0 * left, 2.0 * up), 0.1)
    valid = np.asarray(ideal(camera, around([ball])).valid)
    assert [(int(r), int(c)) for r, c in np.argwhere(valid)] == [(row, column)]


def test_a_camera_that_looks_down_sees_the_ground_at_its_height():
    camera = RangeCamera(Mount(Vec3(0.0, 0.0, -0.2), pitch_rad=math.pi / 2))
    inputs = around(start=Start(Vec3(0.0, 0.0, 4.0), yaw_rad=0.3), ground_z_m=0.5)
    np.testing.assert_allclose(ideal(camera, inputs).depth_m, np.full((12, 16), 3.3), atol=EXACT_M)


@pytest.mark.slow
def test_the_range_limits_the_depth_and_not_the_distance_along_the_ray():
    # at 2.99 m of depth the corners are 3.7 m away
    for along, seen in (("axis", 192), ("ray", 0)):
        camera = RangeCamera(along=along, max_range_m=3.0)
        valid = np.asarray(ideal(camera, around([WALL], Start(Vec3(0.01, 0.0, 0.0)))).valid)
        assert valid.sum() >= seen
        assert bool(valid.all()) is (along == "axis")
    near = RangeCamera(min_range_m=3.1)
    assert not np.asarray(ideal(near, around([WALL])).valid).any()


@pytest.mark.slow
def test_noise_of_a_camera_has_its_deviation_in_each_pixel():
    camera, count = RangeCamera(width=4, height=3, deviation_m=0.02), 1500
    errors = np.asarray(many(camera, around([WALL]), count).depth_m) - 3.0
    assert abs(errors.std() / 0.02 - 1.0) < 3.0 / math.sqrt(2.0 * errors.size)


@pytest.mark.slow
def test_sky_in_an_image_has_finite_derivatives():
    camera = RangeCamera(width=4, height=4)

    def total(height, field):
        inputs = around(start=Start(Vec3(0.0, 0.0, height)), ground_z_m=0.0)
        own = RangeCamera(width=4, height=4, horizontal_field_of_view_rad=field)
        return jnp.sum(own.ideal(inputs).depth_m)

    sky = ~np.asarray(ideal(camera, around(start=Start(Vec3(0.0, 0.0, 1.0)), ground_z_m=0.0)).valid)
    assert sky[:2].all()
    assert not sky[2:].any()
    slopes = jax.grad(total, argnums=(0, 1))(1.0, math.radians(60.0))
    assert all(math.isfinite(float(slope)) for slope in slopes)
    # a ground pixel n pixels of height below the axis is h f / n deep: 4 of 1/2 and 4 of 3/2
    focal = 2.0 / math.tan(math.radians(30.0))
    assert float(slopes[0]) == pytest.approx(4.0 * focal * (2.0 + 2.0 / 3.0), rel=1e-12)


@pytest.mark.slow
def test_step_with_ideal_equals_step_and_ideal():
    lidar, inputs = Lidar2D(beams=5, deviation_m=0.02), around(ROOM, Start(Vec3(1.0, 0.5, 0.0)))
    _, measured, true = lidar.step_with_ideal((), inputs, 0.1, KEY)
    np.testing.assert_array_equal(measured.ranges_m, lidar.step((), inputs, 0.1, KEY)[1].ranges_m)
    np.testing.assert_array_equal(true.ranges_m, ideal(lidar, inputs).ranges_m)
    assert (np.asarray(measured.ranges_m) != np.asarray(true.ranges_m)).all()
