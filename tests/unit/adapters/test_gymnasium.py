"""What the environments say to those who use them in a wrong way."""

import gc
from functools import partial

import gymnasium
import numpy as np
import pytest

from kittiwake.adapters.gymnasium import Single, TaskEnv, TaskVectorEnv
from kittiwake.adapters.pettingzoo import TaskParallelEnv
from kittiwake.core.errors import ScenarioError

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def env():
    return TaskEnv("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.04})


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (np.zeros(3), r"shape \(3,\) is not allowed; it must have \(4,\)"),
        ([0, 0, np.nan, np.inf], r"the action: throttle is nan \(and 1 more like it\); must"),
        (np.full(4, 1j), "an action of complex128 is not allowed"),
        (np.array(list("abcd")), "an action of <U1 is not allowed"),
        (None, "an action of object is not allowed"),
    ],
)
def test_what_is_no_action_is_refused(env, action, said):
    env.reset(seed=0)
    with pytest.raises(ValueError, match=said):
        env.step(action)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (TaskEnv, r"^the action: pelican-02\.roll_rad is nan; must be a finite number"),
        (
            partial(TaskVectorEnv, num_envs=2),
            r"^the action of world 1: pelican-02\.roll_rad is nan;",
        ),
        (TaskParallelEnv, r"^the action: pelican-02\.roll_rad is nan; must be a finite number"),
    ],
)
def test_a_number_that_is_not_finite_is_told_with_its_world_agent_and_component(kind, said):
    worlds = kind("keep-spot-10", conditions="noiseless")
    actions = np.zeros((10, 4))
    actions[1, 1] = np.nan
    if kind is TaskParallelEnv:
        worlds._seen, worlds.agents = {}, list(worlds.possible_agents)
        actions = dict(zip(worlds.agents, actions, strict=True))
    elif kind is TaskEnv:
        worlds._ended, actions = False, actions.ravel()
    else:
        worlds._state, actions = object(), np.stack([np.zeros(40), actions.ravel()])
    with pytest.raises(ValueError, match=said):
        worlds.step(actions)


def test_who_goes_on_after_the_end_is_told(env):
    env.reset(seed=0)
    assert env.step(np.zeros(4))[3] is False
    assert env.step(np.zeros(4))[3] is True
    with pytest.warns(UserWarning, match="call reset"):
        env.step(np.zeros(4))


@pytest.mark.parametrize(
    "action", [[0, 0, 0, 0], np.ones(4, bool), np.ones(4, np.uint8), np.full(4, 1e300)]
)
def test_numbers_of_all_kinds_are_actions_and_nothing_is_compiled_for_them(env, action):
    env.reset(seed=0)
    env.step(np.zeros(4, np.float32))
    compiled = env._single.step._cache_size()
    env.reset(seed=0)
    assert np.isfinite(env.step(action)[1])
    assert env._single.step._cache_size() == compiled


@pytest.mark.parametrize("kind", [TaskEnv, TaskVectorEnv, TaskParallelEnv])
def test_an_episode_has_to_begin_first(kind):
    fresh = kind("keep-spot", conditions="noiseless")
    action = {"pelican": np.zeros(4)} if kind is TaskParallelEnv else np.zeros(4)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        fresh.step(action)


def test_there_is_no_picture_before_the_first_episode():
    fresh = TaskEnv("keep-spot", conditions="noiseless", render_mode="rgb_array")
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        fresh.render()


def test_conditions_are_a_name_that_the_task_knows():
    with pytest.raises(
        ScenarioError, match="KeepSpot has no conditions 'calm'. Allowed: gusty, noise"
    ):
        TaskEnv("keep-spot", conditions="calm")


def test_actions_are_those_of_the_agents():
    many = TaskParallelEnv("keep-spot", conditions="noiseless")
    many.reset(seed=0)
    with pytest.raises(ValueError, match="not those of the agents"):
        many.step({"pelikan": np.zeros(4)})


def test_what_cannot_be_made_is_refused(env):
    for difficulty in (2.0, None, "1", True, np.nan):
        with pytest.raises(ValueError, match="a difficulty of .* is not allowed"):
            env.reset(options={"difficulty": difficulty})
    with pytest.raises(ValueError, match="no option 'difficulties'.*Did you mean 'difficulty'"):
        env.reset(options={"difficulties": 0.5})
    with pytest.raises(ValueError, match="allowed: None, rgb_array"):
        TaskEnv("keep-spot", render_mode="human")
    for count in (0, True):
        with pytest.raises(ValueError, match="must be a whole number, 1 or more"):
            TaskVectorEnv("keep-spot", num_envs=count)


def test_pictures_come_as_often_as_control_steps(env):
    assert env.metadata["render_fps"] == 50
    assert TaskEnv("hover").metadata["render_fps"] == 100
    assert TaskParallelEnv("hover").metadata["render_fps"] == 100


@pytest.fixture(scope="module")
def three():
    """Of two agents each."""
    overrides = {"time.duration_s": 0.1, "vehicles.pelican.count": 2}
    return TaskVectorEnv("keep-spot-10", 3, overrides=overrides)


@pytest.mark.slow
def test_some_worlds_begin_anew_and_the_others_stay(three):
    first, _ = three.reset(seed=1)
    seen, *_ = three.step(np.ones((3, 8)))
    with_seed, _ = three.reset(seed=2, options={"reset_mask": np.array([True, False, False])})
    np.testing.assert_array_equal(with_seed[1:], seen[1:])
    without, _ = three.reset(options={"reset_mask": np.array([False, False, True])})
    np.testing.assert_array_equal(without[:2], with_seed[:2])
    assert not np.array_equal(without[2], first[2])
    whole, _ = three.reset(seed=2)
    # the place is that of another clock, and what does not depend on that the same
    np.testing.assert_allclose(with_seed[0], whole[0], atol=0.2)
    again, _ = three.reset(seed=1)
    np.testing.assert_array_equal(again, first)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        (np.zeros(3, bool), "names no world"),
        (np.ones(2, bool), "NumPy array of 3 truth values"),
        (np.ones(3), "NumPy array of 3 truth values"),
        ([True, True, True], "NumPy array of 3 truth values"),
    ],
)
def test_a_mask_says_which_worlds(three, mask, said):
    three.reset(seed=0)
    with pytest.raises(ValueError, match=said):
        three.reset(options={"reset_mask": mask})


@pytest.mark.slow
def test_what_each_agent_got_is_told_also_of_episodes_that_ended(three):
    three.reset(seed=0)
    for number in range(5):
        _, reward, terminated, truncated, info = three.step(np.full((3, 8), 0.01))
        np.testing.assert_allclose(info["rewards"].sum(axis=1), reward, rtol=1e-5)
        assert info["_rewards"].all()
        assert ("final_info" in info) == (number == 4)
    assert truncated.all()
    assert not terminated.any()
    assert info["_final_info"].all()
    np.testing.assert_array_equal(info["final_info"]["rewards"], info["rewards"])
    assert info["final_info"]["_rewards"].all()


@pytest.fixture
def pair():
    """Two agents for two steps."""
    overrides = {"time.duration_s": 0.04, "vehicles.pelican.count": 2}
    many = TaskParallelEnv("keep-spot-10", conditions="noiseless", overrides=overrides)
    many.reset(seed=0)
    return many


def test_each_action_has_its_own_numbers(pair):
    with pytest.raises(ValueError, match=r"shape \(3,\) is not allowed; it must have \(4,\)"):
        pair.step({"pelican-1": np.zeros(3), "pelican-2": np.zeros(5)})


def test_after_the_end_nothing_is_stepped_and_nothing_told(pair):
    actions = {name: np.full(4, 0.1) for name in pair.agents}
    pair.step(actions)
    assert set(pair.step(actions)[3].values()) == {True}
    last = pair.state()
    assert pair.step({}) == pair.step(actions) == ({}, {}, {}, {}, {})
    np.testing.assert_array_equal(pair.state(), last)


def test_what_is_seen_may_be_written_over(pair):
    seen, _ = pair.reset(seed=0)
    before = pair.state()
    seen["pelican-1"][:] = 99.0
    pair.state()[:] = 99.0
    np.testing.assert_array_equal(pair.state(), before)


def living():
    gc.collect()
    return sum(isinstance(one, Single) for one in gc.get_objects())


@pytest.mark.slow
def test_what_closed_environments_had_compiled_is_released(env):
    before = living()
    for gravity_mps2 in (9.7, 9.75, 9.8, 9.85):
        changes = {"world.gravity_mps2": gravity_mps2, "time.duration_s": 0.04}
        TaskEnv("keep-spot", conditions="noiseless", overrides=changes)
        # that of the last one is kept for the next
        assert living() <= before + 1


def test_environments_of_one_task_share_what_is_compiled(env):
    same = TaskEnv("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.04})
    TaskEnv("keep-spot", conditions="noiseless")
    again = TaskEnv("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.04})
    assert again._single is same._single is env._single
