import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks.episodes import flown
from tests.unit.tasks.given_scenes import agent_of, moving, scene_of, task_in

from kittiwake.core.keys import seed_key
from kittiwake.tasks.library.survey_coverage import Coverage, SurveyCoverage
from kittiwake.tasks.make import make

MIDDLES_M = -7.0 + 2.0 * np.arange(8)
PER_STEP = -0.01 / 4.0


@pytest.fixture(scope="module")
def setting():
    return task_in("survey-coverage")


@pytest.fixture(scope="module")
def episodes():
    return flown(make("survey-coverage", overrides={"time.duration_s": 60}))


def vessels(*positions_m, yaw_rad=0.0):
    return [
        agent_of(moving([x, y, 0.0], yaw_rad=yaw_rad), number)
        for number, (x, y) in enumerate(positions_m)
    ]


def sailed(setting, *moments):
    """Return the rewards of all vessels over several moments, the final goal, and the end."""
    task, world, _ = setting
    scenes = [scene_of(world, *agents) for agents in moments]
    goal = task.init_goal(scenes[0], [], seed_key(0))
    rewards = []
    for agents, scene in zip(moments[1:], scenes[1:], strict=True):
        goal = task.update_goal(goal, scene, seed_key(0))
        rewards.append([float(task.reward(goal, agent, scene)) for agent in agents])
    return rewards, goal, bool(task.ended(goal, scenes[-1]))


def near(x_m, y_m):
    """Return the cells within the swath of a position."""
    return np.hypot(MIDDLES_M[:, None] - x_m, MIDDLES_M[None] - y_m) <= 1.5


@pytest.mark.slow
def test_cells_count_once(setting):
    here, there = (0.3, 0.4), (2.1, 0.9)
    rewards, goal, ended = sailed(setting, *[vessels(place) for place in (here, there, here)])
    fresh = near(*there) & ~near(*here)
    assert fresh.sum() > 0
    worth = 10.0 * fresh.sum() / 64 + PER_STEP
    np.testing.assert_allclose(rewards, [[worth], [PER_STEP]], rtol=0, atol=1e-9)
    assert (np.asarray(goal.covered) == (near(*here) | near(*there))).all()
    assert not ended


def test_cell_covered_by_two_vessels_counts_for_the_first(setting):
    far = vessels((-7.0, -7.0), (-7.0, -7.0))
    rewards, _, _ = sailed(setting, far, vessels((3.0, 3.0), (3.0, 4.2)))
    first = near(3.0, 3.0)
    second = near(3.0, 4.2) & ~first
    expected = [10.0 * first.sum() / 64 + PER_STEP, 10.0 * second.sum() / 64 + PER_STEP]
    np.testing.assert_allclose(rewards, [expected], rtol=0, atol=1e-9)


def test_episode_ends_when_all_cells_are_covered(setting):
    task, world, _ = setting
    scene = scene_of(world, *vessels((7.0, 7.0)))
    covered = jnp.ones((8, 8), bool).at[7, 7].set(False)
    goal = Coverage(covered, jnp.zeros(1, jnp.int32))
    assert not bool(task.ended(goal, scene))
    assert bool(task.ended(task.update_goal(goal, scene, seed_key(0)), scene))


@pytest.mark.slow
def test_observation_holds_local_and_global_coverage(setting):
    task, world, _ = setting
    covered = np.zeros((8, 8), bool)
    covered[5, 3] = covered[0, 7] = True
    goal = Coverage(jnp.asarray(covered), jnp.zeros(1, jnp.int32))
    # in cell (3, 3), heading along x: cell (5, 3) is two cells ahead
    (agent,) = vessels((-1.0, -1.0))
    seen = task.observe(goal, agent, scene_of(world, agent))
    looks = np.asarray(seen.near).reshape(5, 5)
    assert looks[3, 2] == 1.0
    assert looks.sum() == 1.0
    blocks = np.asarray(seen.blocks).reshape(4, 4)
    assert blocks[2, 1] == blocks[0, 3] == 0.25
    assert blocks.sum() == 0.5
    np.testing.assert_allclose(seen.offset_world_m.array, [1.0, 1.0, 0.0], atol=1e-12)
    # heading along y it is two cells to the right
    (turned,) = vessels((-1.0, -1.0), yaw_rad=np.pi / 2)
    looks = np.asarray(task.observe(goal, turned, scene_of(world, turned)).near).reshape(5, 5)
    assert looks[1, 0] == 1.0
    assert looks.sum() == 1.0


def test_places_outside_count_as_covered(setting):
    task, world, _ = setting
    (agent,) = vessels((7.0, 0.0))
    goal = Coverage(jnp.zeros((8, 8), bool), jnp.zeros(1, jnp.int32))
    looks = np.asarray(task.observe(goal, agent, scene_of(world, agent)).near).reshape(5, 5)
    assert (looks[:2] == 0.0).all()
    assert (looks[2:] == 1.0).all()


def test_cells_that_make_no_whole_blocks_are_refused():
    with pytest.raises(ValueError, match="multiples of 4"):
        SurveyCoverage(cells=(6, 8))


@pytest.mark.slow
def test_baseline_covers_most_in_half_the_time_and_random_rudders_do_not(episodes):
    led, wild = episodes
    assert led.returned.min() > 4.0
    assert led.returned.min() > wild.returned.max() + 3.0
