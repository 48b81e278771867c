"""Single environments and batches of them."""

import jax
import numpy as np
import pytest

import kittiwake as kw
from kittiwake.tasks.vector_env import episode_key

COUNT, STEPS = 6, 24
# ends after 13 steps, between two ticks of the 5 Hz sensors
SHORT = {"time.duration_s": 0.26}


@pytest.fixture(scope="module")
def env():
    return kw.make("keep-spot", overrides=SHORT, precision="float64")


@pytest.fixture(scope="module")
def flown(env):
    """Step all through two episodes; return actions, all results, and episode counts."""
    many = kw.VectorEnv(env, COUNT)
    actions = np.random.default_rng(0).uniform(-1, 1, (STEPS, COUNT, env.action_size))
    with jax.enable_x64(True):
        state, seen = jax.jit(many.reset)(kw.seed_key(5))
        step = jax.jit(many.step)
        recorded = [(seen,)]
        for action in actions:
            out = step(state, action)
            state = out.state
            recorded.append(out[1:])
    return actions, jax.tree.map(np.asarray, recorded), np.asarray(state.episodes)


@pytest.mark.slow
def test_each_world_equals_a_single_environment(env, flown):
    """The first episode is equal; the next one begins between the ticks of slow sensors."""
    actions, recorded, _ = flown
    with jax.enable_x64(True):
        reset, step = jax.jit(env.reset), jax.jit(env.step)
        for index in (0, COUNT - 1):
            state, seen = reset(episode_key(kw.seed_key(5), index, 0))
            np.testing.assert_allclose(recorded[0][0][index], seen, rtol=1e-12, atol=1e-12)
            for place in range(env.max_steps):
                key = jax.random.fold_in(state.key, state.steps)
                one = step(key, state, actions[place, index])
                state = one.state
                np.testing.assert_allclose(recorded[place + 1][1][index], one.reward, rtol=1e-9)
                last = recorded[place + 1][5][index]
                np.testing.assert_allclose(last, one.observation, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_runs_in_its_own_precision_outside_of_compiled_functions(env, flown):
    many = kw.VectorEnv(env, 1)
    which = np.array([True])
    with jax.enable_x64(False):
        state, seen = many.reset(kw.seed_key(5))
        stepped = many.step(state, np.zeros((1, env.action_size)))
        _, again = many.reset_some(stepped.state, stepped.observation, which, kw.seed_key(5))
    assert seen.dtype == stepped.observation.dtype == again.dtype == np.float64
    # compiled code rounds differently
    np.testing.assert_allclose(seen[0], flown[1][0][0][0], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_next_episode_begins_in_the_step_that_ends_the_last_one(env, flown):
    _, recorded, episodes = flown
    assert env.max_steps == 13
    truncated = np.array([one[3] for one in recorded[1:]])
    assert not np.array([one[2] for one in recorded[1:]]).any()
    assert (truncated.sum(axis=1) == np.where(np.arange(STEPS) == 12, COUNT, 0)).all()
    assert (episodes == 2).all()
    # the next observation is near the start again
    assert np.abs(recorded[13][0][:, :3]).max() < np.abs(recorded[13][5][:, :3]).max()


@pytest.mark.slow
def test_some_environments_are_reset_without_the_others(env):
    many = kw.VectorEnv(env, COUNT)
    which = np.array([True, False, False, True, False, False])
    with jax.enable_x64(True):
        state, seen = jax.jit(many.reset)(kw.seed_key(5))
        some = jax.jit(many.reset_some)
        on, seen_on = some(state, seen, which)
        anew, seen_anew = some(state, seen, which, kw.seed_key(6))
        again, _ = jax.jit(many.reset)(kw.seed_key(6))
    assert np.asarray(on.episodes).tolist() == [2, 1, 1, 2, 1, 1]
    assert np.asarray(anew.episodes).tolist() == [1] * COUNT
    np.testing.assert_array_equal(seen_on[~which], seen[~which])
    assert (np.asarray(seen_on)[which, 1] != np.asarray(seen)[which, 1]).all()
    # the keys are those of a reset
    first = jax.random.key_data(again.envs.key)[which]
    np.testing.assert_array_equal(jax.random.key_data(anew.envs.key)[which], first)
    assert (np.asarray(seen_anew)[which, 1] != np.asarray(seen_on)[which, 1]).all()


@pytest.mark.parametrize("count", [0, -3, True])
def test_count_of_environments_is_at_least_one(env, count):
    with pytest.raises(ValueError, match="must be a whole number, 1 or more"):
        kw.VectorEnv(env, count)


@pytest.mark.parametrize("difficulty", [-0.1, 1.1, np.nan])
def test_difficulty_is_from_0_to_1(env, difficulty):
    for begin in (env.reset, kw.VectorEnv(env, COUNT).reset):
        with pytest.raises(ValueError, match="must be a number from 0 to 1"):
            begin(kw.seed_key(0), difficulty)


def test_environments_and_episodes_differ_in_their_noise(flown):
    _, recorded, _ = flown
    first, second = recorded[0][0], recorded[13][0]
    assert len(np.unique(first[:, 1])) == COUNT
    assert (first[:, 1] != second[:, 1]).all()


@pytest.mark.slow
def test_a_lost_vehicle_ends_its_episode_with_the_penalty():
    env = kw.make("keep-spot", conditions="noiseless", overrides={"world.area.z_m": [9.9, 10.1]})
    with jax.enable_x64(False):
        state, _ = jax.jit(env.reset)(kw.seed_key(0))
        step = jax.jit(env.step)
        rewards, action = [], np.array([0.0, 0.0, -1.0, 0.0], np.float32)
        for _ in range(60):
            out = step(kw.seed_key(1), state, action)
            state = out.state
            rewards.append(float(out.reward))
            if bool(out.terminated):
                break
    assert bool(out.terminated)
    assert not bool(out.truncated)
    assert rewards[-1] == -1000.0
    assert min(rewards[:-1]) > -1.0


@pytest.mark.slow
def test_action_of_wrong_length_is_refused(env):
    state = jax.eval_shape(env.reset, kw.seed_key(0))[0]
    with pytest.raises(ValueError, match=r"got shape \(3,\); must be 4 numbers from -1 to 1"):
        jax.eval_shape(env.step, kw.seed_key(0), state, np.zeros(3))


@pytest.mark.slow
def test_reward_of_wrong_shape_is_refused(env, monkeypatch):
    state = jax.eval_shape(env.reset, kw.seed_key(0))[0]
    monkeypatch.setattr(type(env.task), "reward", lambda *_: np.zeros(3))
    with pytest.raises(ValueError, match=r"KeepSpot\.reward: got shape \(3,\); must be one number"):
        jax.eval_shape(env.step, kw.seed_key(0), state, np.zeros(4))
