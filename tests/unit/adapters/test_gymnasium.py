"""Checks of arguments, resets and sharing of the Gymnasium and PettingZoo environments."""

import gc
from functools import partial

import gymnasium
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.adapters.compiled_env import CompiledEnv
from kittiwake.adapters.gymnasium import TaskEnv, TaskVectorEnv
from kittiwake.adapters.pettingzoo import TaskParallelEnv
from kittiwake.core.errors import KittiwakeError, ScenarioError

pytestmark = pytest.mark.usefixtures("single_precision")

# two steps of the same task, which all environments of this module share as far as they can
SHORT = {"conditions": "noiseless", "overrides": {"time.duration_s": 0.04}}


@pytest.fixture(scope="module")
def env():
    return TaskEnv("keep-spot", **SHORT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (np.zeros(3), r"`action`: got shape \(3,\); must be \(4,\)"),
        ([0, 0, np.nan, np.inf], r"the action: throttle is nan \(and 1 more like it\); must"),
        (np.full(4, 1j), "`action`: got values of complex128"),
        (np.array(list("abcd")), "`action`: got values of <U1"),
        (None, "`action`: got values of object"),
    ],
)
def test_invalid_action_is_refused(env, action, expected):
    env.reset(seed=0)
    with pytest.raises(ValueError, match=expected):
        env.step(action)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (TaskEnv, r"^the action: pelican-02\.roll_rad is nan; must be a finite number"),
        (
            partial(TaskVectorEnv, num_envs=2),
            r"^the action of environment 1: pelican-02\.roll_rad is nan;",
        ),
        (TaskParallelEnv, r"^the action: pelican-02\.roll_rad is nan; must be a finite number"),
    ],
)
def test_non_finite_action_is_reported_with_world_agent_and_component(kind, expected):
    env = kind("keep-spot-10", conditions="noiseless")
    actions = np.zeros((10, 4))
    actions[1, 1] = np.nan
    if kind is TaskParallelEnv:
        env._observation, env.agents = {}, list(env.possible_agents)
        actions = dict(zip(env.agents, actions, strict=True))
    elif kind is TaskEnv:
        env._episode_ended, actions = False, actions.ravel()
    else:
        env._has_begun, actions = True, np.stack([np.zeros(40), actions.ravel()])
    with pytest.raises(ValueError, match=expected):
        env.step(actions)


@pytest.mark.slow
def test_step_after_the_end_warns(env):
    env.reset(seed=0)
    assert env.step(np.zeros(4))[3] is False
    assert env.step(np.zeros(4))[3] is True
    with pytest.warns(UserWarning, match="call reset"):
        env.step(np.zeros(4))


@pytest.mark.slow
@pytest.mark.parametrize(
    "action", [[0, 0, 0, 0], np.ones(4, bool), np.ones(4, np.uint8), np.full(4, 1e300)]
)
def test_actions_of_all_number_types_act_alike(env, action):
    found = []
    for given in (action, np.clip(np.asarray(action, float), -1, 1).astype(np.float32)):
        env.reset(seed=0)
        found.append(env.step(given)[0])
    np.testing.assert_array_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [TaskEnv, TaskVectorEnv, TaskParallelEnv])
@pytest.mark.usefixtures("env")
def test_step_requires_reset(kind):
    fresh = kind("keep-spot", **SHORT)
    action = {"pelican": np.zeros(4)} if kind is TaskParallelEnv else np.zeros(4)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        fresh.step(action)


@pytest.mark.usefixtures("env")
def test_render_requires_reset():
    fresh = TaskEnv("keep-spot", render_mode="rgb_array", **SHORT)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        fresh.render()


def test_unknown_conditions_are_refused():
    with pytest.raises(
        ScenarioError, match="keep-spot has no conditions 'calm'. Allowed: gusty, noise"
    ):
        TaskEnv("keep-spot", conditions="calm")


@pytest.mark.usefixtures("env")
def test_actions_of_unknown_agents_are_refused():
    many = TaskParallelEnv("keep-spot", **SHORT)
    many.reset(seed=0)
    with pytest.raises(ValueError, match="no agent 'pelikan'. Did you mean 'pelican'"):
        many.step({"pelikan": np.zeros(4)})


def test_invalid_options_are_refused(env):
    for difficulty in (2.0, None, "1", True, np.nan):
        with pytest.raises(ValueError, match="difficulty.*: got .*; must be"):
            env.reset(options={"difficulty": difficulty})
    with pytest.raises(ValueError, match=r"no option 'difficulties'.*Did you mean 'difficulty'"):
        env.reset(options={"difficulties": 0.5})
    with pytest.raises(ValueError, match="allowed: None, rgb_array"):
        TaskEnv("keep-spot", render_mode="human")
    for count in (0, True):
        with pytest.raises(
            ValueError, match="`num_envs`: got .*; must be an integer of at least 1"
        ):
            TaskVectorEnv("keep-spot", num_envs=count)


@pytest.mark.slow
def test_render_fps_equals_the_control_rate(env):
    assert env.metadata["render_fps"] == 50
    assert TaskEnv("hover").metadata["render_fps"] == 100
    assert TaskParallelEnv("hover").metadata["render_fps"] == 100


@pytest.fixture(scope="module")
def three():
    """Of two agents each."""
    overrides = {"time.duration_s": 0.1, "vehicles.pelican.count": 2}
    return TaskVectorEnv("keep-spot-10", 3, overrides=overrides)


@pytest.mark.slow
def test_reset_mask_resets_only_masked_environments(three):
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


@pytest.fixture(scope="module")
def worlds():
    """Three of a task that compiles fast."""
    return TaskVectorEnv("keep-spot", 3, **SHORT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (np.zeros(3, bool), "selects no environment"),
        (np.ones(2, bool), "NumPy array of 3 Boolean values"),
        (np.ones(3), "NumPy array of 3 Boolean values"),
        ([True, True, True], "NumPy array of 3 Boolean values"),
    ],
)
def test_invalid_reset_mask_is_refused(worlds, mask, expected):
    worlds.reset(seed=0)
    with pytest.raises(ValueError, match=expected):
        worlds.reset(options={"reset_mask": mask})


@pytest.mark.slow
def test_info_holds_rewards_of_each_agent_also_for_ended_episodes(three):
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


@pytest.mark.slow
def test_each_action_must_have_its_own_shape(pair):
    with pytest.raises(ValueError, match=r"`action`: got shape \(3,\); must be \(4,\)"):
        pair.step({"pelican-1": np.zeros(3), "pelican-2": np.zeros(5)})


@pytest.mark.slow
def test_step_after_the_end_returns_empty_dictionaries(pair):
    actions = {name: np.full(4, 0.1) for name in pair.agents}
    pair.step(actions)
    assert set(pair.step(actions)[3].values()) == {True}
    last = pair.state()
    assert pair.step({}) == pair.step(actions) == ({}, {}, {}, {}, {})
    np.testing.assert_array_equal(pair.state(), last)


@pytest.mark.slow
def test_observations_are_copies(pair):
    seen, _ = pair.reset(seed=0)
    before = pair.state()
    seen["pelican-1"][:] = 99.0
    pair.state()[:] = 99.0
    np.testing.assert_array_equal(pair.state(), before)


def living():
    gc.collect()
    return sum(isinstance(one, CompiledEnv) for one in gc.get_objects())


@pytest.mark.slow
def test_compiled_functions_of_closed_environments_are_released(env):
    before = living()
    for gravity_mps2 in (9.7, 9.75, 9.8, 9.85):
        changes = {"world.gravity_mps2": gravity_mps2, "time.duration_s": 0.04}
        TaskEnv("keep-spot", conditions="noiseless", overrides=changes)
        # that of the last one is kept for the next
        assert living() <= before + 1


@pytest.mark.slow
def test_environments_of_one_task_share_compiled_functions(env):
    same = TaskEnv("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.04})
    TaskEnv("keep-spot", conditions="noiseless")
    again = TaskEnv("keep-spot", conditions="noiseless", overrides={"time.duration_s": 0.04})
    assert again._compiled is same._compiled is env._compiled


@pytest.mark.slow
def test_unknown_engine_is_refused():
    with pytest.raises(ScenarioError, match="there is no engine 'lanes'"):
        TaskVectorEnv("hover", 2, engine="lanes")


@pytest.mark.slow
def test_torchrl_takes_a_vector_environment_and_its_last_observations():
    pytest.importorskip("torchrl")
    from torchrl.envs import GymWrapper

    # episodes of two steps
    vector_env = TaskVectorEnv("keep-spot", 3, **SHORT)
    flown = GymWrapper(vector_env).rollout(5, break_when_any_done=False)
    assert flown.batch_size == (3, 5)
    ends = flown["next", "done"][..., 0]
    assert ends[:, 1].all()
    assert ends.sum() == 6
    last, first = flown["next", "observation"][:, 1], flown["observation"][:, 2]
    assert not np.allclose(last, first)


@pytest.mark.parametrize("given", [3, kw.tasks.AbstractTask])
def test_what_is_no_task_is_refused_with_what_to_write(given):
    with pytest.raises(KittiwakeError, match="the path of a scenario, or a kw.Env"):
        kw.make(given)


def test_an_environment_is_taken_as_it_is():
    env = kw.make("hover")
    assert kw.make(env) is env
    with pytest.raises(KittiwakeError, match="built already"):
        kw.make(env, overrides={"time.duration_s": 1})
