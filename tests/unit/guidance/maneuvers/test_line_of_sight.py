"""Line of sight: how the error decays, what a current leaves of it, patterns."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq
from tests.unit.guidance.point_mass import ANYWHERE

import kittiwake as kw
from kittiwake.core.errors import ScenarioError
from kittiwake.core.kinematics import Start
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.line_of_sight import LineOfSight
from kittiwake.guidance.maneuvers.waypoints import Waypoints
from kittiwake.guidance.planning.survey_pattern import SurveyPattern
from kittiwake.interfaces.guidance import GuidanceInputs

KEY = jax.random.key(0)
DT_S = 0.01
SQUARE = (Vec3(20.0, 0.0, 0.0), Vec3(20.0, 20.0, 0.0), Vec3(0.0, 20.0, 0.0), Vec3(0.0, 0.0, 0.0))


def sailed(guidance, places, steps, current=(0.0, 0.0)):
    """A vessel without inertia that goes where it heads, in a current; its places and the states.

    ``places`` are where it begins, and where it is put right after: off the first leg.
    """
    began, here = (jnp.array(place, float) for place in places)
    state = guidance.init(KEY)

    def signal(state, place, time_s):
        kinematics = Start(Vec3(place[0], place[1], 0.0)).kinematics()
        inputs = GuidanceInputs(time_s, 0, kinematics)
        return guidance.step(state, inputs, DT_S, KEY)

    def step(carried, time_s):
        state, place = carried
        state, wanted = signal(state, place, time_s)
        way = jnp.stack([jnp.cos(wanted.heading_rad), jnp.sin(wanted.heading_rad)])
        moved = place + DT_S * (wanted.speed_mps * way + jnp.array(current))
        return (state, moved), (place, state, wanted)

    def voyage():
        first, _ = signal(state, began, jnp.asarray(0.0))
        return jax.lax.scan(step, (first, here), jnp.asarray(DT_S * np.arange(steps)))[1]

    return jax.jit(voyage)()


@pytest.mark.parametrize("beside_m", [3.0, -10.0])
def test_cross_track_error_decays_by_the_law(beside_m):
    look_ahead = 4.0
    guidance = LineOfSight((Vec3(1e4, 0.0, 0.0),), speed_mps=1.5, look_ahead_m=look_ahead)
    places, _, _ = sailed(guidance, ((0.0, 0.0), (0.0, beside_m)), 2001)

    def travelled(error_m):
        # the integral of sqrt(D^2 + e^2) / e
        return math.hypot(look_ahead, error_m) - look_ahead * math.asinh(look_ahead / error_m)

    for tick in (500, 1000, 2000):
        wanted = travelled(abs(beside_m)) - 1.5 * tick * DT_S
        expected = brentq(lambda e, w=wanted: travelled(e) - w, 1e-9, 20.0)
        # of the first order in a step of 0.01 s
        assert math.copysign(expected, beside_m) == pytest.approx(
            float(places[tick, 1]), rel=0.02, abs=1e-3
        )


def test_law_is_equal_for_legs_of_any_direction():
    turned = LineOfSight((Vec3(-600.0, 800.0, 0.0),))
    straight = LineOfSight((Vec3(1000.0, 0.0, 0.0),))
    along, left = np.array([-0.6, 0.8]), np.array([-0.8, -0.6])
    one, _, _ = sailed(turned, ((0.0, 0.0), tuple(3.0 * left)), 500)
    other, _, _ = sailed(straight, ((0.0, 0.0), (0.0, 3.0)), 500)
    np.testing.assert_allclose(np.stack([one @ along, one @ left], 1), other, atol=1e-9)


def test_integral_removes_the_error_of_a_current():
    current, look_ahead = (0.0, 0.3), 3.0
    far = (Vec3(1e4, 0.0, 0.0),)
    ends = {}
    for gain in (0.0, 0.3):
        guidance = LineOfSight(far, look_ahead_m=look_ahead, integral_gain_per_s=gain)
        places, _, _ = sailed(guidance, ((0.0, 0.0), (0.0, 2.0)), 20_000, current)
        ends[gain] = float(places[-1, 1])
    # U sin(atan(e / D)) = the current across
    assert ends[0.0] == pytest.approx(look_ahead * 0.3 / math.sqrt(1.0 - 0.3**2), rel=1e-6)
    assert abs(ends[0.3]) < 1e-3


def test_waypoints_are_reached_in_sequence_and_the_vessel_stops_at_the_last():
    guidance = LineOfSight(SQUARE)
    places, states, wanted = sailed(guidance, ((0.0, 0.0), (0.0, 0.0)), 10_000)
    reached = np.asarray(jax.vmap(guidance.waypoints_reached)(states))
    assert reached[-1] == guidance.planned_waypoints() == 4
    assert bool(jax.vmap(guidance.finished)(states)[-1])
    assert float(wanted.speed_mps[0]) == 1.0
    assert float(wanted.speed_mps[-1]) == 0.0
    for number, corner in enumerate(SQUARE):
        tick = int(np.argmax(reached == number + 1))
        away = np.hypot(*(np.asarray(places[tick]) - [corner.x, corner.y]))
        # the radius along the leg, and what is left beside it
        assert away < 1.6


def test_loop_has_no_end():
    guidance = LineOfSight(SQUARE, loop=True)
    _, states, wanted = sailed(guidance, ((0.0, 0.0), (0.0, 0.0)), 20_000)
    assert int(states.reached[-1]) >= 8
    assert guidance.planned_waypoints() is None
    assert not jax.vmap(guidance.finished)(states).any()
    assert float(wanted.speed_mps[-1]) == 1.0


def test_leg_is_done_when_its_end_is_passed_at_a_distance():
    guidance = LineOfSight((Vec3(5.0, 0.0, 0.0), Vec3(5.0, 50.0, 0.0)), look_ahead_m=1e4)
    _, states, _ = sailed(guidance, ((0.0, 0.0), (0.0, 10.0)), 1000)
    assert int(states.reached[-1]) == 1


def test_pursuit_heads_for_the_waypoint():
    guidance = LineOfSight((Vec3(10.0, 0.0, 0.0),), heading="pursuit")
    places, _, wanted = sailed(guidance, ((0.0, 0.0), (3.0, 4.0)), 1500)
    expected = np.arctan2(-np.asarray(places)[:500, 1], 10.0 - np.asarray(places)[:500, 0])
    np.testing.assert_allclose(wanted.heading_rad[:500], expected, atol=1e-9)
    assert np.hypot(*(np.asarray(places)[-1] - [10.0, 0.0])) == pytest.approx(1.5, abs=0.02)


def test_the_lanes_of_a_sweep_cover_the_rectangle():
    pattern = SurveyPattern("sweep", Vec3(1.0, 2.0, 3.0), 10.0, 7.0, 3.0)
    places = [(p.x, p.y, p.z) for p in pattern.positions_world_m()]
    lanes = 2.0 + 7.0 * np.arange(4) / 3.0
    ends = [(1.0, 11.0), (11.0, 1.0), (1.0, 11.0), (11.0, 1.0)]
    expected = [(x, y, 3.0) for y, pair in zip(lanes, ends, strict=True) for x in pair]
    np.testing.assert_allclose(places, expected, atol=1e-12)


def test_pattern_lies_along_its_heading():
    pattern = SurveyPattern("box", Vec3(1.0, 2.0, 0.0), 10.0, 4.0, heading_rad=math.pi / 2.0)
    places = [(p.x, p.y) for p in pattern.positions_world_m()]
    np.testing.assert_allclose(places, [(1, 2), (1, 12), (-3, 12), (-3, 2), (1, 2)], atol=1e-12)


def test_width_of_whole_spacings_has_no_extra_lane():
    for lanes in range(1, 40):
        pattern = SurveyPattern("sweep", Vec3.zero(), 1.0, 0.1 * lanes, 0.1)
        assert len(pattern.positions_world_m()) == 2 * (lanes + 1)


@pytest.mark.parametrize("kind", [LineOfSight, Waypoints])
def test_pattern_is_flown_as_its_positions(kind):
    pattern = SurveyPattern("box", Vec3.zero(), 10.0, 4.0)
    places = pattern.positions_world_m()
    assert kind(pattern=pattern).prepare(ANYWHERE) == kind(places)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SurveyPattern("sweep", Vec3.zero(), 1.0, 1.0), "a sweep requires lane_spacing_m"),
        (lambda: SurveyPattern("box", Vec3.zero(), 1.0, 1.0, 1.0), "a box has no lanes"),
        (
            lambda: SurveyPattern("sweep", Vec3.zero(), 1.0, 1e6, 1e-3).positions_world_m(),
            "must be 1000 lanes at most: write at least 1e\\+03",
        ),
        (LineOfSight, "at least one position, .* pattern"),
        (
            lambda: LineOfSight(SQUARE, SurveyPattern("box", Vec3.zero(), 1.0, 1.0)),
            "not allowed with pattern; omit one of them",
        ),
        (lambda: LineOfSight(SQUARE[:1], loop=True), "`loop`: requires at least two"),
    ],
)
def test_invalid_patterns_are_refused(make, message):
    with pytest.raises((ValueError, ScenarioError), match=message):
        make()


@pytest.mark.slow
def test_the_strider_stays_on_its_lanes_in_a_current():
    log = kw.load("survey-strider").run()
    assert log.summary["metrics"]["waypoints"]["strider"] == {"reached": 8, "planned": 8}
    frame = log.frame("strider")
    legs, x = frame["guidance.legs"].to_numpy(), frame["x_m"].to_numpy()
    for lane, y_m in enumerate((0.0, 5.0, 10.0, 15.0)):
        straight = (legs == 2 * lane + 1) & (x > 2.5) & (x < 12.5)
        beside = np.abs(frame["y_m"].to_numpy()[straight] - y_m)
        assert straight.sum() > 500
        assert beside.max() < 1.5
        assert beside[-1] < 0.2
