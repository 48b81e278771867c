"""Many worlds of one task, stepped together, each beginning anew as soon as its episode ends."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, PRNGKeyArray

from kittiwake.geometry.scalar import Count, Real
from kittiwake.tasks.env import Env, EnvState

AXIS = "worlds"
# so many episodes begin at once; more of them take turns
BEGINNING = 32


class WorldsState(eqx.Module):
    """All worlds; their clock is one.

    Attributes:
        envs: every world's, along a leading axis; only the tick is shared.
        root: from which the episodes of all worlds follow.
        episodes: how many episodes each world has begun.
        difficulty: of the episodes that begin.
    """

    envs: EnvState
    root: PRNGKeyArray
    episodes: Int[Array, " worlds"]
    difficulty: Real


class Outcome(NamedTuple):
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

    ``reset`` and ``step`` are pure. A world's bits depend on its number, its episodes and its
    actions, not on what the others do.
    """

    def __init__(self, env: Env, count: int) -> None:
        self.env, self.count = env, count
        self._numbers = jnp.arange(count, dtype=jnp.int32)

    def reset(
        self, key: PRNGKeyArray, difficulty: Real = 1.0
    ) -> tuple[WorldsState, Float[Array, "worlds numbers"]]:
        """The first episode of each world."""
        hard = jnp.asarray(difficulty, jnp.result_type(float))
        tick, first = jnp.zeros((), jnp.int32), jnp.zeros(self.count, jnp.int32)
        keys = _keys(key, self._numbers, first)
        envs, seen = self._begin(keys, tick, hard)
        return WorldsState(with_tick(envs, tick), key, first + 1, hard), seen

    def step(self, state: WorldsState, actions: Float[Array, "worlds numbers"] | None) -> Outcome:
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
        envs, seen, episodes = self._renewed(state, stepped, tick, done)
        later = WorldsState(with_tick(envs, tick), state.root, episodes, state.difficulty)
        return Outcome(
            *(later, seen, stepped.reward, stepped.terminated, stepped.truncated),
            *(stepped.rewards, stepped.observation),
        )

    def _renewed(self, state: WorldsState, stepped: Any, tick: Count, done: Any) -> Any:
        """With new episodes where one has ended, a few at a time."""

        def left(carried: Any) -> Any:
            return jnp.any(carried[-1])

        def some(carried: Any) -> Any:
            envs, seen, episodes, waiting = carried
            (places,) = jnp.nonzero(waiting, size=min(BEGINNING, self.count), fill_value=self.count)
            places = places.astype(jnp.int32)
            numbers = jnp.minimum(places, self.count - 1)
            keys = _keys(state.root, numbers, episodes[numbers])
            fresh, first = self._begin(keys, tick, state.difficulty)
            envs, seen = jax.tree.map(
                lambda all_, new: all_.at[places].set(new, mode="drop"),
                (envs, seen),
                (fresh, first),
            )
            episodes = episodes.at[places].add(1, mode="drop")
            return envs, seen, episodes, waiting.at[places].set(values=False, mode="drop")

        begun = (stepped.state, stepped.observation, state.episodes, done)
        envs, seen, episodes, _ = jax.lax.while_loop(left, some, begun)
        return envs, seen, episodes

    def _begin(self, keys: Key[Array, " worlds"], tick: Count, difficulty: Real) -> Any:
        return jax.vmap(self.env.reset_at, (0, None, None))(keys, tick, difficulty)


def episode_key(root: PRNGKeyArray, world: Count, episode: Count) -> PRNGKeyArray:
    """From which everything in an episode follows."""
    return jax.random.fold_in(jax.random.fold_in(root, world), episode)


def _keys(root: PRNGKeyArray, worlds: Any, episodes: Any) -> Key[Array, " worlds"]:
    return jax.vmap(episode_key, (None, 0, 0))(root, worlds, episodes)


def with_tick(envs: EnvState, tick: Count | None) -> EnvState:
    """Worlds whose clock stands there."""
    return eqx.tree_at(lambda all_: all_.fleet.tick, envs, tick)


def axes_of(envs: EnvState) -> Any:
    """Along which axis worlds are mapped: all of them but the clock."""
    return with_tick(jax.tree.map(lambda _: 0, envs), None)
