"""Batch of environments of one task, each reset as soon as its episode ends."""

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray

from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.pytree import Module, replace_unchecked
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.env import Env, EnvState

AXIS = "envs"
# number of environments that are reset at once; further ones follow in turn
RESET_BATCH = 32

# environments, their observations and numbers of episodes, and True for those that wait for a reset
Resets: TypeAlias = tuple[EnvState, Array, Array, Array]


class VectorEnvState(Module):
    """State of all environments, which share one clock.

    Attributes:
        envs: states of all environments, along a leading axis; only the tick is shared.
        root_keys: random keys that determine the episodes of each environment.
        episodes: number of episodes that each environment has begun.
        difficulties: difficulty of the episodes that begin in each environment.
    """

    envs: EnvState
    root_keys: Key[Array, " envs"]
    episodes: Int[Array, " envs"]
    difficulties: Float[Array, " envs"]


class VectorEnvStep(NamedTuple):
    """Result of a control step of all environments.

    ``observation`` is the next one, which is the first one of a new episode where an episode has
    ended; ``final_observation`` is the one at the end of the step.
    """

    state: VectorEnvState
    observation: Float[Array, "envs numbers"]
    reward: Float[Array, " envs"]
    terminated: Bool[Array, " envs"]
    truncated: Bool[Array, " envs"]
    rewards: Float[Array, "envs agents"]
    final_observation: Float[Array, "envs numbers"]


class VectorEnv:
    """Batch of ``count`` copies of an environment.

    ``reset``, ``reset_some`` and ``step`` are pure, and run in the environment's precision whatever
    JAX's mode is outside of its transformations. An environment's bits depend on its index, its
    episodes and its actions, not on the other environments. With another ``count`` they are the
    same up to rounding, as the compiled code differs.

    Raises:
        ValueError: for a count below 1.
    """

    def __init__(self, env: Env, count: int) -> None:
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            message = f"count: got {count!r}; must be a whole number, 1 or more"
            raise ValueError(message)
        self.env, self.count = env, count
        self._indices = jnp.arange(count, dtype=jnp.int32)

    def reset(
        self, key: PRNGKeyArray, difficulty: Real = 1.0
    ) -> tuple[VectorEnvState, Float[Array, "envs numbers"]]:
        """Begin the first episode of each environment.

        Raises:
            ValueError: for a difficulty that is not from 0 to 1.
        """
        check_difficulty(difficulty)
        with self.env.own_precision(key):
            tick, first = jnp.zeros((), jnp.int32), jnp.zeros(self.count, jnp.int32)
            difficulties = jnp.full(self.count, difficulty, jnp.result_type(float))
            root_keys = jnp.broadcast_to(key, (self.count,))
            envs, observations = self._begin(
                _keys(root_keys, self._indices, first), tick, difficulties
            )
            return VectorEnvState(
                with_tick(envs, tick), root_keys, first + 1, difficulties
            ), observations

    def reset_some(
        self,
        state: VectorEnvState,
        observations: Float[Array, "envs numbers"],
        which: Bool[Array, " envs"],
        key: PRNGKeyArray | None = None,
        difficulty: Real = 1.0,
    ) -> tuple[VectorEnvState, Float[Array, "envs numbers"]]:
        """Begin new episodes in some environments on the clock of all; the others are unchanged.

        Args:
            state: state of all environments.
            observations: last observations of all environments.
            which: True for each environment to reset.
            key: new root key of these environments; without one their next episode begins.
            difficulty: difficulty of these environments, from 0 to 1.

        Raises:
            ValueError: for a difficulty that is not from 0 to 1.
        """
        check_difficulty(difficulty)
        with self.env.own_precision(state, observations, which, key):
            new = jnp.asarray(difficulty, jnp.result_type(float))
            state = replace(state, difficulties=jnp.where(which, new, state.difficulties))
            if key is not None:
                state = replace(
                    state,
                    root_keys=jnp.where(which, key, state.root_keys),
                    episodes=jnp.where(which, 0, state.episodes),
                )
            tick = state.envs.fleet.tick
            ticks = jnp.broadcast_to(tick, (self.count,))
            now = with_tick(state.envs, ticks), observations
            envs, observations, episodes = self._begin_next(state, now, tick, which)
            return replace(state, envs=with_tick(envs, tick), episodes=episodes), observations

    def step(
        self, state: VectorEnvState, actions: Float[Array, "envs numbers"] | None
    ) -> VectorEnvStep:
        """Return the result of a control step; where an episode ends, the next one begins."""
        with self.env.own_precision(state, actions):
            axes = axes_of(state.envs)
            keys = jax.vmap(jax.random.fold_in)(state.envs.key, state.envs.steps)
            stepped = jax.vmap(
                lambda *own: self.env.step_in_batch(AXIS, *own),
                in_axes=(0, axes, 0),
                out_axes=0,
                axis_name=AXIS,
            )(keys, state.envs, actions)
            tick = state.envs.fleet.tick + self.env.physics_steps_per_action
            done = stepped.terminated | stepped.truncated
            now = stepped.state, stepped.observation
            envs, observations, episodes = self._begin_next(state, now, tick, done)
            later = replace(state, envs=with_tick(envs, tick), episodes=episodes)
            return VectorEnvStep(
                state=later,
                observation=observations,
                reward=stepped.reward,
                terminated=stepped.terminated,
                truncated=stepped.truncated,
                rewards=stepped.rewards,
                final_observation=stepped.observation,
            )

    def _begin_next(
        self,
        state: VectorEnvState,
        now: tuple[EnvState, Array],
        tick: Integer,
        done: Bool[Array, " envs"],
    ) -> tuple[EnvState, Array, Array]:
        """Begin the next episode of environments whose episode has ended, a few at a time."""

        def any_waiting(carry: Resets) -> Flag:
            return jnp.any(carry[-1])

        def reset_some(carry: Resets) -> Resets:
            envs, observations, episodes, waiting = carry
            (places,) = jnp.nonzero(
                waiting, size=min(RESET_BATCH, self.count), fill_value=self.count
            )
            places = places.astype(jnp.int32)
            indices = jnp.minimum(places, self.count - 1)
            keys = _keys(state.root_keys[indices], indices, episodes[indices])
            fresh, first = self._begin(keys, tick, state.difficulties[indices])
            envs, observations = jax.tree.map(
                lambda all_, new: all_.at[places].set(new, mode="drop"),
                (envs, observations),
                (fresh, first),
            )
            episodes = episodes.at[places].add(1, mode="drop")
            waiting = waiting.at[places].set(values=False, mode="drop")
            return envs, observations, episodes, waiting

        first = (*now, state.episodes, done)
        envs, observations, episodes, _ = jax.lax.while_loop(any_waiting, reset_some, first)
        return envs, observations, episodes

    def _begin(
        self, keys: Key[Array, " envs"], tick: Integer, difficulties: Float[Array, " envs"]
    ) -> tuple[EnvState, Float[Array, "envs numbers"]]:
        return jax.vmap(self.env.reset_at, (0, None, 0))(keys, tick, difficulties)


def episode_key(root: PRNGKeyArray, env_index: Integer, episode: Integer) -> PRNGKeyArray:
    """Return the random key that determines an episode of an environment."""
    return jax.random.fold_in(jax.random.fold_in(root, env_index), episode)


def _keys(root_keys: Key[Array, " envs"], indices: Array, episodes: Array) -> Key[Array, " envs"]:
    return jax.vmap(episode_key)(root_keys, indices, episodes)


def with_tick(envs: EnvState, tick: Integer | Int[Array, " envs"] | None) -> EnvState:
    """Return environments with another tick of their clock, or of each environment's clock."""
    return replace_unchecked(envs, fleet=replace_unchecked(envs.fleet, tick=tick))


def axes_of(envs: EnvState) -> EnvState:
    """Return the axes of ``vmap`` over environments: 0 for all leaves but the shared tick."""
    return with_tick(jax.tree.map(lambda _: 0, envs), None)
