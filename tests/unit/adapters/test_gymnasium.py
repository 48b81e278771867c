"""What the environments say to those who use them in a wrong way."""

import gymnasium
import numpy as np
import pytest

from kittiwake.adapters.gymnasium import TaskEnv, TaskVectorEnv
from kittiwake.adapters.pettingzoo import TaskParallelEnv

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def env():
    return TaskEnv("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.04})


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (np.zeros(3), r"shape \(3,\) is not allowed; it must have \(4,\)"),
        (np.full(4, np.nan), "numbers that are not finite"),
    ],
)
def test_what_is_no_action_is_refused(env, action, said):
    env.reset(seed=0)
    with pytest.raises(ValueError, match=said):
        env.step(action)


def test_who_goes_on_after_the_end_is_told(env):
    env.reset(seed=0)
    assert env.step(np.zeros(4))[3] is False
    assert env.step(np.zeros(4))[3] is True
    with pytest.warns(UserWarning, match="call reset"):
        env.step(np.zeros(4))


@pytest.mark.parametrize("kind", [TaskEnv, TaskVectorEnv, TaskParallelEnv])
def test_an_episode_has_to_begin_first(kind):
    fresh = kind("keep-spot", conditions="noiseless")
    action = {"pelican": np.zeros(4)} if kind is TaskParallelEnv else np.zeros(4)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        fresh.step(action)


def test_actions_are_those_of_the_agents():
    many = TaskParallelEnv("keep-spot", conditions="noiseless")
    many.reset(seed=0)
    with pytest.raises(ValueError, match="not those of the agents"):
        many.step({"pelikan": np.zeros(4)})


def test_what_cannot_be_made_is_refused(env):
    with pytest.raises(ValueError, match="a difficulty of 2.0 is not allowed"):
        env.reset(options={"difficulty": 2.0})
    with pytest.raises(ValueError, match="allowed: None, rgb_array"):
        TaskEnv("keep-spot", render_mode="human")
    with pytest.raises(ValueError, match="must be 1 or more"):
        TaskVectorEnv("keep-spot", num_envs=0)
