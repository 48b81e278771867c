"""Batch of worlds of one task, each reset as soon as its episode ends."""

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray

from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.env import Env, EnvState

AXIS = "worlds"
# number of worlds that are reset at once; further ones follow in turn
RESET_BATCH = 32

# worlds, their observations, their numbers of episodes, and True for those that wait for a reset
Resets: TypeAlias = tuple[EnvState, Array, Array, Array]


class WorldsState(eqx.Module):
    """State of all worlds, which share one clock.

    Attributes:
        envs: states of all worlds, along a leading axis; only the tick is shared.
        root_keys: random keys that determine the episodes of each world.
        episodes: number of episodes that each world has begun.
        difficulties: difficulty of the episodes that begin in each world.
    """

    envs: EnvState
    root_keys: Key[Array, " worlds"]
    episodes: Int[Array, " worlds"]
    difficulties: Float[Array, " worlds"]


class WorldsStep(NamedTuple):
    """Result of a control step of all worlds.

    ``observation`` is the next one, which is the first one of a new episode where an episode has
    ended; ``final_observation`` is the one at the end of the step.
    """

    state: WorldsState
    observation: Float[Array, "worlds numbers"]
    reward: Float[Array, " worlds"]
    terminated: Bool[Array, " worlds"]
    truncated: Bool[Array, " worlds"]
    rewards: Float[Array, "worlds agents"]
    final_observation: Float[Array, "worlds numbers"]


class Worlds:
    """Batch of ``count`` worlds of an environment.

    ``reset``, ``reset_some`` and ``step`` are pure. A world's bits depend on its number, its
    episodes and its actions, not on the other worlds. With another ``count`` they are the same up
    to rounding, as the compiled code differs.

    Raises:
        ValueError: for a count below 1.
    """

    def __init__(self, env: Env, count: int) -> None:
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            message = f"count: got {count!r}; must be a whole number, 1 or more"
            raise ValueError(message)
        self.env, self.count = env, count
        self._numbers = jnp.arange(count, dtype=jnp.int32)

    def reset(
        self, key: PRNGKeyArray, difficulty: Real = 1.0
    ) -> tuple[WorldsState, Float[Array, "worlds numbers"]]:
        """Begin the first episode of each world.

        Raises:
            ValueError: for a difficulty that is not from 0 to 1.
        """
        check_difficulty(difficulty)
        tick, first = jnp.zeros((), jnp.int32), jnp.zeros(self.count, jnp.int32)
        difficulties = jnp.full(self.count, difficulty, jnp.result_type(float))
        root_keys = jnp.broadcast_to(key, (self.count,))
        envs, observations = self._begin(_keys(root_keys, self._numbers, first), tick, difficulties)
        return WorldsState(with_tick(envs, tick), root_keys, first + 1, difficulties), observations

    def reset_some(
        self,
        state: WorldsState,
        observations: Float[Array, "worlds numbers"],
        which: Bool[Array, " worlds"],
        key: PRNGKeyArray | None = None,
        difficulty: Real = 1.0,
    ) -> tuple[WorldsState, Float[Array, "worlds numbers"]]:
        """Begin new episodes in some worlds on the clock of all; the others are unchanged.

        Args:
            state: state of all worlds.
            observations: last observations of all worlds.
            which: True for each world to reset.
            key: new root key of these worlds; without one their next episode begins.
            difficulty: difficulty of these worlds, from 0 to 1.

        Raises:
            ValueError: for a difficulty that is not from 0 to 1.
        """
        check_difficulty(difficulty)
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
        self, state: WorldsState, actions: Float[Array, "worlds numbers"] | None
    ) -> WorldsStep:
        """Return the result of a control step; worlds whose episode ends begin the next one."""
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
        return WorldsStep(
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
        state: WorldsState,
        now: tuple[EnvState, Array],
        tick: Count,
        done: Bool[Array, " worlds"],
    ) -> tuple[EnvState, Array, Array]:
        """Begin the next episode of worlds whose episode has ended, a few at a time."""

        def any_waiting(carry: Resets) -> Flag:
            return jnp.any(carry[-1])

        def reset_some(carry: Resets) -> Resets:
            envs, observations, episodes, waiting = carry
            (places,) = jnp.nonzero(
                waiting, size=min(RESET_BATCH, self.count), fill_value=self.count
            )
            places = places.astype(jnp.int32)
            numbers = jnp.minimum(places, self.count - 1)
            keys = _keys(state.root_keys[numbers], numbers, episodes[numbers])
            fresh, first = self._begin(keys, tick, state.difficulties[numbers])
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
        self, keys: Key[Array, " worlds"], tick: Count, difficulties: Float[Array, " worlds"]
    ) -> tuple[EnvState, Float[Array, "worlds numbers"]]:
        return jax.vmap(self.env.reset_at, (0, None, 0))(keys, tick, difficulties)


def episode_key(root: PRNGKeyArray, world: Count, episode: Count) -> PRNGKeyArray:
    """Return the random key that determines an episode of a world."""
    return jax.random.fold_in(jax.random.fold_in(root, world), episode)


def _keys(
    root_keys: Key[Array, " worlds"], worlds: Array, episodes: Array
) -> Key[Array, " worlds"]:
    return jax.vmap(episode_key)(root_keys, worlds, episodes)


def with_tick(envs: EnvState, tick: Count | Int[Array, " worlds"] | None) -> EnvState:
    """Return worlds with another tick of their clock, or of each world's clock."""
    return eqx.tree_at(lambda all_: all_.fleet.tick, envs, tick)


def axes_of(envs: EnvState) -> EnvState:
    """Return the axes of ``vmap`` over worlds: 0 for all leaves but the shared tick."""
    return with_tick(jax.tree.map(lambda _: 0, envs), None)
