"""Checks of the vector form of the PettingZoo environments, against the forms that it joins."""

from functools import partial

import gymnasium
import numpy as np
import pytest

from kittiwake.adapters.gymnasium import TaskVectorEnv
from kittiwake.adapters.pettingzoo import TaskParallelEnv, TaskParallelVectorEnv
from kittiwake.core.errors import ScenarioError

pytestmark = pytest.mark.usefixtures("single_precision")

WORLDS, STEPS = 3, 5
# two agents; an episode of two steps
SHORT = {
    "conditions": "noiseless",
    "overrides": {"time.duration_s": 0.04, "vehicles.pelican.count": 2},
}
AGENTS = ["pelican-1", "pelican-2"]


@pytest.fixture(scope="module")
def worlds():
    return TaskParallelVectorEnv("keep-spot-10", WORLDS, **SHORT)


def random_actions(seed):
    drawn = np.random.default_rng(seed).uniform(-1, 1, (len(AGENTS), WORLDS, 4))
    return dict(zip(AGENTS, drawn.astype(np.float32), strict=True))


@pytest.mark.slow
def test_spaces_have_the_worlds_as_first_axis(worlds):
    assert worlds.possible_agents == worlds.agents == AGENTS
    assert worlds.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    observations, infos = worlds.reset(seed=0)
    assert infos == {agent: {} for agent in AGENTS}
    for agent in AGENTS:
        assert worlds.action_space(agent).shape == (WORLDS, 4)
        assert worlds.single_action_space(agent).shape == (4,)
        assert worlds.observation_space(agent).contains(observations[agent])
        assert worlds.single_observation_space(agent).contains(observations[agent][0])


@pytest.mark.slow
def test_equals_the_gymnasium_vector_environment_to_the_last_bit(worlds):
    joined = TaskVectorEnv("keep-spot-10", WORLDS, **SHORT)
    whole, _ = joined.reset(seed=3)
    observations, _ = worlds.reset(seed=3)
    for step in range(STEPS):
        np.testing.assert_array_equal(np.hstack(list(observations.values())), whole)
        np.testing.assert_array_equal(worlds.state(), whole)
        actions = random_actions(step)
        whole, _, terminated, truncated, info = joined.step(np.hstack(list(actions.values())))
        observations, rewards, terminations, truncations, infos = worlds.step(actions)
        np.testing.assert_array_equal(np.stack(list(rewards.values()), axis=1), info["rewards"])
        for index, agent in enumerate(AGENTS):
            np.testing.assert_array_equal(terminations[agent], terminated)
            np.testing.assert_array_equal(truncations[agent], truncated)
            assert infos[agent].keys() == info.keys() - {"rewards", "_rewards"}
            if truncated.any():
                final = np.stack(info["final_obs"])
                own = np.split(final, len(AGENTS), axis=1)[index]
                np.testing.assert_array_equal(np.stack(infos[agent]["final_obs"]), own)
                np.testing.assert_array_equal(infos[agent]["_final_obs"], truncated)


@pytest.mark.slow
def test_first_world_equals_the_parallel_environment(worlds):
    single = TaskParallelEnv("keep-spot-10", **SHORT)
    expected, _ = single.reset(seed=7)
    found, _ = worlds.reset(seed=7)
    for step in range(2):
        for agent in AGENTS:
            np.testing.assert_allclose(found[agent][0], expected[agent], rtol=1e-5, atol=1e-4)
        actions = random_actions(step)
        expected, rewards, _, truncations, _ = single.step({a: x[0] for a, x in actions.items()})
        found, found_rewards, _, found_truncations, infos = worlds.step(actions)
        for agent in AGENTS:
            assert found_rewards[agent][0] == pytest.approx(rewards[agent], rel=1e-4)
            assert found_truncations[agent][0] == truncations[agent]
    for agent in AGENTS:
        last = infos[agent]["final_obs"][0]
        np.testing.assert_allclose(last, expected[agent], rtol=1e-5, atol=1e-4)


@pytest.mark.slow
def test_results_stay_as_they_are_and_belong_to_the_caller(worlds):
    worlds.reset(seed=0)
    results = worlds.step(random_actions(0))[:4]
    kept = [{agent: own.copy() for agent, own in result.items()} for result in results]
    state = worlds.state()
    worlds.step(random_actions(1))
    for result, copy in zip(results, kept, strict=True):
        for agent in AGENTS:
            np.testing.assert_array_equal(result[agent], copy[agent])
    observations, *flags = worlds.reset(seed=0)[0], *worlds.step(random_actions(0))[2:4]
    for result in (observations, *flags):
        other = result["pelican-2"].copy()
        result["pelican-1"][:] = 1
        np.testing.assert_array_equal(result["pelican-2"], other)
    np.testing.assert_array_equal(worlds.state(), state)


def test_reset_mask_resets_only_masked_worlds(worlds):
    worlds.reset(seed=1)
    seen, *_ = worlds.step(random_actions(0))
    mask = np.array([True, False, False])
    begun, _ = worlds.reset(options={"reset_mask": mask, "difficulty": 0.5})
    for agent in AGENTS:
        assert not np.array_equal(begun[agent][0], seen[agent][0])
        np.testing.assert_array_equal(begun[agent][1:], seen[agent][1:])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            {"pelican-2": np.zeros((WORLDS, 3))},
            r"^`actions\['pelican-2'\]`: got shape \(3, 3\); must be \(3, 4\)$",
        ),
        ({"pelican-1": np.zeros(4)}, r"^`actions\['pelican-1'\]`: got shape \(4,\)"),
        (
            {"pelican-2": np.full((WORLDS, 4), 1j)},
            r"^`actions\['pelican-2'\]`: got values of complex128; must be numbers",
        ),
        (
            {"pelican-2": np.diag([0, np.nan, 0, 0])[:WORLDS]},
            r"^the action of environment 1: pelican-2\.roll_rad is nan; must be a finite",
        ),
        (
            {"pelican": np.zeros((WORLDS, 4))},
            "^`actions`: there is no agent 'pelican'. Did you mean 'pelican-1'",
        ),
    ],
)
def test_invalid_actions_are_refused(worlds, change, expected):
    worlds.reset(seed=0)
    with pytest.raises(ValueError, match=expected):
        worlds.step(random_actions(0) | change)


def test_actions_without_agents_are_refused(worlds):
    worlds.reset(seed=0)
    with pytest.raises(ValueError, match="has no action of pelican-2; give one of each agent"):
        worlds.step({"pelican-1": np.zeros((WORLDS, 4))})
    with pytest.raises(ValueError, match="got ndarray; must be a dictionary of the agents"):
        worlds.step(np.zeros((WORLDS, 8)))


def test_invalid_options_are_refused(worlds):
    with pytest.raises(ValueError, match=r"no option 'mask'.*Did you mean 'reset_mask'"):
        worlds.reset(options={"mask": np.ones(WORLDS, bool)})
    with pytest.raises(ValueError, match="`num_envs`: got 0; must be an integer of at least 1"):
        TaskParallelVectorEnv("keep-spot-10", 0)
    for make in (TaskParallelEnv, partial(TaskParallelVectorEnv, num_envs=2)):
        with pytest.raises(ScenarioError, match=r"`conditions`: got \['noiseless'\]; must be text"):
            make("keep-spot", conditions=["noiseless"])
        with pytest.raises(ScenarioError, match="'hover-pelican' is no task.*kittiwake list tasks"):
            make("hover-pelican")
        with pytest.raises(ScenarioError, match="^keep-spot has no conditions 'windy'"):
            make("keep-spot", conditions="windy")


def test_spaces_of_unknown_agents_are_refused(worlds):
    spaces = (worlds.action_space, worlds.single_observation_space)
    for space in spaces:
        with pytest.raises(KeyError, match="no agent 'pelican-3'. Did you mean 'pelican-2'"):
            space("pelican-3")


@pytest.mark.slow
def test_begins_with_a_reset_and_serves_tasks_of_one_agent():
    overrides = {"time.duration_s": 0.04}
    worlds = TaskParallelVectorEnv("keep-spot", 2, conditions="noiseless", overrides=overrides)
    actions = {"pelican": np.zeros((2, 4))}
    for early in (worlds.state, lambda: worlds.step(actions)):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            early()
    first, _ = worlds.reset(seed=0)
    kept = worlds.state()
    first["pelican"][:] = 0
    np.testing.assert_array_equal(worlds.state(), kept)
    assert not any(worlds.step(actions)[3]["pelican"])
    observations, rewards, terminations, truncations, infos = worlds.step(actions)
    assert observations["pelican"].shape == kept.shape
    assert rewards["pelican"].shape == terminations["pelican"].shape == (2,)
    assert truncations["pelican"].all()
    assert infos["pelican"]["_final_obs"].all()
    assert worlds.render() is None
    worlds.close()
    for late in (worlds.reset, lambda: worlds.step(actions)):
        with pytest.raises(gymnasium.error.ClosedEnvironmentError, match="closed; make new ones"):
            late()
