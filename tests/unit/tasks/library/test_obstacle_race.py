import numpy as np
import pytest
from tests.unit.tasks.episodes import flown
from tests.unit.tasks.given_scenes import agent_of, moving, ranges_of, scene_of, task_in

from kittiwake.core.keys import seed_key
from kittiwake.tasks.make import make


@pytest.fixture(scope="module")
def setting():
    return task_in("obstacle-race", "task.spread_m=[0, 0, 0]")


@pytest.fixture(scope="module")
def episodes():
    return flown(make("obstacle-race"))


def at(position_m, ranges=(5.0,) * 20):
    return agent_of(moving(position_m, [1.0, 0.0, 0.0]), measurements={"lidar": ranges_of(ranges)})


def raced(setting, *positions_m):
    """Return the rewards along positions, the final goal, and True at the end of the episode."""
    task, world, vehicles = setting
    agents = [at(place) for place in positions_m]
    scenes = [scene_of(world, agent) for agent in agents]
    goal = task.init_goal(scenes[0], [vehicles["drone"]], seed_key(0))
    rewards = []
    for agent, scene in zip(agents[1:], scenes[1:], strict=True):
        goal = task.update_goal(goal, scene, seed_key(0))
        rewards.append(float(task.reward(goal, agent, scene)))
    return rewards, goal, bool(task.ended(goal, scenes[-1]))


def gates_and_fronts(setting):
    gates = np.array([gate.array for gate in setting[0].gates_world_m])
    legs = np.diff(np.vstack([[0.0, 0.0, 1.5], gates]), axis=0)
    return gates, legs / np.linalg.norm(legs, axis=1, keepdims=True)


@pytest.mark.slow
def test_reward_is_approach_minus_time(setting):
    gates, _ = gates_and_fronts(setting)
    before, after = np.array([1.0, 0.3, 1.6]), np.array([1.4, -0.1, 1.5])
    rewards, goal, ended = raced(setting, before, after)
    nearer = np.linalg.norm(before - gates[0]) - np.linalg.norm(after - gates[0])
    assert rewards[0] == pytest.approx(nearer / 2.0 - 0.05, rel=0, abs=1e-9)
    assert int(goal.passed[0]) == 0
    assert not ended


@pytest.mark.slow
@pytest.mark.parametrize(
    ("aside_m", "way_m", "passes"),
    [
        (0.0, 0.4, True),
        (0.65, 0.4, True),
        (0.75, 0.4, False),
        (0.0, -0.4, False),
        (0.0, 0.1, False),
    ],
)
def test_gate_is_passed_through_its_ring_from_behind(setting, aside_m, way_m, passes):
    gates, fronts = gates_and_fronts(setting)
    side = np.cross([0.0, 0.0, 1.0], fronts[0])
    before = gates[0] + aside_m * side - 0.5 * way_m * fronts[0]
    if way_m == 0.1:
        before = before - 0.2 * fronts[0]  # not yet there
    rewards, goal, _ = raced(setting, before, before + way_m * fronts[0])
    assert bool(goal.passes[0]) == passes
    assert int(goal.passed[0]) == int(passes)
    assert (rewards[0] > 4.0) == passes


def test_gate_counts_once_and_the_last_one_ends_the_episode(setting):
    gates, fronts = gates_and_fronts(setting)
    way = []
    for gate, front in zip(gates, fronts, strict=True):
        way += [gate - 0.2 * front, gate + 0.2 * front]
    again = [way[1], way[0], way[1], *way[2:]]
    rewards, goal, ended = raced(setting, way[0], *again)
    assert ended
    assert int(goal.passed[0]) == len(gates)
    assert sum(reward > 4.0 for reward in rewards) == len(gates)
    # the second pass of the first gate counts as approach to the second one
    assert abs(rewards[1]) < 1.0
    assert rewards[-1] == pytest.approx(4.95, rel=0, abs=1e-9)


def test_observation_holds_the_next_two_gates(setting):
    task, world, vehicles = setting
    gates, fronts = gates_and_fronts(setting)
    agent = at([1.0, 0.0, 1.5])
    scene = scene_of(world, agent)
    goal = task.init_goal(scene, [vehicles["drone"]], seed_key(0))
    for passed, then in ((0, gates[1] - gates[0]), (5, np.zeros(3)), (6, np.zeros(3))):
        seen = task.observe(goal._replace(passed=goal.passed + passed), agent, scene)
        at_gate = min(passed, 5)
        np.testing.assert_allclose(seen.next_world_m.array, gates[at_gate] - [1.0, 0.0, 1.5])
        np.testing.assert_allclose(seen.then_world_m.array, then)
        np.testing.assert_allclose(seen.front_world.array, fronts[at_gate], atol=1e-12)


@pytest.mark.slow
def test_gates_are_drawn_around_their_places():
    task, world, vehicles = task_in("obstacle-race")
    scene = scene_of(world, at([0.0, 0.0, 1.5]))
    nominal = np.array([gate.array for gate in task.gates_world_m])
    drawn = [
        np.asarray(task.init_goal(scene, [vehicles["drone"]], seed_key(seed)).gates_world_m)
        for seed in range(10)
    ]
    off = np.abs(np.array(drawn) - nominal)
    assert (off <= [0.5, 0.5, 0.3]).all()
    assert (off.max(axis=(0, 1)) > [0.4, 0.4, 0.2]).all()


@pytest.mark.slow
def test_the_baseline_passes_the_gates_and_random_accelerations_do_not(episodes):
    led, wild = episodes
    assert led.terminated.all()
    assert (led.last > 4.0).all()
    assert led.returned.min() > 25.0
    assert led.returned.min() > wild.returned.max() + 20.0
