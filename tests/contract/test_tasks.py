"""Contracts of all registered tasks, with the checkers of reinforcement learning libraries."""

import warnings

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import kittiwake as kw
from kittiwake.adapters.pettingzoo import TaskParallelEnv, TaskParallelVectorEnv
from kittiwake.adapters.registration import environment_id
from kittiwake.scenario import library
from kittiwake.tasks import TASKS

pytestmark = pytest.mark.usefixtures("single_precision")
ENVIRONMENTS, STEPS = 64, 40
# 100,000 steps of all environments together
MANY_STEPS = 1563


# half a minute each, mostly compilation
QUICK = {"keep-spot"}
NAMES = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in TASKS.names()
]


@pytest.fixture(scope="module", params=NAMES)
def task(request):
    kw.register_envs()
    return request.param


@pytest.fixture(scope="module")
def single(task):
    """Return one world, as made by Gymnasium."""
    with gymnasium.make(environment_id(task), disable_env_checker=True) as env:
        yield env


@pytest.fixture(scope="module")
def vector(task):
    env = gymnasium.make_vec(environment_id(task), num_envs=ENVIRONMENTS)
    yield env
    env.close()


def test_scenario_is_in_the_library_and_leads_to_the_task(task):
    kind = TASKS.find(task)
    assert kind.scenario in library.names()
    assert type(kw.make(task).task) is kind
    if task in library.names():
        assert kw.make(kind.scenario).task == kw.make(task).task


def test_passes_gymnasium_env_checker(single):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(single.unwrapped, skip_render_check=True)


def test_passes_stable_baselines_env_checker(single):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(single.unwrapped, skip_render_check=True)


def test_passes_torchrl_env_checker(single):
    pytest.importorskip("torchrl")
    from torchrl.envs import GymWrapper
    from torchrl.envs.utils import check_env_specs

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env_specs(GymWrapper(single))


def test_passes_pettingzoo_api_and_seed_tests(task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about environments of its own
        from pettingzoo.test import parallel_api_test, parallel_seed_test

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(TaskParallelEnv(task), num_cycles=STEPS)
        parallel_seed_test(lambda: TaskParallelEnv(task), num_cycles=STEPS)


def test_equal_seeds_give_equal_bits_and_different_seeds_do_not(single):
    actions = np.random.default_rng(0).uniform(-1, 1, (STEPS, *single.action_space.shape))

    def flown(seed):
        observation, _ = single.reset(seed=seed)
        observations, ends = [observation], []
        for action in actions:
            observation, *end, _ = single.step(action.astype(np.float32))
            if any(end[1:]):
                observation, _ = single.reset()
            observations.append(observation)
            ends.append(end)
        return observations, ends

    first, again = flown(3), flown(3)
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1] == again[1]
    assert not np.array_equal(first[0], flown(4)[0])


@pytest.mark.parametrize("steps", [STEPS, pytest.param(MANY_STEPS, marks=pytest.mark.slow)])
def test_observations_lie_in_the_observation_space(vector, steps):
    rng = np.random.default_rng(0)
    vector.reset(seed=0)
    space = vector.single_observation_space
    for _ in range(steps):
        actions = rng.uniform(-1, 1, vector.action_space.shape).astype(np.float32)
        seen, reward, _, _, info = vector.step(actions)
        assert seen.dtype == np.float32
        assert np.isfinite(reward).all()
        assert ((seen >= space.low) & (seen <= space.high)).all()
        for world in np.flatnonzero(info.get("_final_obs", [])):
            assert space.contains(info["final_obs"][world])


def test_first_world_of_a_vector_equals_the_single_environment(single, vector):
    single_seen, _ = single.reset(seed=7)
    seen, _ = vector.reset(seed=7)
    np.testing.assert_allclose(seen[0], single_seen, rtol=1e-5, atol=1e-4)


def test_agents_of_a_vector_have_the_numbers_of_the_vector(task, vector):
    worlds = TaskParallelVectorEnv(task, ENVIRONMENTS)
    agents = worlds.agents
    seen, _ = vector.reset(seed=7)
    observations, _ = worlds.reset(seed=7)
    rng = np.random.default_rng(0)
    for _ in range(3):
        np.testing.assert_array_equal(np.hstack([observations[agent] for agent in agents]), seen)
        actions = rng.uniform(-1, 1, vector.action_space.shape).astype(np.float32)
        seen, reward, _, _, info = vector.step(actions)
        parts = np.split(actions, len(agents), axis=1)
        observations, rewards, *_ = worlds.step(dict(zip(agents, parts, strict=True)))
        own = np.stack([rewards[agent] for agent in agents], axis=1)
        np.testing.assert_array_equal(own, info.get("rewards", reward[:, None]))


@pytest.mark.slow
def test_gradient_of_the_reward_is_finite(task):
    env = kw.make(task)

    def reward(action, state):
        return env.step(kw.seed_key(1), state, action).reward

    state, _ = jax.jit(env.reset)(kw.seed_key(0))
    action = np.zeros(env.action_size, np.float32)
    slope = jax.jit(jax.grad(reward))(action, state)
    assert np.isfinite(np.asarray(slope)).all()
