import numpy as np
import pytest
from tests.unit.tasks.episodes import flown
from tests.unit.tasks.given_scenes import agent_of, around, moving, ranges_of, scene_of, task_in

from kittiwake.core.keys import seed_key
from kittiwake.tasks.make import make


@pytest.fixture(scope="module")
def setting():
    return task_in("hallway")


@pytest.fixture(scope="module")
def episodes():
    return flown(make("hallway"))


def at(x_m, free_m, ranges=None):
    return agent_of(
        moving([x_m, 0.0, 1.5], [1.0, 0.2, 0.0]),
        surroundings=around(1.5, nearest_obstacle_m=free_m),
        measurements={"lidar": ranges_of(ranges or [5.0] * 13)},
    )


def stepped(setting, before, after):
    task, world, _ = setting
    first, second = scene_of(world, before), scene_of(world, after)
    goal = task.update_goal(task.init_goal(first, [], seed_key(0)), second, seed_key(0))
    return float(task.reward(goal, after, second)), bool(task.ended(goal, second))


@pytest.mark.slow
@pytest.mark.parametrize(("x_m", "free_m"), [(3.1, 1.0), (2.9, 0.3), (3.2, 0.0)])
def test_reward_is_progress_minus_nearness(setting, x_m, free_m):
    reward, ended = stepped(setting, at(3.0, 1.0), at(x_m, free_m))
    near = max(0.0, 1.0 - free_m / 0.4) ** 2
    assert reward == pytest.approx(x_m - 3.0 - 2.0 * near / 10.0, rel=0, abs=1e-9)
    assert not ended


@pytest.mark.slow
def test_arrival_gives_ten_and_ends_the_episode(setting):
    reward, ended = stepped(setting, at(23.9, 1.0), at(24.05, 1.0))
    assert reward == pytest.approx(10.15, rel=0, abs=1e-9)
    assert ended


def test_observation_holds_the_measured_ranges(setting):
    task, world, _ = setting
    ranges = list(np.linspace(0.5, 4.5, 13))
    agent = at(3.0, 1.0, ranges)
    scene = scene_of(world, agent)
    seen = task.observe(task.init_goal(scene, [], seed_key(0)), agent, scene)
    np.testing.assert_allclose(seen.ranges_m, ranges)
    np.testing.assert_allclose(seen.velocity_world_mps.array, [1.0, 0.2, 0.0])


@pytest.mark.parametrize(("blocked", "aside"), [(slice(0, 8), 1.0), (slice(5, 13), -1.0)])
def test_baseline_turns_to_the_free_side(setting, blocked, aside):
    task, world, _ = setting
    ranges = np.full(13, 5.0)
    ranges[blocked] = 1.0
    agent = at(3.0, 1.0, list(ranges))
    scene = scene_of(world, agent)
    action = task.expert_action(task.init_goal(scene, [], seed_key(0)), agent, scene)
    assert np.sign(action[1]) == aside


@pytest.mark.slow
def test_the_baseline_reaches_the_end_and_random_velocities_do_not(episodes):
    led, wild = episodes
    assert led.terminated.all()
    assert (led.last >= 10.0).all()
    assert (wild.last < 0.0).all()
    assert led.returned.min() > wild.returned.max() + 30.0
