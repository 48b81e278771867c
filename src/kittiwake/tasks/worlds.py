"""Many worlds of one task, stepped together, each beginning anew as soon as its episode ends."""

from dataclasses import replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray

from kittiwake.geometry.scalar import Count, Real
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.env import Env, EnvState

AXIS = "worlds"
# so many episodes begin at once; more of them take turns
BEGINNING = 32


class WorldsState(eqx.Module):
    """All worlds; their clock is one.

    Attributes:
        envs: every world's, along a leading axis; only the tick is shared.
        roots: from which the episodes of each world follow.
        episodes: how many episodes each world has begun.
        difficulties: of the episodes that begin in each.
    """

    envs: EnvState
    roots: Key[Array, " worlds"]
    episodes: Int[Array, " worlds"]
    difficulties: Float[Array, " worlds"]


class WorldsStep(NamedTuple):
    """What a control step of all worlds gives.

    ``observation`` is what agents see next, which is the first one of a new episode where one has
    ended; ``final_observation`` is what they saw at the end of the step.
    """

    state: WorldsState
    observation: Float[Array, "worlds numbers"]
    reward: Float[Array, " worlds"]
    terminated: Bool[Array, " worlds"]
    truncated: Bool[Array, " worlds"]
    rewards: Float[Array, "worlds agents"]
    final_observation: Float[Array, "worlds numbers"]


class Worlds:
    """``count`` worlds of an environment.

    ``reset``, ``reset_some`` and ``step`` are pure. A world's bits depend on its number, its
    episodes and its actions, not on what the others do. With another ``count`` they are the same up
    to rounding, as other code is compiled for it.

    Raises:
        ValueError: for fewer than one.
    """

    def __init__(self, env: Env, count: int) -> None:
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            message = f"{count!r} worlds are not allowed; give a whole number, 1 or more"
            raise ValueError(message)
        self.env, self.count = env, count
        self._numbers = jnp.arange(count, dtype=jnp.int32)

    def reset(
        self, key: PRNGKeyArray, difficulty: Real = 1.0
    ) -> tuple[WorldsState, Float[Array, "worlds numbers"]]:
        """The first episode of each world.

        Raises:
            ValueError: for a difficulty that is not from 0 to 1.
        """
        check_difficulty(difficulty)
        tick, first = jnp.zeros((), jnp.int32), jnp.zeros(self.count, jnp.int32)
        hard = jnp.full(self.count, difficulty, jnp.result_type(float))
        roots = jnp.broadcast_to(key, (self.count,))
        envs, seen = self._begin(_keys(roots, self._numbers, first), tick, hard)
        return WorldsState(with_tick(envs, tick), roots, first + 1, hard), seen

    def reset_some(
        self,
        state: WorldsState,
        seen: Float[Array, "worlds numbers"],
        which: Bool[Array, " worlds"],
        key: PRNGKeyArray | None = None,
        difficulty: Real = 1.0,
    ) -> tuple[WorldsState, Float[Array, "worlds numbers"]]:
        """New episodes of some worlds on the clock of all; the others stay as they are.

        Args:
            state: of all worlds.
            seen: what was seen last.
            which: of them begin anew.
            key: from which these then follow; without one they go on to their next episode.
            difficulty: of these, from 0 to 1.

        Raises:
            ValueError: for a difficulty that is not from 0 to 1.
        """
        check_difficulty(difficulty)
        hard = jnp.asarray(difficulty, jnp.result_type(float))
        state = replace(state, difficulties=jnp.where(which, hard, state.difficulties))
        if key is not None:
            state = replace(
                state,
                roots=jnp.where(which, key, state.roots),
                episodes=jnp.where(which, 0, state.episodes),
            )
        tick = state.envs.fleet.tick
        ticks = jnp.broadcast_to(tick, (self.count,))
        now = with_tick(state.envs, ticks), seen
        envs, seen, episodes = self._renewed(state, now, tick, which)
        return replace(state, envs=with_tick(envs, tick), episodes=episodes), seen

    def step(
        self, state: WorldsState, actions: Float[Array, "worlds numbers"] | None
    ) -> WorldsStep:
        """A control step of each; where it ends an episode, the next one begins."""
        axes = axes_of(state.envs)
        keys = jax.vmap(jax.random.fold_in)(state.envs.key, state.envs.steps)
        stepped: Any = jax.vmap(
            lambda *own: self.env.step_beside(AXIS, *own),
            in_axes=(0, axes, 0),
            out_axes=0,
            axis_name=AXIS,
        )(keys, state.envs, actions)
        tick = state.envs.fleet.tick + self.env.every
        done = stepped.terminated | stepped.truncated
        now = stepped.state, stepped.observation
        envs, seen, episodes = self._renewed(state, now, tick, done)
        later = replace(state, envs=with_tick(envs, tick), episodes=episodes)
        return WorldsStep(
            *(later, seen, stepped.reward, stepped.terminated, stepped.truncated),
            *(stepped.rewards, stepped.observation),
        )

    def _renewed(
        self, state: WorldsState, now: Any, tick: Count, done: Bool[Array, " worlds"]
    ) -> Any:
        """With new episodes where one has ended, a few at a time."""

        def left(carried: Any) -> Any:
            return jnp.any(carried[-1])

        def some(carried: Any) -> Any:
            envs, seen, episodes, waiting = carried
            (places,) = jnp.nonzero(waiting, size=min(BEGINNING, self.count), fill_value=self.count)
            places = places.astype(jnp.int32)
            numbers = jnp.minimum(places, self.count - 1)
            keys = _keys(state.roots[numbers], numbers, episodes[numbers])
            fresh, first = self._begin(keys, tick, state.difficulties[numbers])
            envs, seen = jax.tree.map(
                lambda all_, new: all_.at[places].set(new, mode="drop"),
                (envs, seen),
                (fresh, first),
            )
            episodes = episodes.at[places].add(1, mode="drop")
            return envs, seen, episodes, waiting.at[places].set(values=False, mode="drop")

        envs, seen, episodes, _ = jax.lax.while_loop(left, some, (*now, state.episodes, done))
        return envs, seen, episodes

    def _begin(self, keys: Key[Array, " worlds"], tick: Count, difficulties: Any) -> Any:
        return jax.vmap(self.env.reset_at, (0, None, 0))(keys, tick, difficulties)


def episode_key(root: PRNGKeyArray, world: Count, episode: Count) -> PRNGKeyArray:
    """From which everything in an episode follows."""
    return jax.random.fold_in(jax.random.fold_in(root, world), episode)


def _keys(roots: Key[Array, " worlds"], worlds: Any, episodes: Any) -> Key[Array, " worlds"]:
    return jax.vmap(episode_key)(roots, worlds, episodes)


def with_tick(envs: EnvState, tick: Count | Int[Array, " worlds"] | None) -> EnvState:
    """Worlds whose clock stands there, or each of whose clocks does."""
    return eqx.tree_at(lambda all_: all_.fleet.tick, envs, tick)


def axes_of(envs: EnvState) -> Any:
    """Along which axis worlds are mapped: all of them but the clock."""
    return with_tick(jax.tree.map(lambda _: 0, envs), None)
