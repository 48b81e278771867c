"""The members of a hub without a socket: what each is told."""

import itertools

import numpy as np
import pytest
from tests.unit.adapters.flocks import (
    TARGET,
    Point,
    least_distance_m,
    start_m,
    write_mission,
    write_scenario,
)

from kittiwake.adapters.hub.flock_server import LONGEST_FORESIGHT_S, FlockServer
from kittiwake.core.errors import CommandError, HubError, ScenarioError
from kittiwake.scenario.load import load_scenario

STILL = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    flock_server = FlockServer(
        load_scenario(write_scenario(tmp_path_factory.mktemp("hive"), count=3))
    )
    flock_server.compile()
    return flock_server


@pytest.fixture
def flock_server(compiled):
    for name in compiled.places:
        compiled.leave(name)
    return compiled


def report(
    flock_server, name, place_m, velocity_mps=STILL, yaw_rad=0.0, now_s=0.0, acceleration=STILL
):
    flock_server.report(name, place_m, velocity_mps, yaw_rad, now_s, acceleration)


def join(flock_server, name, place_m, velocity_mps=STILL, now_s=0.0):
    flock_server.join(name, place_m, now_s)
    report(flock_server, name, place_m, velocity_mps, now_s=now_s)


def velocity_mps(flock_server, name, now_s=0.0):
    flock_server.advance(now_s)
    return np.array(flock_server.wanted(name).velocity_world_mps)


def test_places_are_counted_team_by_team_in_the_order_of_the_file(tmp_path):
    flier = "model: crazyflie, controller: [velocity, acceleration, attitude, mixer]"
    flock = "guidance: {type: flock, behaviors: [cohesion]}"
    more = f"""
  one: {{{flier}, team: b, {flock}}}
  two: {{model: pelican, team: a, guidance: {{type: hold}}}}
  three: {{{flier}, team: b, {flock}}}
"""
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 2, more)))
    assert list(flock_server.places) == ["drone-1", "drone-2", "one", "three", "two"]
    assert [place.guided for place in flock_server.places.values()] == [True] * 4 + [False]
    assert [place.team for place in flock_server.places.values()] == ["all", "all", "b", "b", "a"]


def test_the_rate_is_that_of_the_flocks(flock_server):
    assert flock_server.rate_hz == 25.0


def test_a_scenario_without_a_flock_is_refused():
    with pytest.raises(ScenarioError, match="no vehicle flies in a flock"):
        FlockServer(load_scenario("hover-pelican"))


def test_one_alone_is_led_to_the_target(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    wanted = velocity_mps(flock_server, "drone-1")
    # half of the way in a second, 1 m/s at most
    np.testing.assert_allclose(wanted, np.array([1.0, 1.0, 0.0]) / 2**0.5, atol=1e-12)


def test_where_a_set_point_leads_is_a_period_ahead(flock_server):
    join(flock_server, "drone-1", (0.0, 1.0, 5.0))
    flock_server.advance(0.0)
    wanted = flock_server.wanted("drone-1")
    step = np.array(wanted.velocity_world_mps) * flock_server.period_s
    np.testing.assert_allclose(wanted.position_world_m, np.array([0.0, 1.0, 5.0]) + step)


def test_two_that_are_too_near_part(flock_server):
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (5.5, 5.0, 5.0))
    assert velocity_mps(flock_server, "drone-1")[0] < -0.5
    assert velocity_mps(flock_server, "drone-2")[0] > 0.5


def test_the_yaw_of_the_first_report_is_kept(flock_server):
    flock_server.join("drone-1", TARGET, 0.0)
    for yaw_rad in (0.7, 0.9):
        report(flock_server, "drone-1", TARGET, yaw_rad=yaw_rad)
        flock_server.advance(0.0)
        assert flock_server.wanted("drone-1").yaw_rad == pytest.approx(0.7)


def test_a_report_is_carried_on_by_its_age_but_not_for_ever(flock_server):
    flock_server.behave("drone-1", ["targeting"])
    speed_mps = 2.0
    for age_s, counted_s in ((0.0, 0.0), (0.2, 0.2), (60.0, LONGEST_FORESIGHT_S)):
        join(flock_server, "drone-1", (4.0, 5.0, 5.0), (speed_mps, 0.0, 0.0), now_s=10.0)
        flock_server.behave("drone-1", ["targeting"])
        wanted = velocity_mps(flock_server, "drone-1", now_s=10.0 + age_s)
        assert wanted[0] == pytest.approx(0.5 * (1.0 - speed_mps * counted_s))


def test_reported_acceleration_goes_on_for_one_period(flock_server):
    acceleration_mps2, period_s = 3.0, flock_server.period_s
    for age_s in (0.0, 0.5 * period_s, period_s, 5.0 * period_s):
        flock_server.join("drone-1", (4.0, 5.0, 5.0), 10.0)
        flock_server.behave("drone-1", ["targeting"])
        moves = ((4.0, 5.0, 5.0), STILL, 0.0, 10.0, (acceleration_mps2, 0.0, 0.0))
        report(flock_server, "drone-1", *moves)
        gained_s = min(age_s, period_s)
        way_m = acceleration_mps2 * gained_s * (age_s - 0.5 * gained_s)
        wanted = velocity_mps(flock_server, "drone-1", now_s=10.0 + age_s)
        # half of the way that is left, in a second
        assert wanted[0] == pytest.approx(0.5 * (1.0 - way_m), abs=1e-12)


def test_set_points_carry_the_acceleration_that_the_guidance_gives(tmp_path):
    for feed_forward, part in ((False, 0.0), (True, 1.0)):
        path = write_scenario(tmp_path, 1)
        given = [f"vehicles.drone.guidance.feed_forward={str(feed_forward).lower()}"]
        flock_server = FlockServer(load_scenario(path, given))
        flock_server.compile()
        name = next(iter(flock_server.places))
        join(flock_server, name, (4.0, 5.0, 5.0), (1.0, -2.0, 0.0))
        flock_server.behave(name, ["targeting"])
        flock_server.advance(0.0)
        # the derivative of half of the way to the target
        wanted = flock_server.wanted(name)
        np.testing.assert_allclose(
            wanted.acceleration_world_mps2, [-0.5 * part, 1.0 * part, 0.0], atol=1e-12
        )
        np.testing.assert_allclose(wanted.velocity_world_mps, [0.5, 0.0, 0.0], atol=1e-12)


def test_nobody_is_told_anything_before_a_report(flock_server):
    flock_server.join("drone-1", TARGET, 0.0)
    flock_server.advance(0.0)
    assert flock_server.wanted("drone-1") is None
    assert flock_server.wanted("drone-2") is None


@pytest.mark.parametrize("way", ["pause", "lose"])
def test_who_does_not_fly_along_is_kept_clear_of_and_does_not_count_as_a_mate(flock_server, way):
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (5.5, 5.0, 5.0))
    getattr(flock_server, way)("drone-2")
    flock_server.advance(0.0)
    assert flock_server.wanted("drone-2") is None
    assert flock_server.wanted("drone-1").velocity_world_mps[0] < -0.5
    flock_server.behave("drone-1", ["cohesion", "targeting", "alignment"])
    np.testing.assert_allclose(velocity_mps(flock_server, "drone-1"), 0.0, atol=1e-12)


def test_who_has_left_is_not_there(flock_server):
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (5.5, 5.0, 5.0))
    flock_server.leave("drone-2")
    np.testing.assert_allclose(velocity_mps(flock_server, "drone-1"), 0.0, atol=1e-12)


def test_who_flies_along_again_is_guided_again(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    flock_server.pause("drone-1")
    flock_server.advance(0.0)
    assert flock_server.wanted("drone-1") is None
    flock_server.resume("drone-1")
    assert flock_server.wanted("drone-1") is None
    flock_server.advance(0.0)
    assert flock_server.wanted("drone-1") is not None


def test_behaviors_are_switched_by_name_and_by_place(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    before = velocity_mps(flock_server, "drone-1")
    for switched in ([], ["cohesion"], [0, 1]):
        flock_server.behave("drone-1", switched)
        np.testing.assert_allclose(velocity_mps(flock_server, "drone-1"), 0.0, atol=1e-12)
    flock_server.behave("drone-1", [3])
    np.testing.assert_array_equal(velocity_mps(flock_server, "drone-1"), before)


@pytest.mark.parametrize("wrong", ["cohesio", 4, -1])
def test_behaviors_that_are_not_there_are_refused_and_change_nothing(flock_server, wrong):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    before = velocity_mps(flock_server, "drone-1")
    with pytest.raises(CommandError, match="there is no behavior"):
        flock_server.behave("drone-1", ["cohesion", wrong])
    np.testing.assert_array_equal(velocity_mps(flock_server, "drone-1"), before)


def test_who_was_lost_goes_on_and_who_has_left_begins_anew(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    flock_server.behave("drone-1", [])
    flock_server.lose("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert np.linalg.norm(velocity_mps(flock_server, "drone-1")) == 0.0
    flock_server.leave("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert np.linalg.norm(velocity_mps(flock_server, "drone-1")) == pytest.approx(1.0)


def test_one_far_out_disturbs_nobody(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    alone = velocity_mps(flock_server, "drone-1")
    join(flock_server, "drone-2", (1e7, -1e7, 1e7), (1e3, 1e3, 1e3))
    np.testing.assert_array_equal(velocity_mps(flock_server, "drone-1"), alone)
    assert np.isfinite(velocity_mps(flock_server, "drone-2")).all()


def test_a_flock_reaches_its_target(flock_server):
    points = {name: Point(start_m(i)) for i, name in enumerate(flock_server.places)}
    for name, point in points.items():
        flock_server.join(name, point.said[0], 0.0)
    least_m = np.inf
    for k in range(750):
        for name, point in points.items():
            report(flock_server, name, *point.said, now_s=0.04 * k)
        flock_server.advance(0.04 * k)
        for name, point in points.items():
            point.move(flock_server.wanted(name).velocity_world_mps, 0.04)
        least_m = min(least_m, least_distance_m(list(points.values())))
    middle = np.mean([point.place_m for point in points.values()], axis=0)
    np.testing.assert_allclose(middle, TARGET, atol=0.02)
    assert least_m > 0.8


# missions of flocks


def mission(folder, world="", rate_hz=None):
    return FlockServer(load_scenario(write_mission(folder, world)), rate_hz)


def east_mps(flock_server, ticks):
    """How fast the first one is sent east, after so many steps without moving."""
    for _ in range(ticks):
        report(flock_server, "drone-1", (0.0, 0.0, 5.0))
        flock_server.advance(0.0)
    return flock_server.wanted("drone-1").velocity_world_mps[0]


@pytest.mark.parametrize(
    ("radio", "rate_hz"),
    [("ideal", 25.0), ("{type: ideal, rate_hz: 10}", 10.0), ("{type: ideal, rate_hz: 100}", 25.0)],
)
def test_a_mission_is_asked_as_often_as_the_radio_runs(tmp_path, radio, rate_hz):
    assert mission(tmp_path, f"world: {{radio: {radio}}}").rate_hz == rate_hz


def test_a_mission_has_the_time_of_its_member_and_not_of_the_hub(tmp_path):
    flock_server = mission(tmp_path)
    flock_server.compile()
    for _ in range(500):
        flock_server.advance(0.0)
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 45) > 0.5
    assert east_mps(flock_server, 10) < -0.5
    # who was lost is where it would have been, who comes back after leaving begins
    flock_server.lose("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 1) < -0.5
    flock_server.leave("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 45) > 0.5


def test_behaviors_of_a_mission_are_those_of_its_flocks(tmp_path):
    flock_server = mission(tmp_path)
    assert flock_server.places["drone-1"].behaviors == ("separation", "targeting")
    flock_server.compile()
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 1) > 0.5
    flock_server.behave("drone-1", [0])
    assert east_mps(flock_server, 1) == 0.0
    flock_server.behave("drone-1", [1])
    assert east_mps(flock_server, 1) > 0.5


def test_who_has_no_behaviors_is_told_so(tmp_path):
    more = "  other: {model: pelican, guidance: {type: hold}}\n"
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 2, more)))
    with pytest.raises(CommandError, match="other has no behaviors"):
        flock_server.behave("other", [0])


# the radio


def test_the_radio_runs_at_its_own_rate_and_what_it_told_is_carried_on(tmp_path):
    more = "world: {radio: {type: ideal, rate_hz: 5}}\n"
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 2, more)))
    flock_server.compile()
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (8.5, 5.0, 5.0))
    flock_server.behave("drone-1", ["separation"])
    assert velocity_mps(flock_server, "drone-1")[0] == 0.0
    # it comes near, which is heard with the next message
    report(flock_server, "drone-2", (7.0, 5.0, 5.0), (-1.0, 0.0, 0.0))
    pushed = [velocity_mps(flock_server, "drone-1")[0] for _ in range(9)]
    assert pushed[:4] == [0.0] * 4
    assert all(later < before < 0.0 for before, later in itertools.pairwise(pushed[4:]))


def test_a_radio_that_remembers_too_much_at_the_hubs_rate_is_refused(tmp_path):
    more = "world: {radio: {type: lossy, memory_s: 2, rate_hz: 100}}\n"
    scenario = load_scenario(write_scenario(tmp_path, 2, more))
    FlockServer(scenario)
    with pytest.raises(HubError, match="world.radio: at the hub's 140 Hz"):
        FlockServer(scenario, 140.0)
