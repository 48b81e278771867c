"""Evaluation of several policies over whole episodes from seeds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kittiwake.tasks.evaluation import Interval, evaluate, policies
from kittiwake.tasks.make import make


def test_interval_follows_students_t_distribution():
    # 95 % of a t-distribution of 9 degrees of freedom lie within 2.262157
    interval = Interval.of(np.arange(10.0))
    assert interval.mean == 4.5
    assert interval.half_width == pytest.approx(2.262157 * np.sqrt(82.5 / 9.0 / 10.0), rel=1e-6)
    assert Interval.of(np.ones(1)).half_width == np.inf


@pytest.fixture(scope="module")
def flown():
    with jax.enable_x64(False):
        env = make("hover", overrides={"time.duration_s": 0.3})
        return env, evaluate(env, policies(env), (3, 5))


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_each_policy_flies_the_episodes_of_the_seeds(flown):
    _, found = flown
    assert list(found) == ["random", "hovering", "built-in"]
    for episodes in found.values():
        assert episodes.returns.shape == (2,)
        np.testing.assert_array_equal(episodes.states.steps, [30, 30])
        assert not episodes.ended_early.any()
    assert len(np.unique([episodes.returns for episodes in found.values()])) == 6


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_episode_of_a_seed_equals_that_of_gymnasium(flown):
    import gymnasium

    import kittiwake as kw

    env, found = flown
    kw.register_envs()
    with gymnasium.make(
        "kittiwake/Hover-v0", overrides={"time.duration_s": 0.3}, disable_env_checker=True
    ) as single:
        for seed, wanted in zip((3, 5), found["hovering"].returns, strict=True):
            single.reset(seed=seed)
            rest = np.zeros(env.action_size, np.float32)
            gained = sum(float(single.step(rest)[1]) for _ in range(30))
            assert gained == pytest.approx(float(wanted), rel=1e-4)


@pytest.mark.slow
@pytest.mark.usefixtures("single_precision")
def test_rewards_after_the_end_do_not_count():
    env = make("land-on-deck", overrides={"time.duration_s": 4})

    def falling(_state, _seen, _key):
        return jnp.asarray([1.0, 1.0, -1.0])

    (episodes,) = evaluate(env, {"falling": falling}, (0, 1)).values()
    assert episodes.ended_early.all()
    assert (np.asarray(episodes.states.steps) < 40).all()
    # into the water: the way lost or gained, and a loss once
    assert ((episodes.returns > -4.0) & (episodes.returns < -1.0)).all()
