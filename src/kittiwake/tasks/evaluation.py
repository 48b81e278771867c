"""What policies get in a task: whole episodes from seeds, all of them at once."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from scipy.stats import t as student

from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.worlds import AXIS, axes_of, episode_key, with_tick

# of one world: its state, what its agents see, a key; without an action the guidance flies
Policy = Callable[[EnvState, Float[Array, " seen"], PRNGKeyArray], Float[Array, " done"] | None]
SEEDS = tuple(range(10))
CONFIDENCE = 0.95


class Episodes(NamedTuple):
    """What came of the episodes of one policy.

    Attributes:
        returns: the sums of rewards.
        ended_early: whether each ended before the time was up.
        states: of each at its end, along a leading axis.
    """

    returns: Float[np.ndarray, " episodes"]
    ended_early: Bool[np.ndarray, " episodes"]
    states: EnvState


class Interval(NamedTuple):
    """A mean, and how far its 95 % interval reaches to either side."""

    mean: float
    reach: float

    @classmethod
    def of(cls, samples: Float[np.ndarray, " samples"]) -> "Interval":
        """By Student's t-distribution; infinite for less than two samples."""
        count = len(samples)
        if count < 2:
            return cls(float(samples.mean()), float("inf"))
        factor = student.ppf(0.5 + 0.5 * CONFIDENCE, count - 1)
        return cls(float(samples.mean()), float(factor * samples.std(ddof=1) / count**0.5))


def policies(env: Env) -> dict[str, Policy]:
    """Those without learning: ``random``, ``hovering`` and ``built-in``.

    At random each number is drawn evenly from -1 to 1 in every control step. Hovering is the action
    at rest: a velocity or an acceleration of zero, sticks that are level with the throttle that
    hovers, rotors that turn as in hover, a rudder straight and without thrust; what is told beside
    it is as little as can be told. Built-in is the task's own ``baseline``, or the scenario's
    guidance where it has none.
    """

    def drawn(_state: EnvState, _seen: Array, key: PRNGKeyArray) -> Array:
        return jax.random.uniform(key, (env.action_size,), jnp.result_type(float), -1.0, 1.0)

    def rest(_state: EnvState, _seen: Array, _key: PRNGKeyArray) -> Array:
        signal, told = (
            jnp.zeros(len(env.action_mapping.spans)),
            jnp.full(len(env.action_mapping.reports), -1.0),
        )
        return jnp.tile(jnp.concatenate([signal, told]), len(env.agents))

    believing = env.with_beliefs()

    def flown(state: EnvState, _seen: Array, _key: PRNGKeyArray) -> Array | None:
        return believing.baseline(state)

    return {"random": drawn, "hovering": rest, "built-in": flown}


def evaluate(
    env: Env, policies: Mapping[str, Policy], seeds: Sequence[int] = SEEDS
) -> dict[str, Episodes]:
    """Flies an episode of each seed by each policy; they begin alike.

    The episode of a seed is that of Gymnasium's ``reset(seed=...)``, up to rounding.
    """
    env = env.with_beliefs()
    with env.mode():
        zero = jnp.zeros((), jnp.int32)
        keys = jnp.stack([episode_key(seed_key(seed), zero, zero) for seed in seeds])
        # who leaves it to the guidance flies in a program of its own
        guided = {name: own for name, own in policies.items() if _leaves_it(env, own, keys[0])}
        groups = [{name: own} for name, own in guided.items()]
        groups.append({name: own for name, own in policies.items() if name not in guided})
        found: dict[str, Episodes] = {}
        for group in groups:
            if group:
                found |= _flown_by(env, group, keys)
    return {name: found[name] for name in policies}


def _leaves_it(env: Env, policy: Policy, key: PRNGKeyArray) -> bool:
    def acted(key: PRNGKeyArray) -> Any:
        state, seen = env.reset(key)
        return policy(state, seen, key)

    return jax.eval_shape(acted, key) is None


def _flown_by(env: Env, policies: Mapping[str, Policy], keys: Any) -> dict[str, Episodes]:
    """By policies that are no guidance, or by one that is."""
    count, episodes = len(policies), len(keys)
    which = jnp.repeat(jnp.arange(count, dtype=jnp.int32), episodes)
    several = jnp.concatenate([keys] * count)
    fly = jax.jit(lambda which, keys: _flown(env, list(policies.values()), which, keys))
    returns, ended_early, states = fly(which, several)
    found = {}
    for i, name in enumerate(policies):
        own = slice(i * episodes, (i + 1) * episodes)
        ends = jax.tree.map(lambda leaf, own=own: leaf[own], states)
        found[name] = Episodes(np.asarray(returns[own]), np.asarray(ended_early[own]), ends)
    return found


def _flown(env: Env, policies: Sequence[Policy], which: Any, keys: Any) -> tuple[Any, Any, Any]:
    count, tick, always = len(keys), jnp.zeros((), jnp.int32), jnp.asarray(1.0)
    envs, seen = jax.vmap(lambda key: env.reset_at(key, tick, always))(keys)

    def acted(state: EnvState, seen: Array, key: PRNGKeyArray, which: Array) -> Array | None:
        actions: Any = [policy(state, seen, key) for policy in policies]
        return actions[0] if len(actions) == 1 else jax.lax.select_n(which, *actions)

    def further(carried: Any, number: Any) -> tuple[Any, None]:
        envs, kept, seen, going, returns, early = carried
        axes = axes_of(envs)

        def one(key: PRNGKeyArray, which: Array, state: EnvState, seen: Any) -> Any:
            action_key, step_key = jax.random.split(jax.random.fold_in(key, number))
            action = acted(state, seen, action_key, which)
            return env.step_beside(AXIS, step_key, state, action)

        step: Any = jax.vmap(one, (0, 0, axes, 0), 0, axis_name=AXIS)(keys, which, envs, seen)
        tick = envs.fleet.tick + env.every

        def still(new: Any, old: Any) -> Any:
            return jnp.where(jnp.reshape(going, (count,) + (1,) * (new.ndim - 1)), new, old)

        now = with_tick(step.state, jnp.broadcast_to(tick, (count,)))
        kept = jax.tree.map(still, now, kept)
        returns = returns + jnp.where(going, step.reward, 0.0)
        early = early | (going & step.terminated)
        going = going & ~(step.terminated | step.truncated)
        return (with_tick(step.state, tick), kept, step.observation, going, returns, early), None

    none, all_ = jnp.zeros(count), jnp.ones(count, bool)
    kept = with_tick(envs, jnp.broadcast_to(tick, (count,)))
    begun = (with_tick(envs, tick), kept, seen, all_, none, ~all_)
    numbers = jnp.arange(env.max_steps, dtype=jnp.int32)
    (_, kept, _, _, returns, early), _ = jax.lax.scan(further, begun, numbers)
    return returns, early, kept


def figures(env: Env, episodes: Episodes) -> dict[str, Float[np.ndarray, " episodes"]]:
    """The task's own figures of each episode at its end."""

    def told(state: EnvState) -> dict[str, Real]:
        return env.task.figures(state.goal, env.scene(state))

    with env.mode():
        found = jax.jit(jax.vmap(told))(episodes.states)
    return {name: np.asarray(numbers, float) for name, numbers in found.items()}
