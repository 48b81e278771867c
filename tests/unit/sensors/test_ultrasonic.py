"""The single line against ranges by hand: incidence, limits, decks, Doppler, noise."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.sensors.range_scene import EXACT_M, around, many, moving, read

from kittiwake.contact.deck import Deck, DeckState
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.environment.obstacles.boxes import Box, Slab
from kittiwake.environment.obstacles.round import Sphere
from kittiwake.environment.platforms import FixedPlatform
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.parameters import build_component
from kittiwake.sensors.ultrasonic import Ultrasonic

AHEAD = Ultrasonic()
DOWN = Ultrasonic(direction_body=Vec3(0.0, 0.0, -1.0))
WALL = Box(Vec3(3.5, 0.0, 0.0), Vec3(1.0, 40.0, 40.0))


def assert_silent(reading):
    assert not bool(reading.valid)
    assert float(reading.range_m) == 5.0


def assert_reads(reading, range_m):
    assert bool(reading.valid)
    assert float(reading.range_m) == pytest.approx(range_m, abs=EXACT_M)


def test_wall_three_meters_ahead_reads_three_meters():
    assert_reads(read(AHEAD, around([WALL])), 3.0)


@pytest.mark.parametrize("turn", ["yaw_rad", "pitch_rad"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_incidence_of_27_4_degrees_echoes_and_of_27_6_does_not(turn, side):
    inside, outside = (math.radians(side * angle) for angle in (27.4, 27.6))
    reading = read(AHEAD, around([WALL], Start(**{turn: inside})))
    assert_reads(reading, 3.0 / math.cos(inside))
    assert_silent(read(AHEAD, around([WALL], Start(**{turn: outside}))))


@pytest.mark.slow
@pytest.mark.parametrize("off_deg", [0.0, 20.0, -27.0])
def test_range_to_a_slab_that_leans_is_the_slant_one(off_deg):
    # the face y - 3 = tan(60 deg) z - 1/2, seen from above it
    slab = Slab(Vec3(0.0, 3.0, 0.0), Vec3(400.0, 1.0, 400.0), math.pi / 3)
    start = Start(Vec3(0.0, -1.59, 2.39))
    orthogonal = abs(-1.59 - 3.0 + 0.5 - math.tan(math.pi / 3) * 2.39) * math.cos(math.pi / 3)
    off = math.radians(off_deg)
    down = math.pi / 3 + off
    line = Ultrasonic(direction_body=Vec3(0.0, math.cos(down), -math.sin(down)))
    assert_reads(read(line, around([slab], start)), orthogonal / math.cos(off))


def test_of_two_obstacles_the_nearer_one_is_read():
    ball = Sphere(Vec3(2.0, 0.0, 0.0), 0.5)
    for obstacles in ([WALL, ball], [ball, WALL]):
        assert_reads(read(AHEAD, around(obstacles)), 1.5)


def test_nothing_ahead_reads_the_longest_range():
    assert_silent(read(AHEAD, around()))
    assert_silent(read(AHEAD, around([Box(Vec3(5.6, 0.0, 0.0), Vec3(1.0, 1.0, 1.0))])))


def test_an_oblique_surface_hides_surfaces_behind_it():
    plate = Box(Vec3(1.0, 0.0, 0.0), Vec3(0.01, 2.0, 2.0), yaw_rad=math.radians(50.0))
    assert_silent(read(AHEAD, around([WALL, plate])))


def test_a_surface_below_the_shortest_range_is_not_read():
    near = dataclasses.replace(AHEAD, min_range_m=0.6)
    at = [Start(Vec3(2.5, 0.0, 0.0)), Start(Vec3(2.3, 0.0, 0.0))]
    assert_silent(read(near, around([WALL], at[0])))
    assert_reads(read(near, around([WALL], at[1])), 0.7)


def test_the_line_begins_where_the_sensor_sits():
    line = Ultrasonic(Vec3(0.2, 0.1, 0.0), Vec3(0.0, 2.0, 0.0))
    wall = Box(Vec3(-3.5, 0.0, 0.0), Vec3(1.0, 40.0, 40.0))
    # turned to the left by a right angle, its left is to the west
    assert_reads(read(line, around([wall], Start(yaw_rad=math.pi / 2))), 2.9)


def test_the_ground_is_read_from_above():
    assert_reads(read(DOWN, around(start=Start(Vec3(0.0, 0.0, 1.7)), ground_z_m=0.25)), 1.45)
    assert_silent(read(AHEAD, around(start=Start(Vec3(0.0, 0.0, 1.7)), ground_z_m=0.25)))


def test_a_deck_is_read_from_above_and_only_over_it():
    deck = FixedPlatform(Vec3(0.0, 0.0, 1.0), 2.0, 1.0, yaw_rad=math.pi / 2).deck_state(0.0)
    over = [Start(Vec3(0.0, y, 3.5)) for y in (0.0, 0.99, 1.01)]
    seen = [read(DOWN, around(start=start, ground_z_m=0.0, decks=[deck])) for start in over]
    for reading, range_m in zip(seen, [2.5, 2.5, 3.5], strict=True):
        assert_reads(reading, range_m)
    aside = Start(Vec3(0.51, 0.0, 3.5))
    assert_reads(read(DOWN, around(start=aside, ground_z_m=0.0, decks=[deck])), 3.5)


def test_a_tilted_deck_is_read_until_it_is_too_oblique():
    for tilt_deg, valid in ((27.4, True), (27.6, False)):
        deck = FixedPlatform(Vec3(0.0, 0.0, 1.0), 2.0, 2.0, pitch_rad=math.radians(tilt_deg))
        reading = read(DOWN, around(start=Start(Vec3(0.0, 0.0, 3.0)), decks=[deck.deck_state(0.0)]))
        assert bool(reading.valid) is valid


def test_the_deck_that_a_vehicle_carries_itself_is_not_read():
    # a fleet shows it as a rectangle of negative length
    carried = Deck(Vec3(0.0, 0.0, -1.0), 2.0, 2.0).carried_by(Start().kinematics())
    own = dataclasses.replace(carried, length_m=-math.inf)
    assert_silent(read(DOWN, around(decks=[own])))


@pytest.mark.parametrize(
    ("speed_mps", "valid"), [(2.9, True), (3.1, False), (-2.9, True), (-3.1, False)]
)
def test_a_range_that_changes_too_fast_is_no_reading(speed_mps, valid):
    line = dataclasses.replace(AHEAD, max_range_rate_mps=3.0)
    start = Start(velocity_world_mps=Vec3(speed_mps, 10.0, 0.0))
    reading = read(line, around([WALL], start))
    assert bool(reading.valid) is valid
    assert float(reading.range_m) == (3.0 if valid else 5.0)


def test_speed_is_that_against_what_moves_itself():
    line = dataclasses.replace(DOWN, max_range_rate_mps=3.0)
    for sinking_mps, valid in ((-8.0, True), (0.0, False)):
        deck = DeckState(
            *(Vec3(0.0, 0.0, -2.0), Quaternion.identity()),
            *(Vec3(0.0, 0.0, sinking_mps), Vec3.zero(), 2.0, 2.0),
        )
        start = Start(velocity_world_mps=Vec3(0.0, 0.0, -9.0))
        assert bool(read(line, around(start=start, decks=[deck])).valid) is valid


def test_a_sensor_on_a_turning_vehicle_moves_with_its_place():
    line = Ultrasonic(Vec3(0.0, -0.5, 0.0), max_range_rate_mps=3.0)
    # half a meter to the right of the axis, turning to the left, it goes forward
    for rate_radps, valid in ((5.9, True), (6.1, False)):
        truth = moving(Start(), Vec3(0.0, 0.0, rate_radps))
        assert bool(read(line, around([WALL], truth=truth)).valid) is valid


def test_noise_is_evenly_spread_within_its_bound():
    line, count, bound = dataclasses.replace(AHEAD, noise_bound_m=0.02), 20_000, 0.02
    errors = np.asarray(many(line, around([WALL]), count).range_m) - 3.0
    assert np.abs(errors).max() <= bound
    deviation = bound / math.sqrt(3.0)
    assert abs(errors.mean()) < 3.0 * deviation / math.sqrt(count)
    # of a uniform distribution: E x^4 = b^4 / 5, so that s^2 has the variance (9/5 - 1) s^4 / n
    assert abs(errors.std() / deviation - 1.0) < 1.5 * math.sqrt(0.8 / count)


@pytest.mark.slow
def test_noise_keeps_the_range_and_the_validity():
    line = dataclasses.replace(AHEAD, noise_bound_m=1.0)
    ranges = np.asarray(many(line, around([WALL], Start(Vec3(2.9, 0.0, 0.0))), 200).range_m)
    assert ranges.min() == 0.0
    silent = many(line, around(), 20)
    np.testing.assert_array_equal(silent.range_m, 5.0)


def test_the_ideal_reading_is_the_one_without_noise():
    line = dataclasses.replace(AHEAD, noise_bound_m=0.02)
    assert_reads(line.ideal(around([WALL])), 3.0)


@pytest.mark.slow
def test_range_follows_the_vehicle_and_is_constant_where_nothing_answers():
    def range_m(x, obstacles):
        return AHEAD.ideal(around(obstacles, Start(Vec3(x, 0.0, 0.0)))).range_m

    slope = jax.grad(range_m)
    assert float(slope(0.5, [WALL])) == pytest.approx(-1.0, abs=EXACT_M)
    assert float(slope(0.5, [])) == 0.0


def test_single_precision_reads_the_same(single_precision):
    reading = read(AHEAD, around([WALL], Start(Vec3(0.25, 0.0, 0.0), yaw_rad=0.4)))
    assert reading.range_m.dtype == jnp.float32
    # 24 bits of some meters
    assert float(reading.range_m) == pytest.approx(2.75 / math.cos(0.4), abs=2e-6)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"direction_body": [0, 0, 0]}, "Write \\[1, 0, 0\\] to look ahead"),
        (
            {"min_range_m": 5, "max_range_m": 5},
            "got 5; must be below max_range_m, 5. Write a smaller",
        ),
        ({"max_range_m": 0}, "must be above 0"),
        ({"max_incidence_deg": 91}, "must be from 0 to 90"),
    ],
)
def test_impossible_parameters_are_refused(given, sentence):
    with pytest.raises(ScenarioError, match=sentence):
        build_component(Ultrasonic, given, lambda _: "my.yaml:3")
