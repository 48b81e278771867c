"""Plume tasks: final rewards of reports, alone and in a team, and observations."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes
from tests.unit.tasks.library.test_divergence import by_the_formula

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.plumes.gaussian import GaussianCloud
from kittiwake.geometry.vec3 import Vec3
from kittiwake.scenario.load import load_scenario
from kittiwake.sensors.plume_sensor import ConcentrationMeasurement
from kittiwake.tasks.library.divergence import SampleSet
from kittiwake.tasks.library.plume import (
    Findings,
    PlumeGaussian,
    PlumePuff,
    PlumeTeam,
    PlumeTeamPuff,
)
from kittiwake.tasks.make import make

CLOUD = GaussianCloud(Vec3(1.0, 2.0, 10.0), Vec3(4.0, 8.0, 3.0), 0.0, 1.0)
PLACES = np.array([[1.0, 2.0, 10.0], [5.0, 2.0, 10.0], [1.0, 10.0, 7.0], [60.0, 0.0, 10.0]])
TRUE = np.exp(-0.5 * (((PLACES - [1.0, 2.0, 10.0]) / [4.0, 8.0, 3.0]) ** 2).sum(axis=1))


def scene(reported, *, last):
    nose = {"nose": ConcentrationMeasurement(jnp.asarray(0.25))}
    agents = [
        scenes.agent((3.0 * i, 0.0, 10.0), reported=own, measurements=nose)
        for i, own in enumerate(reported)
    ]
    smoke = {"plumes.smoke": CLOUD}
    return scenes.scene(agents, processes=smoke, last=last, world="plume-gaussian"), agents


def begun(samples=None):
    none = jnp.zeros(4)
    return Findings(jnp.asarray(PLACES), none, none, none, samples, None)


@pytest.mark.slow
def test_final_reward_is_minus_the_squared_errors():
    reported = [np.array([0.9, -0.2, -1.0, 1.0])]
    wanted = -((((reported[0] + 1) / 2) ** 4 - TRUE) ** 2).sum()
    task = PlumeGaussian(locations=4)
    for last, worth in ((True, wanted), (False, 0.0)):
        world, (own,) = scene(reported, last=last)
        goal = task.update_goal(begun(), world, scenes.keys(1)[0])
        assert float(task.reward(goal, own, world)) == pytest.approx(worth, abs=1e-9)


def test_reports_of_a_team_are_averaged():
    reported = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    wanted = -((2.0 * (((reported + 1) / 2) ** 4).mean(axis=0) - TRUE) ** 2).sum()
    world, agents = scene(reported, last=True)
    task = PlumeTeam(locations=4)
    goal = task.update_goal(begun(), world, scenes.keys(1)[0])
    for own in agents:
        assert float(task.reward(goal, own, world)) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_last_samples_are_compared_among_puffs():
    rng = np.random.default_rng(0)
    task = PlumeTeamPuff(locations=4, window=5)
    goal, reported = begun(SampleSet.empty(4, 5)), rng.uniform(-1, 1, (10, 3, 4))
    for number, own in enumerate(reported):
        world, agents = scene(own, last=number == 9)
        goal = task.update_goal(goal, world, scenes.keys(1)[0])
    samples = (((reported[5:] + 1) / 2) ** 4).mean(axis=1).T
    wanted = -by_the_formula(np.tile(TRUE[:, None], (1, 5)), samples, 1e-4)
    assert float(task.reward(goal, agents[0], world)) == pytest.approx(wanted, abs=1e-9)


def test_actions_report_one_number_per_location():
    pelican = load_scenario("keep-spot").vehicles["pelican"]
    assert len(PlumePuff().action_mapping(pelican).reported) == 25
    assert PlumeGaussian(locations=3).action_mapping(pelican).names[3:] == tuple(
        f"concentration_{i}" for i in range(3)
    )


@pytest.mark.slow
def test_baseline_reports_its_measurements_and_flies_to_unvisited_locations():
    task = PlumeGaussian(locations=4)
    world, (own,) = scene([np.zeros(4)], last=False)
    goal = begun()
    goal = replace(goal, weights=jnp.asarray([2.0, 0.0, 0.0, 0.0]), sums=goal.sums.at[0].set(0.8))
    x, y, z, *reported = task.expert_action(goal, own, world).tolist()
    assert (x, y, z) == pytest.approx((0.6 * 5 / 3, 0.6 * 2 / 3, 0.0))
    np.testing.assert_allclose(reported, [2 * (0.8 / 2.05) ** 0.25 - 1, -1, -1, -1], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [[2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 0.0]])
def test_baseline_waits_in_the_middle_of_the_inner_locations(weights):
    task = PlumeGaussian(locations=4)
    world, (own,) = scene([np.zeros(4)], last=False)
    far = PLACES.copy()
    far[3] = [130.0, 0.0, 10.0]
    goal = replace(begun(), locations_world_m=jnp.asarray(far), weights=jnp.asarray(weights))
    x, y, z = task.expert_action(goal, own, world)[:3]
    way = [*far[:3, :2].mean(axis=0), -2.0]  # down to 8 m
    np.testing.assert_allclose([3 * x, 3 * y, 3 * z], 0.6 * np.array(way))


def test_baseline_returns_from_the_limits_at_low_height():
    task = PlumeGaussian(locations=4)
    world, (own,) = scene([np.zeros(4)], last=False)
    blown = scenes.agent((138.0, 0.0, 60.0), reported=np.zeros(4), measurements=own.measurements)
    world = replace(world, agents=jax.tree.map(lambda leaf: leaf[None], blown))
    x, _, z = task.expert_action(begun(), blown, world)[:3]
    assert x < 0
    assert z < 0


@pytest.fixture(scope="module")
def three():
    return scenes.Flights(make("plume-team", overrides={"task.locations": 10}))


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_starts_and_wind_directions_are_uniform(three):
    states = three.begun(64)
    places = np.asarray(jax.vmap(lambda s: scenes.positions(three.env.fleet, s))(states.fleet))
    np.testing.assert_allclose(places[..., 2], 10.0, atol=1e-4)
    level = places[..., :2].reshape(64, 6)
    # nine tenths of the area
    assert 118.0 < np.abs(level).max() <= 126.0
    assert np.abs(np.corrcoef(level.T) - np.eye(6)).max() < 0.5
    cloud = states.fleet.processes["plumes.smoke"].state
    np.testing.assert_allclose(np.hypot(cloud.downwind.east, cloud.downwind.north), 1.0, atol=1e-5)
    assert np.ptp(np.arctan2(cloud.downwind.north, cloud.downwind.east)) > np.pi
    there = (np.asarray(cloud.emissions_per_s) > 0).sum(axis=1)
    assert 1 <= there.min() < there.max() <= 5


@pytest.mark.usefixtures("single_precision")
def test_observation_holds_wind_and_offsets_to_the_locations(three):
    key = scenes.keys(1)[0]
    state, seen = three.reset(key)
    names = three.env.space.names
    own = np.asarray(seen)[: len(names)]
    ways = own[[name.startswith("ways_to_locations") for name in names]].reshape(10, 3)
    here = own[[name.startswith("position") for name in names]]
    np.testing.assert_allclose(ways + here, state.goal.locations_world_m, atol=1e-3)
    wind = own[[name.startswith("wind") for name in names]]
    assert np.linalg.norm(wind) == pytest.approx(3.0, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("window", [1, 11, 9])
def test_window_of_wrong_length_is_refused(window):
    with pytest.raises(ScenarioError, match=r"task: window: .* divisor of the 10 control steps"):
        make("plume-puff", overrides={"time.duration_s": 10, "task.window": window})
