import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.unit.tasks.episodes import flown
from tests.unit.tasks.given_scenes import agent_of, moving, ranges_of, scene_of, task_in

from kittiwake.core.keys import seed_key
from kittiwake.tasks.make import make

HILLS_X_M, HILLS_Z_M, RADIUS_M = np.array([2.0, 10.0, 18.0, 26.0]), -4.0, 6.0


@pytest.fixture(scope="module")
def setting():
    return task_in("follow-surface")


@pytest.fixture(scope="module")
def episodes():
    return flown(make("follow-surface"))


def over(x_m, z_m, vx_mps=1.0, ranges=(3.0,) * 7):
    return agent_of(
        moving([x_m, 0.0, z_m], [vx_mps, 0.0, 0.5]), measurements={"lidar": ranges_of(ranges)}
    )


def towards(angle_rad, z_m):
    """Return the range of a ray over level ground at z = 0."""
    return z_m / np.cos(angle_rad)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x_m", "z_m", "vx_mps"), [(2.0, 3.0, 1.0), (6.0, 2.0, 0.6), (12.5, 4.0, 1.4), (14.0, 1.7, 2.0)]
)
def test_reward_follows_distance_and_speed(setting, x_m, z_m, vx_mps):
    task, world, _ = setting
    agent = over(x_m, z_m, vx_mps)
    scene = scene_of(world, agent)
    goal = task.init_goal(scene, [], seed_key(3))
    away = np.hypot(x_m - HILLS_X_M, z_m - HILLS_Z_M).min() - RADIUS_M
    log = np.log(0.1)
    kept = np.exp(log * ((away - float(goal)) / 0.4) ** 2)
    expected = 0.1 * kept * np.exp(log * ((vx_mps - 1.0) / 0.6) ** 2)
    assert float(task.reward(goal, agent, scene)) == pytest.approx(expected, rel=0, abs=1e-9)


def test_desired_distance_is_drawn_in_its_range_and_observed(setting):
    task, world, _ = setting
    agent = over(2.0, 3.0)
    scene = scene_of(world, agent)
    drawn = [task.init_goal(scene, [], key) for key in jax.random.split(jax.random.key(1), 20)]
    assert 0.7 <= min(drawn) < 0.9
    assert 1.3 < max(drawn) <= 1.5
    assert task.observe(drawn[0], agent, scene).wanted_m == drawn[0]


def test_baseline_climbs_on_rising_ground_and_when_too_low(setting):
    task, world, _ = setting
    angles = np.linspace(-np.pi / 4, np.pi / 4, 7)

    def up(ranges):
        agent = over(2.0, 3.0, ranges=tuple(ranges))
        return float(task.expert_action(jnp.asarray(1.0), agent, scene_of(world, agent))[1])

    level = towards(angles, 1.0)
    assert up(level) == pytest.approx(0.0, abs=1e-9)
    assert up(towards(angles, 0.7)) > 0.2
    ahead_is_nearer = level.copy()
    ahead_is_nearer[-1] = level[-1] - 0.3
    assert up(ahead_is_nearer) > 0.05


@pytest.mark.slow
def test_the_baseline_keeps_the_distance_and_random_velocities_do_not(episodes):
    led, wild = episodes
    assert not led.terminated.any()
    assert led.returned.min() > 12.0
    assert led.returned.min() > wild.returned.max() + 10.0
