"""Evaluation of policies in a task: whole episodes from seeds, in one batch."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray
from scipy.stats import t as student

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.tasks.env import Env, EnvState, EnvStep
from kittiwake.tasks.vector_env import AXIS, axes_of, episode_key, with_tick

# action from state, observation and key of one environment; None lets the guidance fly
Policy = Callable[
    [EnvState, Float[Array, " numbers"], PRNGKeyArray], Float[Array, " actions"] | None
]
SEEDS = tuple(range(10))
CONFIDENCE = 0.95

# environments, their states at the end, observations, flags of running ones, returns, and flags of
# those that ended early
Carry: TypeAlias = tuple[EnvState, EnvState, Array, Array, Array, Array]


class Episodes(NamedTuple):
    """Results of the episodes of one policy.

    Attributes:
        returns: sum of rewards of each episode.
        ended_early: True for each episode that ended before the time was up.
        states: states at the end of each episode, along a leading axis.
    """

    returns: Float[np.ndarray, " episodes"]
    ended_early: Bool[np.ndarray, " episodes"]
    states: EnvState


class Interval(NamedTuple):
    """Mean of samples with the half width of its 95 % confidence interval."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, samples: Float[np.ndarray, " samples"]) -> "Interval":
        """Return the interval by Student's t-distribution; infinite for fewer than two samples."""
        count = len(samples)
        if count < 2:
            return cls(float(samples.mean()), float("inf"))
        factor = student.ppf(0.5 + 0.5 * CONFIDENCE, count - 1)
        return cls(float(samples.mean()), float(factor * samples.std(ddof=1) / count**0.5))


def policies(env: Env) -> dict[str, Policy]:
    """Return the policies without learning: ``random``, ``hovering`` and ``built-in``.

    ``random`` draws each number uniformly from -1 to 1 in every control step. ``hovering`` is the
    action at rest: zero velocity or acceleration, level sticks at hover throttle, rotor speeds of
    hover, a straight rudder without thrust; reported numbers are at their minimum. ``built-in`` is
    the task's own ``expert_action``, or the scenario's guidance where it has none.
    """

    def random(_state: EnvState, _observation: Array, key: PRNGKeyArray) -> Array:
        return jax.random.uniform(key, (env.action_size,), jnp.result_type(float), -1.0, 1.0)

    def hovering(_state: EnvState, _observation: Array, _key: PRNGKeyArray) -> Array:
        chosen, reported = (
            jnp.zeros(len(env.action_mapping.spans)),
            jnp.full(len(env.action_mapping.reported), -1.0),
        )
        return jnp.tile(jnp.concatenate([chosen, reported]), len(env.agents))

    env_with_beliefs = env.with_beliefs()

    def built_in(state: EnvState, _observation: Array, _key: PRNGKeyArray) -> Array | None:
        return env_with_beliefs.expert_action(state)

    return {"random": random, "hovering": hovering, "built-in": built_in}


def evaluate(
    env: Env, policies: Mapping[str, Policy], seeds: Sequence[int] = SEEDS
) -> dict[str, Episodes]:
    """Run an episode of each seed with each policy, from equal initial states.

    The episode of a seed equals that of Gymnasium's ``reset(seed=...)``, up to rounding.
    """
    env = env.with_beliefs()
    with env.precision_context():
        zero = jnp.zeros((), jnp.int32)
        keys = jnp.stack([episode_key(seed_key(seed), zero, zero) for seed in seeds])
        # policies that let the guidance fly need a program of their own
        guided = {name: own for name, own in policies.items() if _uses_guidance(env, own, keys[0])}
        groups = [{name: own} for name, own in guided.items()]
        groups.append({name: own for name, own in policies.items() if name not in guided})
        found: dict[str, Episodes] = {}
        for group in groups:
            if group:
                found |= _evaluate_group(env, group, keys)
    return {name: found[name] for name in policies}


def _uses_guidance(env: Env, policy: Policy, key: PRNGKeyArray) -> bool:
    def act(key: PRNGKeyArray) -> Array | None:
        state, observation = env.reset(key)
        return policy(state, observation, key)

    return jax.eval_shape(act, key) is None


def _evaluate_group(
    env: Env, policies: Mapping[str, Policy], keys: Key[Array, " episodes"]
) -> dict[str, Episodes]:
    """Run all episodes of policies that give actions, or of one that lets the guidance fly."""
    count, episodes = len(policies), len(keys)
    which = jnp.repeat(jnp.arange(count, dtype=jnp.int32), episodes)
    several = jnp.concatenate([keys] * count)
    fly = jax.jit(lambda which, keys: _run(env, list(policies.values()), which, keys))
    returns, ended_early, states = fly(which, several)
    found = {}
    for i, name in enumerate(policies):
        own = slice(i * episodes, (i + 1) * episodes)
        ends = jax.tree.map(lambda leaf, own=own: leaf[own], states)
        found[name] = Episodes(np.asarray(returns[own]), np.asarray(ended_early[own]), ends)
    return found


def _run(
    env: Env, policies: Sequence[Policy], which: Int[Array, " runs"], keys: Key[Array, " runs"]
) -> tuple[Float[Array, " runs"], Bool[Array, " runs"], EnvState]:
    count, tick, always = len(keys), jnp.zeros((), jnp.int32), jnp.asarray(1.0)
    envs, observations = jax.vmap(lambda key: env.reset_at(key, tick, always))(keys)

    def act(state: EnvState, observation: Array, key: PRNGKeyArray, which: Array) -> Array | None:
        actions: ArrayTree = [policy(state, observation, key) for policy in policies]
        return actions[0] if len(actions) == 1 else jax.lax.select_n(which, *actions)

    def control_step(carry: Carry, step_index: Integer) -> tuple[Carry, None]:
        envs, final, observations, running, returns, early = carry
        axes = axes_of(envs)

        def one(key: PRNGKeyArray, which: Array, state: EnvState, observation: Array) -> EnvStep:
            action_key, step_key = jax.random.split(jax.random.fold_in(key, step_index))
            action = act(state, observation, action_key, which)
            return env.step_in_batch(AXIS, step_key, state, action)

        mapped = jax.vmap(one, (0, 0, axes, 0), 0, axis_name=AXIS)
        step = mapped(keys, which, envs, observations)
        tick = envs.fleet.tick + env.physics_steps_per_action

        def while_running(new: Array, old: Array) -> Array:
            return jnp.where(jnp.reshape(running, (count,) + (1,) * (new.ndim - 1)), new, old)

        now = with_tick(step.state, jnp.broadcast_to(tick, (count,)))
        final = jax.tree.map(while_running, now, final)
        returns = returns + jnp.where(running, step.reward, 0.0)
        early = early | (running & step.terminated)
        running = running & ~(step.terminated | step.truncated)
        later = with_tick(step.state, tick)
        return (later, final, step.observation, running, returns, early), None

    zero, all_ = jnp.zeros(count), jnp.ones(count, bool)
    final = with_tick(envs, jnp.broadcast_to(tick, (count,)))
    first = (with_tick(envs, tick), final, observations, all_, zero, ~all_)
    numbers = jnp.arange(env.max_steps, dtype=jnp.int32)
    (_, final, _, _, returns, early), _ = jax.lax.scan(control_step, first, numbers)
    return returns, early, final


def metrics(env: Env, episodes: Episodes) -> dict[str, Float[np.ndarray, " episodes"]]:
    """Return the task's own metrics at the end of each episode."""

    def of_state(state: EnvState) -> dict[str, Real]:
        return env.task.metrics(state.goal, env.scene(state))

    with env.precision_context():
        found = jax.jit(jax.vmap(of_state))(episodes.states)
    return {name: np.asarray(numbers, float) for name, numbers in found.items()}
