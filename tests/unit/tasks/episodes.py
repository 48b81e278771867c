"""Whole episodes of an environment, of its baseline and of actions at random."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.keys import seed_key
from kittiwake.tasks.env import Env

WORLDS = 4


class Episodes(NamedTuple):
    """Of each world.

    Attributes:
        returned: the sum of its rewards, of all agents.
        steps: how many control steps it took.
        terminated: whether it ended before the time was up.
        last: the last reward.
    """

    returned: np.ndarray
    steps: np.ndarray
    terminated: np.ndarray
    last: np.ndarray


def flown(env: Env, steps: int | None = None, seed: int = 7) -> tuple[Episodes, Episodes]:
    """By the baseline, and at random, from the same beginnings."""
    with env.mode():
        keys = jax.random.split(seed_key(seed), WORLDS)
        by_baseline = jnp.arange(2 * WORLDS) < WORLDS
        fly = jax.jit(jax.vmap(lambda key, led: _flown(env, steps or env.max_steps, key, led)))
        both = fly(jnp.concatenate([keys, keys]), by_baseline)
    halves = [[np.asarray(part)[at] for part in both] for at in (by_baseline, ~by_baseline)]
    return Episodes(*halves[0]), Episodes(*halves[1])


def _flown(env: Env, steps: int, key: jax.Array, led: jax.Array) -> Episodes:
    begun, _ = env.reset(key)
    zero, none, no = jnp.zeros(()), jnp.asarray(0, jnp.int32), jnp.asarray(False)

    def further(carried: tuple, own: jax.Array) -> tuple:
        state, over, so_far = carried
        wild = jax.random.uniform(own, (env.action_size,), minval=-1.0, maxval=1.0)
        action = jnp.where(led, env.baseline(state), wild)
        step = env.step(own, state, action)
        reward = step.rewards.sum()
        later = Episodes(
            so_far.returned + jnp.where(over, 0.0, reward),
            so_far.steps + jnp.where(over, 0, 1),
            so_far.terminated | (~over & step.terminated),
            jnp.where(over, so_far.last, reward),
        )
        return (step.state, over | step.terminated | step.truncated, later), None

    first = (begun, no, Episodes(zero, none, no, zero))
    return jax.lax.scan(further, first, jax.random.split(key, steps))[0][2]
