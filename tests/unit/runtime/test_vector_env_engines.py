"""Batches of environments: the same to rounding by both engines, the same bits in any size."""

import jax
import numpy as np
import pytest

from kittiwake.core.keys import seed_key
from kittiwake.runtime.vector_env_engines import batch_engine
from kittiwake.tasks.make import make

COUNT, STEPS = 20, 120


@pytest.fixture(scope="module")
def env():
    return make("hover")


@pytest.fixture(scope="module")
def batches(env):
    return {name: batch_engine(env, COUNT, name) for name in ("simd", "xla")}


def actions(env, count=COUNT):
    draws = np.random.default_rng(2)
    return draws.uniform(-1, 1, (STEPS, count, env.action_size)).astype(np.float32)


def flown(batch, given):
    batch.reset(seed_key(4), 1.0)
    steps = [batch.step(own) for own in given]
    return [np.stack(each) for each in zip(*steps, strict=True)]


@pytest.mark.slow
def test_engines_agree_through_many_resets(env, batches):
    ours, theirs = (flown(batches[name], actions(env)) for name in ("simd", "xla"))
    observation, reward, terminated, truncated, rewards, final = range(6)
    assert theirs[terminated].sum() > COUNT
    for flags in (terminated, truncated):
        np.testing.assert_array_equal(ours[flags], theirs[flags])
    for numbers in (observation, reward, rewards, final):
        np.testing.assert_allclose(ours[numbers], theirs[numbers], rtol=1e-4, atol=1e-4)


def test_some_environments_are_reset_and_the_others_go_on(env, batches):
    which = np.arange(COUNT) % 3 == 1
    found = []
    for batch in batches.values():
        flown(batch, actions(env)[:10])
        found.append((batch.reset_some(which, seed_key(9), 0.5), batch.step(actions(env)[11])))
    (ours, after), (theirs, after_theirs) = found
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(after.observation, after_theirs.observation, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_an_environment_has_the_same_bits_in_a_batch_of_any_size(env, batches):
    given = actions(env)
    whole = flown(batches["simd"], given)
    few = flown(batch_engine(env, 3, "simd"), given[:, :3])
    for one, other in zip(whole, few, strict=True):
        assert one[:, :3].tobytes() == other.tobytes()


@pytest.mark.slow
def test_states_of_both_engines_have_one_form(env, batches):
    for batch in batches.values():
        flown(batch, actions(env)[:5])
    ours, theirs = (batches[name].state for name in ("simd", "xla"))
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if jax.numpy.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
