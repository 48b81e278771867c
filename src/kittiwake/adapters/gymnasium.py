"""Tasks as Gymnasium environments, one world or many at once.

Actions and observations are those of all agents, one after another, in float32; actions go from -1
to 1. Episodes follow from the seed and their number alone: the first world of a vector has those of
a single environment with the same seed.
"""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Float

from kittiwake.core.keys import seed_key
from kittiwake.sim.packing import Packing
from kittiwake.tasks.env import Env
from kittiwake.tasks.make import make
from kittiwake.tasks.worlds import Worlds, WorldsState, episode_key

Numbers = Float[np.ndarray, "..."]
SEEDS = 2**63


class TaskEnv(gymnasium.Env[Numbers, Numbers]):
    """One world of a task.

    ``reset(options={"difficulty": 0.3})`` has that much of the curriculum's variety.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012  Gymnasium's own

    def __init__(
        self,
        task: str | PathLike[str],
        *,
        conditions: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.env = make(task, conditions=conditions, overrides=overrides or {})
        self.observation_space, self.action_space = spaces(self.env)
        self.render_mode = render_mode
        self._root = seed_key(0)
        self._episode = 0
        self._seeded = False
        with self.env.mode():
            form = jax.eval_shape(self.env.reset, self._root)[0]
            self._packing = Packing.of(form)
            self._reset = jax.jit(self._begun)
            self._step = jax.jit(self._stepped)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """A new episode."""
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            given = int(self.np_random.integers(SEEDS)) if seed is None else seed
            self._root, self._episode, self._seeded = seed_key(given), 0, True
        difficulty = (options or {}).get("difficulty", 1.0)
        with self.env.mode():
            self._floats, self._words, seen = self._reset(self._root, self._episode, difficulty)
        self._episode += 1
        return np.asarray(seen, np.float32), {}

    def step(self, action: Numbers) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """A control step."""
        with self.env.mode():
            self._floats, self._words, told = self._step(
                self._floats, self._words, np.asarray(action, self._floats.dtype)
            )
        numbers = np.asarray(told)
        size, count = self.env.observation_size, len(self.env.agents)
        reward, terminated, truncated = numbers[size : size + 3].tolist()
        info = {"rewards": numbers[size + 3 :]} if count > 1 else {}
        seen = numbers[:size].astype(np.float32)
        return seen, reward, bool(terminated), bool(truncated), info

    def _begun(self, root: Any, episode: Any, difficulty: Any) -> Any:
        state, seen = self.env.reset(episode_key(root, 0, episode), difficulty)
        return *self._packing.pack(state), seen

    def _stepped(self, floats: Any, words: Any, action: Any) -> Any:
        """What Python is told goes back as one array."""
        state = self._packing.unpack(floats, words)
        key = jax.random.fold_in(state.key, state.steps)
        step = self.env.step(key, state, action)
        dtype = step.observation.dtype
        ends = [jnp.asarray(one, dtype) for one in (step.reward, step.terminated, step.truncated)]
        told = jnp.concatenate([step.observation, jnp.stack(ends), step.rewards])
        return *self._packing.pack(step.state), told


class TaskVectorEnv(gymnasium.vector.VectorEnv[Numbers, Numbers, np.ndarray]):
    """Many worlds of a task in one compiled step.

    A world begins its next episode in the step that ends the one before (``SAME_STEP``); what was
    seen at the end is in ``info["final_obs"]``.
    """

    metadata = {  # noqa: RUF012  Gymnasium's own
        "render_modes": ["rgb_array"],
        "render_fps": 50,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        task: str | PathLike[str],
        num_envs: int = 1,
        *,
        conditions: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.env = make(task, conditions=conditions, overrides=overrides or {})
        self.num_envs, self.render_mode = num_envs, render_mode
        self.single_observation_space, self.single_action_space = spaces(self.env)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._worlds = Worlds(self.env, num_envs)
        self._state: WorldsState | None = None
        with self.env.mode():
            self._reset = jax.jit(self._worlds.reset)
            self._step = jax.jit(self._worlds.step, donate_argnums=0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """New episodes in all worlds; ``options`` may give their ``difficulty``, from 0 to 1."""
        super().reset(seed=seed)
        given = int(self.np_random.integers(SEEDS)) if seed is None else seed
        difficulty = (options or {}).get("difficulty", 1.0)
        with self.env.mode():
            self._state, seen = self._reset(seed_key(given), difficulty)
        return np.asarray(seen, np.float32), {}

    def step(
        self, actions: Numbers
    ) -> tuple[
        Numbers,
        Float[np.ndarray, " worlds"],
        Bool[np.ndarray, " worlds"],
        Bool[np.ndarray, " worlds"],
        dict[str, Any],
    ]:
        """A control step of all worlds."""
        with self.env.mode():
            outcome = self._step(self._state, actions)
        self._state = outcome.state
        ended = np.asarray(outcome.terminated), np.asarray(outcome.truncated)
        done = ended[0] | ended[1]
        info: dict[str, Any] = {}
        if done.any():
            final = np.full(self.num_envs, None, object)
            last = np.asarray(outcome.final_observation, np.float32)
            for world in np.flatnonzero(done):
                final[world] = last[world]
            info = {"final_obs": final, "_final_obs": done}
        seen = np.asarray(outcome.observation, np.float32)
        return seen, np.asarray(outcome.reward), *ended, info


def spaces(env: Env) -> tuple[Box, Box]:
    """The observations and actions of one world."""
    count = len(env.agents)
    low, high = (
        np.tile(bound, count).astype(np.float32) for bound in (env.space.low, env.space.high)
    )
    return Box(low, high, dtype=np.float32), Box(-1.0, 1.0, (env.action_size,), np.float32)
