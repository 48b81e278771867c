"""The head against angles and ranges by hand: how it turns, what it says, when it says nothing."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.range_scene import EXACT_M, KEY, around

from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box, Slab
from kittiwake.environment.obstacles.round import Sphere
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.head import HeadAngles
from kittiwake.sensors.ultrasonic_head import UltrasonicHead

DT_S = 1.0 / 16.0
AT_CENTER = UltrasonicHead(position_body_m=Vec3(0.0, 0.0, 0.0))
SHARE = 1.0 - math.exp(-DT_S / 0.1)
# the front face of the source's slab is y = tan(60 deg) z + 5/2; the vehicle looks north over it
SLAB = Slab(Vec3(0.0, 3.0, 0.0), Vec3(400.0, 1.0, 400.0), math.pi / 3)
NORTH = Start(Vec3(0.0, -1.59, 2.39), yaw_rad=math.pi / 2)
SLAB_M = (1.59 + 2.5 + math.tan(math.pi / 3) * 2.39) / 2.0


def looks(sensor, inputs, samples=1):
    """What a head says in so many samples of a vehicle at rest, and what it would without noise."""

    def sample(state, key):
        later, measured, ideal = sensor.step_with_ideal(state, inputs, DT_S, key)
        return later, (measured, ideal)

    keys = jax.random.split(KEY, samples)
    return jax.jit(lambda start: jax.lax.scan(sample, start, keys)[1])(sensor.init(KEY))


def wall_at(angle_rad):
    """A wall 2 m away, the way to which is turned to the left by so much."""
    middle = Vec3(2.5 * math.cos(angle_rad), 2.5 * math.sin(angle_rad), 0.0)
    return Box(middle, Vec3(1.0, 40.0, 40.0), yaw_rad=angle_rad)


def test_angles_are_those_of_two_turns_one_after_the_other():
    angles = HeadAngles(0.4, -0.3)
    lowered = Quaternion.from_rotation_vector(Vec3(0.0, 0.4, 0.0))
    turns = lowered * Quaternion.from_rotation_vector(Vec3(0.0, 0.0, -0.3))
    expected = turns.rotate(Vec3(1.0, 0.0, 0.0)).array
    np.testing.assert_allclose(angles.direction_body.array, expected, rtol=0.0, atol=1e-15)


def test_a_direction_has_the_angles_that_look_along_it():
    ways = np.random.default_rng(2).normal(size=(50, 3))
    for way in ways / np.linalg.norm(ways, axis=1)[:, None]:
        angles = HeadAngles(0.0, 0.0).towards(Vec3.of(way.tolist()))
        assert abs(float(angles.yaw_rad)) <= math.pi / 2
        np.testing.assert_allclose(angles.direction_body.array, way, rtol=0.0, atol=1e-14)


def test_straight_to_the_side_the_pitch_stays():
    angles = HeadAngles(0.7, 0.1).towards(Vec3(0.0, 1.0, 0.0))
    assert float(angles.pitch_rad) == 0.7
    # as near to a quarter turn as what counts as the side
    assert float(angles.yaw_rad) == pytest.approx(math.pi / 2, abs=2e-6)


@pytest.mark.slow
def test_the_first_reading_is_along_the_start_and_the_later_ones_across_the_surface():
    head = dataclasses.replace(AT_CENTER, start_pitch_rad=math.radians(45.0))
    measured, _ = looks(head, around([SLAB], NORTH), 48)
    assert np.asarray(measured.valid).all()
    # 60 deg down is square to it
    slant_m = SLAB_M / math.cos(math.radians(15.0))
    assert float(measured.range_m[0]) == pytest.approx(slant_m, abs=EXACT_M)
    # 15 deg, 47 times reduced to 0.535 of it, are gone
    assert float(measured.range_m[-1]) == pytest.approx(SLAB_M, abs=EXACT_M)
    assert float(measured.pitch_rad[-1]) == pytest.approx(math.radians(60.0), abs=1e-12)
    assert float(measured.yaw_rad[-1]) == pytest.approx(0.0, abs=1e-12)


def test_the_head_is_square_whatever_the_attitude_of_the_body():
    start = dataclasses.replace(NORTH, roll_rad=0.2, pitch_rad=-0.15, yaw_rad=1.2)
    head = dataclasses.replace(AT_CENTER, start_pitch_rad=1.0)
    measured, _ = looks(head, around([SLAB], start), 48)
    last = jax.tree.map(lambda leaf: leaf[-1], measured)
    q = start.kinematics().q_world_from_body
    inwards = np.array([0.0, 0.5, -math.sqrt(0.75)])
    np.testing.assert_allclose(q.rotate(last.direction_body).array, inwards, rtol=0.0, atol=1e-12)


def test_range_is_that_of_the_sensor_and_not_of_the_vehicle():
    head = UltrasonicHead(start_pitch_rad=math.radians(60.0))
    measured, _ = looks(head, around([SLAB], NORTH))
    nearer_m = 0.215 * 0.5 + 0.01 * math.sqrt(0.75)
    assert float(measured.range_m[0]) == pytest.approx(SLAB_M - nearer_m, abs=EXACT_M)


def test_both_axes_follow_with_the_lag_of_the_servo():
    head = dataclasses.replace(AT_CENTER, start_pitch_rad=0.1)
    measured, _ = looks(head, around([wall_at(0.2)]), 5)
    left = (1.0 - SHARE) ** np.arange(5)
    np.testing.assert_allclose(measured.pitch_rad, 0.1 * left, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(measured.yaw_rad, 0.2 * (1.0 - left), rtol=0.0, atol=1e-12)


def test_the_servo_turns_no_faster_than_its_rate():
    head = dataclasses.replace(AT_CENTER, max_rate_radps=0.5)
    measured, _ = looks(head, around([wall_at(0.4)]), 60)
    steps = np.diff(measured.yaw_rad)
    np.testing.assert_allclose(steps[:5], 0.5 * DT_S, rtol=1e-9)
    assert (steps >= 0.0).all()
    assert float(measured.yaw_rad[-1]) == pytest.approx(0.4, abs=1e-9)


def test_head_turns_to_an_oblique_surface_without_an_echo():
    head = dataclasses.replace(AT_CENTER, start_yaw_rad=-0.3)
    measured, _ = looks(head, around([wall_at(0.3)]), 6)
    oblique = np.degrees(np.abs(0.3 - np.asarray(measured.yaw_rad)))
    np.testing.assert_array_equal(measured.valid, oblique <= 27.5)
    assert not bool(measured.valid[0])
    assert bool(measured.valid[-1])


@pytest.mark.slow
@pytest.mark.parametrize(("angle_deg", "valid"), [(44.0, True), (46.0, False), (-46.0, False)])
def test_a_surface_too_far_to_the_side_gives_no_reading(angle_deg, valid):
    side = math.radians(angle_deg)
    head = dataclasses.replace(AT_CENTER, start_yaw_rad=math.copysign(0.7, side))
    measured, _ = looks(head, around([wall_at(side)]), 48)
    np.testing.assert_array_equal(measured.valid, valid)
    end = min(abs(side), math.pi / 4)
    assert abs(float(measured.yaw_rad[-1])) == pytest.approx(end, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("obstacles", [(), (Box(Vec3(6.0, 0.0, 0.0), Vec3(1.0, 9.0, 9.0)),)])
def test_head_holds_its_angles_without_a_surface_in_range(obstacles):
    head = dataclasses.replace(AT_CENTER, start_pitch_rad=0.3, start_yaw_rad=-0.2)
    measured, ideal = looks(head, around(obstacles), 4)
    for reading in (measured, ideal):
        assert not np.asarray(reading.valid).any()
        assert (np.asarray(reading.range_m) == 5.0).all()
        assert (np.asarray(reading.pitch_rad) == 0.3).all()
        assert (np.asarray(reading.yaw_rad) == -0.2).all()


@pytest.mark.slow
@pytest.mark.parametrize("radius_m", [1.0, 4.0])
def test_error_over_a_ball_shrinks_by_the_equation(radius_m):
    ball = Sphere(Vec3(0.0, 0.0, -2.0 - radius_m), radius_m)
    head = dataclasses.replace(AT_CENTER, start_pitch_rad=math.pi / 2 - 1e-4)
    measured, _ = looks(head, around([ball]), 4)
    off = np.asarray(measured.pitch_rad) - math.pi / 2
    # the equation is that of small errors, whose squares are 1e-8 of them
    expected = 1.0 - SHARE * (1.0 + 2.0 / radius_m)
    np.testing.assert_allclose(off[1:] / off[:-1], expected, rtol=1e-5)


def test_noise_stays_within_its_bound_and_is_not_in_the_ideal():
    head = dataclasses.replace(AT_CENTER, noise_bound_m=0.02)
    measured, ideal = looks(head, around([wall_at(0.0)]), 500)
    errors = np.asarray(measured.range_m) - 2.0
    assert np.abs(errors).max() <= 0.02
    # the most of 500 even draws is within 3 % of the bound but once in four million
    assert np.abs(errors).max() > 0.97 * 0.02
    np.testing.assert_allclose(ideal.range_m, 2.0, rtol=0.0, atol=EXACT_M)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"min_range_m": 5.0}, "min_range_m: got 5; must be below max_range_m, 5"),
        ({"start_yaw_rad": -1.0}, r"start_yaw_rad: got -1, beyond max_yaw_rad, 0\.785398; must"),
    ],
)
def test_impossible_parameters_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        UltrasonicHead(**given)


@pytest.mark.slow
def test_a_body_that_turns_takes_the_head_with_it():
    # it stands in the body until it has been told
    seen = [around([wall_at(0.0)], Start(yaw_rad=angle)) for angle in (0.0, 0.1)]
    state = AT_CENTER.init(KEY)
    state, _, _ = AT_CENTER.step_with_ideal(state, seen[0], DT_S, KEY)
    state, measured, _ = AT_CENTER.step_with_ideal(state, seen[1], DT_S, KEY)
    assert float(measured.range_m) == pytest.approx(2.0 / math.cos(0.1), abs=EXACT_M)
    assert float(state.yaw_rad) == pytest.approx(-0.1 * SHARE, abs=1e-12)
    assert jnp.shape(measured.range_m) == ()
