"""What a policy gets in a task: whole episodes from seeds, one after another or all at once."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.keys import seed_key
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.worlds import AXIS, axes_of, episode_key, with_tick

# of one world: its state, what its agents see, a key; without an action the guidance flies
Policy = Callable[[EnvState, Float[Array, " seen"], PRNGKeyArray], Float[Array, " done"] | None]


class Episodes(NamedTuple):
    """What came of each episode.

    Attributes:
        returns: the sums of rewards.
        ended_early: whether it ended before the time was up.
        states: of each at its end, along a leading axis.
    """

    returns: Float[np.ndarray, " episodes"]
    ended_early: Bool[np.ndarray, " episodes"]
    states: EnvState


def random_actions(env: Env) -> Policy:
    """Each number drawn evenly from -1 to 1 in every control step."""

    def drawn(_state: EnvState, _seen: Array, key: PRNGKeyArray) -> Array:
        return jax.random.uniform(key, (env.action_size,), jnp.result_type(float), -1.0, 1.0)

    return drawn


def hovering(env: Env) -> Policy:
    """The action at rest; what is told beside the signal is as little as can be told.

    A velocity or an acceleration at rest is zero, sticks are level with the throttle that hovers,
    rotors turn as in hover, a rudder is straight with half the thrust.
    """

    def rest(_state: EnvState, _seen: Array, _key: PRNGKeyArray) -> Array:
        signal, told = jnp.zeros(len(env.rung.spans)), jnp.full(len(env.rung.told), -1.0)
        return jnp.tile(jnp.concatenate([signal, told]), len(env.agents))

    return rest


def built_in(env: Env) -> Policy:
    """The task's controller without learning, or the scenario's guidance where there is none."""
    return lambda state, _seen, _key: env.baseline(state)


def evaluate(env: Env, policy: Policy, seeds: Sequence[int] | range = range(10)) -> Episodes:
    """Flies an episode of each seed, all of them at once in one compiled call.

    An episode begins as that of Gymnasium's ``reset(seed=...)`` does.
    """
    with env.mode():
        zero = jnp.zeros((), jnp.int32)
        keys = jnp.stack([episode_key(seed_key(seed), zero, zero) for seed in seeds])
        returns, ended_early, states = jax.jit(lambda keys: _flown(env, policy, keys))(keys)
    return Episodes(np.asarray(returns), np.asarray(ended_early), states)


def _flown(env: Env, policy: Policy, keys: Any) -> tuple[Any, Any, EnvState]:
    count = len(keys)
    envs, seen = jax.vmap(lambda key: env.reset_at(key, jnp.zeros((), jnp.int32), 1.0))(keys)
    envs = with_tick(envs, jnp.zeros((), jnp.int32))

    def further(carried: Any, number: Any) -> tuple[Any, None]:
        envs, kept, seen, going, returns, early = carried
        axes = axes_of(envs)

        def one(key: PRNGKeyArray, state: EnvState, seen: Any) -> Any:
            action_key, step_key = jax.random.split(jax.random.fold_in(key, number))
            return env.step_beside(AXIS, step_key, state, policy(state, seen, action_key))

        step: Any = jax.vmap(one, (0, axes, 0), 0, axis_name=AXIS)(keys, envs, seen)
        tick = envs.fleet.tick + env.every

        def frozen(new: Any, old: Any) -> Any:
            return jnp.where(jnp.reshape(going, (count,) + (1,) * (new.ndim - 1)), new, old)

        kept = jax.tree.map(frozen, with_tick(step.state, jnp.broadcast_to(tick, count)), kept)
        returns = returns + jnp.where(going, step.reward, 0.0)
        early = early | (going & step.terminated)
        going = going & ~(step.terminated | step.truncated)
        return (with_tick(step.state, tick), kept, step.observation, going, returns, early), None

    zero, yes = jnp.zeros(count), jnp.ones(count, bool)
    kept = with_tick(envs, jnp.broadcast_to(envs.fleet.tick, count))
    begun = (envs, kept, seen, yes, zero, ~yes)
    numbers = jnp.arange(env.max_steps, dtype=jnp.int32)
    (_, kept, _, _, returns, early), _ = jax.lax.scan(further, begun, numbers)
    return returns, early, kept
