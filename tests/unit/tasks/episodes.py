"""Whole episodes of an environment, with its expert actions and with random actions."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.keys import seed_key
from kittiwake.tasks.env import Env, EnvState

ENVIRONMENTS = 4


class Episodes(NamedTuple):
    """Results of the episodes of all environments.

    Attributes:
        returned: sum of rewards of all agents.
        steps: number of control steps.
        terminated: True if the episode ended before the time was up.
        last: last reward.
    """

    returned: np.ndarray
    steps: np.ndarray
    terminated: np.ndarray
    last: np.ndarray


def flown(env: Env, seed: int = 7) -> tuple[Episodes, Episodes]:
    """Run episodes with the expert actions, or the scenario's guidance, and with random actions."""
    with env.precision_context():
        keys = jax.random.split(seed_key(seed), ENVIRONMENTS)
        begun = jax.eval_shape(env.reset, keys[0])[0]
        if jax.eval_shape(env.expert_action, begun) is None:
            both = [_all_flown(env, keys, by) for by in (_guided, _at_random)]
            return both[0], both[1]

        def either(state: EnvState, own: jax.Array, led: jax.Array) -> jax.Array:
            return jnp.where(led, env.expert_action(state), _at_random(env, state, own, led))

        twice = jnp.concatenate([keys, keys])
        flights = _all_flown(env, twice, lambda _, *rest: either(*rest))
    halves = [
        Episodes(*(part[at] for part in flights)) for at in np.split(np.arange(2 * ENVIRONMENTS), 2)
    ]
    return halves[0], halves[1]


def _guided(env: Env, state: EnvState, own: jax.Array, led: jax.Array) -> None:
    """Let the scenario's guidance fly."""


def _at_random(env: Env, state: EnvState, own: jax.Array, led: jax.Array) -> jax.Array:
    return jax.random.uniform(own, (env.action_size,), minval=-1.0, maxval=1.0)


def _all_flown(env: Env, keys: jax.Array, acting: Callable[..., Any]) -> Episodes:
    led = jnp.arange(len(keys)) < ENVIRONMENTS
    parts = jax.jit(jax.vmap(partial(_flown, env, acting)))(keys, led)
    return Episodes(*map(np.asarray, parts))


def _flown(env: Env, acting: Callable[..., Any], key: jax.Array, led: jax.Array) -> Episodes:
    begun, _ = env.reset(key)
    zero, none, no = jnp.zeros(()), jnp.asarray(0, jnp.int32), jnp.asarray(False)

    def control_step(carry: Any, own: jax.Array) -> tuple[Any, None]:
        state, over, so_far = carry
        step = env.step(own, state, acting(env, state, own, led))
        reward = step.rewards.sum()
        later = Episodes(
            so_far.returned + jnp.where(over, 0.0, reward),
            so_far.steps + jnp.where(over, 0, 1),
            so_far.terminated | (~over & step.terminated),
            jnp.where(over, so_far.last, reward),
        )
        return (step.state, over | step.terminated | step.truncated, later), None

    first = (begun, no, Episodes(zero, none, no, zero))
    return jax.lax.scan(control_step, first, jax.random.split(key, env.max_steps))[0][2]
