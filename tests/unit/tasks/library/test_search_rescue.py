"""SearchRescue: persons found, and rewards."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks import scenes

from kittiwake.sensors.person_camera import PersonCamera, PersonsMeasurement
from kittiwake.tasks.library.person_search import SearchBeliefs
from kittiwake.tasks.library.search_rescue import SearchProgress, SearchRescue, SearchRescue3
from kittiwake.tasks.make import make
from kittiwake.world.terrain import Terrain
from kittiwake.world.world import FlightArea

PERSONS = [(0.0, 0.0), (6.0, 0.0), (40.0, 0.0)]


def found(agents, before=(False, False, False), there=(True, True, True)):
    """Return persons found, new ones, and the reward after a step of agents near three persons."""
    ground = Terrain(
        classes=jnp.zeros((4, 4), jnp.int8),
        area=FlightArea(),
        persons_world_m=jnp.asarray(PERSONS),
        person_exists=jnp.asarray(there),
        person_size_m=0.5,
    )
    blind = PersonsMeasurement(
        jnp.zeros((2, 2)), jnp.zeros((2, 2)), jnp.zeros((2, 2)), jnp.zeros((2, 2), bool)
    )
    seekers = [scenes.agent(*own, measurements={"camera": blind}) for own in agents]
    world = scenes.scene(seekers, processes={"terrain": ground})
    task = SearchRescue3()
    beliefs = SearchBeliefs.initial(
        PersonCamera(columns=2, rows=2), world.agents.estimate, FlightArea()
    )
    goal = SearchProgress(jnp.asarray(before), jnp.zeros((), jnp.int32), beliefs)
    goal = task.update_goal(goal, world, scenes.keys(1)[0])
    metrics = task.metrics(goal, world)
    assert metrics == {"persons_found": sum(goal.found.tolist()), "persons": sum(there)}
    return goal.found.tolist(), int(goal.new), float(task.reward(goal, seekers[0], world))


STILL = (0.0, 0.0, 0.0)


@pytest.mark.slow
def test_stop_finds_all_persons_within_five_meters():
    assert found([((3.0, 0.0, 3.9), STILL)]) == ([True, True, False], 2, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "velocity", "finds"),
    [
        ((0.0, 0.0, 4.99), STILL, True),
        ((0.0, 0.0, 5.01), STILL, False),
        ((0.0, 0.0, 4.0), (0.05, 0.05, 0.05), True),
        ((0.0, 0.0, 4.0), (0.06, 0.06, 0.06), False),
    ],
)
def test_finding_requires_low_distance_and_low_speed(place, velocity, finds):
    wanted = ([True, False, False], 1, 1.0) if finds else ([False] * 3, 0, -1 / 200)
    assert found([(place, velocity)]) == wanted


@pytest.mark.slow
def test_persons_are_found_once_by_any_of_several_searchers():
    both = [((0.0, 0.0, 3.0), STILL), ((0.5, 0.0, 3.0), STILL), ((39.0, 0.0, 2.0), STILL)]
    assert found(both) == ([True, False, True], 2, 2.0)
    assert found(both, before=(True, False, True)) == ([True, False, True], 0, -1 / 200)


def test_absent_persons_are_not_found():
    assert found([((0.0, 0.0, 3.0), STILL)], there=(False, True, True))[1] == 0


@pytest.fixture(scope="module")
def three():
    return scenes.Flights(make("search-rescue-3", conditions="windy"))


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_searchers_begin_anywhere_in_the_area_facing_north(three):
    states = three.begun(64)
    places = np.asarray(jax.vmap(lambda s: scenes.positions(three.env.fleet, s))(states.fleet))
    np.testing.assert_allclose(places[..., 2], 25.0, atol=1e-4)
    level = places[..., :2].reshape(64, 6)
    # nine tenths of the area
    assert 180.0 < np.abs(level).max() < 190.92
    assert np.abs(np.corrcoef(level.T) - np.eye(6)).max() < 0.5
    euler = jax.vmap(lambda s: three.env.fleet.truths(s)[0].euler_world_from_body)(states.fleet)
    np.testing.assert_allclose(euler.yaw_rad, np.pi / 2, atol=1e-5)
    there = np.asarray(states.fleet.processes["terrain"].state.person_exists).sum(axis=1)
    assert 5 <= there.min() < there.max() <= 10


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_noiseless_episode_begins_higher_and_observes_the_evidence():
    env = make("search-rescue", conditions="noiseless")
    assert [name for name in env.space.names if name.startswith("evidence")][-1] == "evidence_11_15"
    state, seen = jax.jit(env.reset)(scenes.keys(1)[0])
    assert float(scenes.positions(env.fleet, state.fleet)[0, 2]) == pytest.approx(45.0)
    evidence = np.asarray(seen)[[n.startswith("evidence") for n in env.space.names]]
    # beyond the area the camera says nothing
    assert (evidence != 0.0).mean() > 0.2
    side = env.scenario.world.area.x_m[1]
    assert side == pytest.approx(np.sqrt(200 * 25 * 3), abs=1e-3)
    assert SearchRescue.scenario == "search-rescue"
