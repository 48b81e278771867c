"""Episodes of one world of a batch, for an engine that steps many worlds side by side."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import Module
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.vector_env import episode_key, with_tick

Observation = Float[Array, " numbers"]


class WorldState(Module):
    """State of one world of a batch, as one row of ``VectorEnvState``.

    Attributes:
        env: state of the environment, whose clock all worlds share.
        root_key: random key that determines its episodes.
        episode: number of episodes that it has begun.
        difficulty: difficulty of the episodes that begin.
    """

    env: EnvState
    root_key: PRNGKeyArray
    episode: Integer
    difficulty: Real


class WorldStep(NamedTuple):
    """Result of a control step of one world, as one row of ``VectorEnvStep``."""

    state: WorldState
    observation: Observation
    reward: Float[Array, ""]
    terminated: Flag
    truncated: Flag
    rewards: Float[Array, " agents"]
    final_observation: Observation


def step_world(env: Env, state: WorldState, index: Integer, action: Observation) -> WorldStep:
    """Return the result of a control step; if an episode ends, the next one begins.

    Args:
        env: environment.
        state: state of this world.
        index: number of this world.
        action: action of all agents, from -1 to 1.
    """
    key = jax.random.fold_in(state.env.key, state.env.steps)
    stepped = env.step_in_batch(None, key, state.env, action)
    ended = WorldState(stepped.state, state.root_key, state.episode, state.difficulty)
    done = stepped.terminated | stepped.truncated
    later, observation = begin_world(env, ended, index, stepped.observation, done)
    return WorldStep(
        state=later,
        observation=observation,
        reward=stepped.reward,
        terminated=stepped.terminated,
        truncated=stepped.truncated,
        rewards=stepped.rewards,
        final_observation=stepped.observation,
    )


def begin_world(
    env: Env, state: WorldState, index: Integer, observation: Observation, begins: Flag
) -> tuple[WorldState, Observation]:
    """Return the state and the observation, of a new episode where ``begins`` is true."""
    tick = state.env.fleet.tick
    key = episode_key(state.root_key, index, state.episode)
    later, observation = jax.lax.cond(
        begins,
        lambda: env.reset_at(key, tick, state.difficulty),
        lambda: (state.env, observation),
    )
    episode = state.episode + jnp.asarray(begins, jnp.int32)
    begun = WorldState(with_tick(later, tick), state.root_key, episode, state.difficulty)
    return begun, observation
