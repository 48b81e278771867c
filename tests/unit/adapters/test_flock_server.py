"""Set points of the members of a hub, without sockets."""

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

from kittiwake.adapters.hub.flock_server import MAX_EXTRAPOLATION_S, FlockServer
from kittiwake.core.errors import CommandError, HubError, ScenarioError
from kittiwake.scenario.load import load_scenario

STILL = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    flock_server = FlockServer(
        load_scenario(write_scenario(tmp_path_factory.mktemp("hub"), count=3))
    )
    flock_server.compile()
    return flock_server


@pytest.fixture
def flock_server(compiled):
    for name in compiled.slots:
        compiled.leave(name)
    return compiled


def report(
    flock_server, name, position_m, velocity_mps=STILL, yaw_rad=0.0, now_s=0.0, acceleration=STILL
):
    flock_server.report(name, position_m, velocity_mps, yaw_rad, now_s, acceleration)


def join(flock_server, name, position_m, velocity_mps=STILL, now_s=0.0):
    flock_server.join(name, position_m, now_s)
    report(flock_server, name, position_m, velocity_mps, now_s=now_s)


def velocity_mps(flock_server, name, now_s=0.0):
    flock_server.advance(now_s)
    return np.array(flock_server.setpoint(name).velocity_world_mps)


@pytest.mark.slow
def test_slots_are_ordered_by_team_as_in_the_file(tmp_path):
    flier = "model: crazyflie, controller: [velocity, acceleration, attitude, mixer]"
    flock = "guidance: {type: flock, behaviors: [cohesion]}"
    more = f"""
  one: {{{flier}, team: b, {flock}}}
  two: {{model: pelican, team: a, guidance: {{type: hold}}}}
  three: {{{flier}, team: b, {flock}}}
"""
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 2, more)))
    assert list(flock_server.slots) == ["drone-1", "drone-2", "one", "three", "two"]
    assert [place.guided for place in flock_server.slots.values()] == [True] * 4 + [False]
    assert [place.team for place in flock_server.slots.values()] == ["all", "all", "b", "b", "a"]


@pytest.mark.slow
def test_the_rate_is_that_of_the_flocks(flock_server):
    assert flock_server.rate_hz == 25.0


def test_a_scenario_without_a_flock_is_refused():
    with pytest.raises(ScenarioError, match="no vehicle flies in a flock"):
        FlockServer(load_scenario("hover-pelican"))


def test_single_member_is_guided_to_the_target(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    setpoint = velocity_mps(flock_server, "drone-1")
    # half of the way in a second, 1 m/s at most
    np.testing.assert_allclose(setpoint, np.array([1.0, 1.0, 0.0]) / 2**0.5, atol=1e-12)


def test_set_point_position_is_one_period_ahead(flock_server):
    join(flock_server, "drone-1", (0.0, 1.0, 5.0))
    flock_server.advance(0.0)
    setpoint = flock_server.setpoint("drone-1")
    step = np.array(setpoint.velocity_world_mps) * flock_server.period_s
    np.testing.assert_allclose(setpoint.position_world_m, np.array([0.0, 1.0, 5.0]) + step)


def test_members_too_close_separate(flock_server):
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (5.5, 5.0, 5.0))
    assert velocity_mps(flock_server, "drone-1")[0] < -0.5
    assert velocity_mps(flock_server, "drone-2")[0] > 0.5


def test_the_yaw_of_the_first_report_is_kept(flock_server):
    flock_server.join("drone-1", TARGET, 0.0)
    for yaw_rad in (0.7, 0.9):
        report(flock_server, "drone-1", TARGET, yaw_rad=yaw_rad)
        flock_server.advance(0.0)
        assert flock_server.setpoint("drone-1").yaw_rad == pytest.approx(0.7)


def test_report_is_extrapolated_by_its_age_up_to_a_limit(flock_server):
    flock_server.set_behaviors("drone-1", ["targeting"])
    speed_mps = 2.0
    for age_s, counted_s in ((0.0, 0.0), (0.2, 0.2), (60.0, MAX_EXTRAPOLATION_S)):
        join(flock_server, "drone-1", (4.0, 5.0, 5.0), (speed_mps, 0.0, 0.0), now_s=10.0)
        flock_server.set_behaviors("drone-1", ["targeting"])
        setpoint = velocity_mps(flock_server, "drone-1", now_s=10.0 + age_s)
        assert setpoint[0] == pytest.approx(0.5 * (1.0 - speed_mps * counted_s))


def test_reported_acceleration_is_extrapolated_for_one_period(flock_server):
    acceleration_mps2, period_s = 3.0, flock_server.period_s
    for age_s in (0.0, 0.5 * period_s, period_s, 5.0 * period_s):
        flock_server.join("drone-1", (4.0, 5.0, 5.0), 10.0)
        flock_server.set_behaviors("drone-1", ["targeting"])
        motion = ((4.0, 5.0, 5.0), STILL, 0.0, 10.0, (acceleration_mps2, 0.0, 0.0))
        report(flock_server, "drone-1", *motion)
        gained_s = min(age_s, period_s)
        way_m = acceleration_mps2 * gained_s * (age_s - 0.5 * gained_s)
        setpoint = velocity_mps(flock_server, "drone-1", now_s=10.0 + age_s)
        # half of the way that is left, in a second
        assert setpoint[0] == pytest.approx(0.5 * (1.0 - way_m), abs=1e-12)


@pytest.mark.slow
def test_set_points_carry_the_acceleration_that_the_guidance_gives(tmp_path):
    for feed_forward, part in ((False, 0.0), (True, 1.0)):
        path = write_scenario(tmp_path, 1)
        given = [f"vehicles.drone.guidance.feed_forward={str(feed_forward).lower()}"]
        flock_server = FlockServer(load_scenario(path, given))
        flock_server.compile()
        name = next(iter(flock_server.slots))
        join(flock_server, name, (4.0, 5.0, 5.0), (1.0, -2.0, 0.0))
        flock_server.set_behaviors(name, ["targeting"])
        flock_server.advance(0.0)
        # the derivative of half of the way to the target
        setpoint = flock_server.setpoint(name)
        np.testing.assert_allclose(
            setpoint.acceleration_world_mps2, [-0.5 * part, 1.0 * part, 0.0], atol=1e-12
        )
        np.testing.assert_allclose(setpoint.velocity_world_mps, [0.5, 0.0, 0.0], atol=1e-12)


def test_members_have_no_set_point_before_a_report(flock_server):
    flock_server.join("drone-1", TARGET, 0.0)
    flock_server.advance(0.0)
    assert flock_server.setpoint("drone-1") is None
    assert flock_server.setpoint("drone-2") is None


@pytest.mark.parametrize("way", ["pause", "lose"])
def test_inactive_member_is_avoided_but_not_in_the_flock(flock_server, way):
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (5.5, 5.0, 5.0))
    getattr(flock_server, way)("drone-2")
    flock_server.advance(0.0)
    assert flock_server.setpoint("drone-2") is None
    assert flock_server.setpoint("drone-1").velocity_world_mps[0] < -0.5
    flock_server.set_behaviors("drone-1", ["cohesion", "targeting", "alignment"])
    np.testing.assert_allclose(velocity_mps(flock_server, "drone-1"), 0.0, atol=1e-12)


def test_left_member_has_no_influence(flock_server):
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (5.5, 5.0, 5.0))
    flock_server.leave("drone-2")
    np.testing.assert_allclose(velocity_mps(flock_server, "drone-1"), 0.0, atol=1e-12)


def test_resumed_member_is_guided_again(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    flock_server.pause("drone-1")
    flock_server.advance(0.0)
    assert flock_server.setpoint("drone-1") is None
    flock_server.resume("drone-1")
    assert flock_server.setpoint("drone-1") is None
    flock_server.advance(0.0)
    assert flock_server.setpoint("drone-1") is not None


def test_behaviors_are_switched_by_name_and_by_index(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    before = velocity_mps(flock_server, "drone-1")
    for switched in ([], ["cohesion"], [0, 1]):
        flock_server.set_behaviors("drone-1", switched)
        np.testing.assert_allclose(velocity_mps(flock_server, "drone-1"), 0.0, atol=1e-12)
    flock_server.set_behaviors("drone-1", [3])
    np.testing.assert_array_equal(velocity_mps(flock_server, "drone-1"), before)


@pytest.mark.parametrize("wrong", ["cohesio", 4, -1])
def test_unknown_behaviors_are_refused_and_change_nothing(flock_server, wrong):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    before = velocity_mps(flock_server, "drone-1")
    with pytest.raises(CommandError, match="there is no behavior"):
        flock_server.set_behaviors("drone-1", ["cohesion", wrong])
    np.testing.assert_array_equal(velocity_mps(flock_server, "drone-1"), before)


def test_lost_member_continues_and_left_member_starts_anew(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    flock_server.set_behaviors("drone-1", [])
    flock_server.lose("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert np.linalg.norm(velocity_mps(flock_server, "drone-1")) == 0.0
    flock_server.leave("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert np.linalg.norm(velocity_mps(flock_server, "drone-1")) == pytest.approx(1.0)


def test_distant_member_does_not_disturb_others(flock_server):
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    alone = velocity_mps(flock_server, "drone-1")
    join(flock_server, "drone-2", (1e7, -1e7, 1e7), (1e3, 1e3, 1e3))
    np.testing.assert_array_equal(velocity_mps(flock_server, "drone-1"), alone)
    assert np.isfinite(velocity_mps(flock_server, "drone-2")).all()


def test_a_flock_reaches_its_target(flock_server):
    points = {name: Point(start_m(i)) for i, name in enumerate(flock_server.slots)}
    for name, point in points.items():
        flock_server.join(name, point.report[0], 0.0)
    least_m = np.inf
    for k in range(750):
        for name, point in points.items():
            report(flock_server, name, *point.report, now_s=0.04 * k)
        flock_server.advance(0.04 * k)
        for name, point in points.items():
            point.move(flock_server.setpoint(name).velocity_world_mps, 0.04)
        least_m = min(least_m, least_distance_m(list(points.values())))
    middle = np.mean([point.position_m for point in points.values()], axis=0)
    np.testing.assert_allclose(middle, TARGET, atol=0.02)
    assert least_m > 0.8


# missions of flocks


def mission(folder, world="", rate_hz=None):
    return FlockServer(load_scenario(write_mission(folder, world)), rate_hz)


def east_mps(flock_server, ticks):
    """Return the eastward velocity of the first member after steps without motion."""
    for _ in range(ticks):
        report(flock_server, "drone-1", (0.0, 0.0, 5.0))
        flock_server.advance(0.0)
    return flock_server.setpoint("drone-1").velocity_world_mps[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("radio", "rate_hz"),
    [("ideal", 25.0), ("{type: ideal, rate_hz: 10}", 10.0), ("{type: ideal, rate_hz: 100}", 25.0)],
)
def test_mission_rate_is_that_of_the_radio(tmp_path, radio, rate_hz):
    assert mission(tmp_path, f"world: {{radio: {radio}}}").rate_hz == rate_hz


@pytest.mark.slow
def test_a_mission_has_the_time_of_its_member_and_not_of_the_hub(tmp_path):
    flock_server = mission(tmp_path)
    flock_server.compile()
    for _ in range(500):
        flock_server.advance(0.0)
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 45) > 0.5
    assert east_mps(flock_server, 10) < -0.5
    # a lost member continues its mission, a member that has left starts anew
    flock_server.lose("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 1) < -0.5
    flock_server.leave("drone-1")
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 45) > 0.5


@pytest.mark.slow
def test_behaviors_of_a_mission_are_those_of_its_flocks(tmp_path):
    flock_server = mission(tmp_path)
    assert flock_server.slots["drone-1"].behaviors == ("separation", "targeting")
    flock_server.compile()
    join(flock_server, "drone-1", (0.0, 0.0, 5.0))
    assert east_mps(flock_server, 1) > 0.5
    flock_server.set_behaviors("drone-1", [0])
    assert east_mps(flock_server, 1) == 0.0
    flock_server.set_behaviors("drone-1", [1])
    assert east_mps(flock_server, 1) > 0.5


def test_member_without_behaviors_is_refused(tmp_path):
    more = "  other: {model: pelican, guidance: {type: hold}}\n"
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 2, more)))
    with pytest.raises(CommandError, match="other has no behaviors"):
        flock_server.set_behaviors("other", [0])


# the radio


@pytest.mark.slow
def test_radio_runs_at_its_own_rate_and_its_messages_are_extrapolated(tmp_path):
    more = "world: {radio: {type: ideal, rate_hz: 5}}\n"
    flock_server = FlockServer(load_scenario(write_scenario(tmp_path, 2, more)))
    flock_server.compile()
    join(flock_server, "drone-1", TARGET)
    join(flock_server, "drone-2", (8.5, 5.0, 5.0))
    flock_server.set_behaviors("drone-1", ["separation"])
    assert velocity_mps(flock_server, "drone-1")[0] == 0.0
    # it comes near, which the next message reports
    report(flock_server, "drone-2", (7.0, 5.0, 5.0), (-1.0, 0.0, 0.0))
    pushed = [velocity_mps(flock_server, "drone-1")[0] for _ in range(9)]
    assert pushed[:4] == [0.0] * 4
    assert all(later < before < 0.0 for before, later in itertools.pairwise(pushed[4:]))


@pytest.mark.slow
def test_radio_with_too_long_memory_at_the_hub_rate_is_refused(tmp_path):
    more = "world: {radio: {type: lossy, memory_s: 2, rate_hz: 100}}\n"
    scenario = load_scenario(write_scenario(tmp_path, 2, more))
    FlockServer(scenario)
    with pytest.raises(HubError, match="world.radio: at the hub's 140 Hz"):
        FlockServer(scenario, 140.0)
