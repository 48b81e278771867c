"""Tasks as Gymnasium environments, one world or many at once.

Actions and observations are those of all agents, one after another, in float32; actions go from -1
to 1. Episodes follow from the seed and the numbers of the world and the episode alone. The first
one of the first world of a vector is that of a single environment with the same seed; later ones
begin on a clock that all worlds share, and have other noise.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from os import PathLike, fspath
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, UInt8
from typing_extensions import override

from kittiwake.core.errors import did_you_mean
from kittiwake.core.extras import optional
from kittiwake.core.keys import seed_key
from kittiwake.film.portrait import Portrait
from kittiwake.scenario.document import written
from kittiwake.sim.packing import Packing
from kittiwake.tasks import TASKS
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.make import make
from kittiwake.tasks.worlds import Worlds, WorldsState, WorldsStep, axes_of, episode_key

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    optional("gymnasium", "learning")  # raises an error that names the extra
    raise

Numbers = Float[np.ndarray, "..."]
Picture = UInt8[np.ndarray, "height width 3"]
# a task, its conditions, and overrides by path as they are written
TaskKey = tuple[str, str | None, tuple[tuple[str, str], ...]]
SEEDS = 2**63
# width and height in pixels
PICTURE = (480, 320)
RENDER_MODES = ["rgb_array"]
# of reset()
DIFFICULTY, MASK = "difficulty", "reset_mask"
# NumPy's letters for what may be an action: truth values, whole numbers, others
NUMBERS = "biuf"


class Single:
    """The functions of one world, compiled when they are used first; its state in two arrays."""

    def __init__(self, env: Env) -> None:
        self.env = env
        with env.mode():
            self._packing = Packing.of(jax.eval_shape(env.reset, seed_key(0))[0])
            self.reset = jax.jit(self._reset)
            self.step = jax.jit(self._step)
            self.rows = jax.jit(self._rows)

    def _reset(self, root: Any, episode: Any, difficulty: Any) -> Any:
        state, seen = self.env.reset(episode_key(root, 0, episode), difficulty)
        return *self._packing.pack(state), seen

    def _step(self, floats: Any, words: Any, action: Any) -> Any:
        """What Python is told goes back as one array."""
        state = self._packing.unpack(floats, words)
        key = jax.random.fold_in(state.key, state.steps)
        step = self.env.step(key, state, action)
        dtype = step.observation.dtype
        ends = [jnp.asarray(one, dtype) for one in (step.reward, step.terminated, step.truncated)]
        told = jnp.concatenate([step.observation, jnp.stack(ends), step.rewards])
        return *self._packing.pack(step.state), told

    def _rows(self, floats: Any, words: Any) -> Any:
        return self.env.rows(self._packing.unpack(floats, words))


# what environments of the same task share, as long as one of them lives; compiled, it takes 40 MB
_SHARED: WeakValueDictionary[TaskKey, Single] = WeakValueDictionary()


@lru_cache(maxsize=1)
def _of_a_task(key: TaskKey) -> Single:
    """What environments of a task share; that of the last one is kept for the next."""
    task, conditions, overrides = key
    shared = _SHARED.get(key)
    if shared is None:
        given = {path: json.loads(value) for path, value in overrides}
        shared = _SHARED[key] = Single(make(task, conditions=conditions, overrides=given))
    return shared


def single(
    task: str | PathLike[str], conditions: str | None, overrides: Mapping[str, Any]
) -> Single:
    """The functions of a task's world; of a file, which may change, they are made anew."""
    if fspath(task) in TASKS.entries:
        values = tuple((path, written(value)) for path, value in sorted(overrides.items()))
        return _of_a_task((fspath(task), conditions, values))
    return Single(make(task, conditions=conditions, overrides=overrides))


class TaskEnv(gymnasium.Env[Numbers, Numbers]):
    """One world of a task.

    ``reset(options={"difficulty": 0.3})`` has that much of the curriculum's variety.
    """

    metadata = {"render_modes": RENDER_MODES}  # noqa: RUF012  Gymnasium's own

    def __init__(
        self,
        task: str | PathLike[str],
        *,
        conditions: str | None = None,
        overrides: Mapping[str, Any] = MappingProxyType({}),
        render_mode: str | None = None,
    ) -> None:
        _check_render_mode(render_mode)
        self._single = single(task, conditions, overrides)
        self.env = self._single.env
        self.metadata = _with_fps(self.metadata, self.env)
        self.observation_space, self.action_space = spaces(self.env)
        self.render_mode = render_mode
        self._root = seed_key(0)
        self._episode = 0
        self._seeded = False
        self._ended: bool | None = None

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            given = int(self.np_random.integers(SEEDS)) if seed is None else seed
            self._root, self._episode, self._seeded = seed_key(given), 0, True
        difficulty = _options(options, DIFFICULTY).get(DIFFICULTY, 1.0)
        check_difficulty(difficulty)
        with self.env.mode():
            reset = self._single.reset(self._root, self._episode, difficulty)
        self._floats, self._words, seen = reset
        self._episode += 1
        self._ended = False
        return np.array(seen, np.float32), {}

    @override
    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        self._check_begun()
        if self._ended:
            gymnasium.logger.warn("step() after the end of an episode; call reset() instead.")
        given = checked_action(action, (self.env.action_size,), _component_names(self.env))
        with self.env.mode():
            stepped = self._single.step(self._floats, self._words, given)
        self._floats, self._words, told = stepped
        numbers = np.asarray(told)
        size, count = self.env.observation_size, len(self.env.agents)
        reward, terminated, truncated = numbers[size : size + 3].tolist()
        info = {"rewards": numbers[size + 3 :].copy()} if count > 1 else {}
        self._ended = bool(terminated or truncated)
        seen = numbers[:size].astype(np.float32)
        return seen, reward, bool(terminated), bool(truncated), info

    @override
    def render(self) -> Picture | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.render_mode is None:
            return None
        self._check_begun()
        with self.env.mode():
            rows = self._single.rows(self._floats, self._words)
        return self._portrait.picture(_plain(rows))

    @override
    def close(self) -> None:
        self.__dict__.pop("_portrait", None)

    def _check_begun(self) -> None:
        if self._ended is None:
            message = "there is no episode yet; call reset() first"
            raise gymnasium.error.ResetNeeded(message)

    @cached_property
    def _portrait(self) -> Portrait:
        return Portrait(self.env.scenario, self.env.columns, PICTURE)


class TaskVectorEnv(gymnasium.vector.VectorEnv[Numbers, Numbers, np.ndarray]):
    """Many worlds of a task in one compiled step.

    A world begins its next episode in the step that ends the one before (``SAME_STEP``); what was
    seen at the end is in ``info["final_obs"]``.
    """

    metadata = {  # noqa: RUF012  Gymnasium's own
        "render_modes": RENDER_MODES,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        task: str | PathLike[str],
        num_envs: int = 1,
        *,
        conditions: str | None = None,
        overrides: Mapping[str, Any] = MappingProxyType({}),
        render_mode: str | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not hasattr(num_envs, "__index__") or num_envs < 1:
            message = f"num_envs of {num_envs!r} is not allowed; must be a whole number, 1 or more"
            raise ValueError(message)
        _check_render_mode(render_mode)
        self.env = make(task, conditions=conditions, overrides=overrides)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = _with_fps(self.metadata, self.env)
        self.single_observation_space, self.single_action_space = spaces(self.env)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._worlds = Worlds(self.env, num_envs)
        self._state: WorldsState | None = None
        with self.env.mode():
            self._reset = jax.jit(self._worlds.reset)
            self._reset_some = jax.jit(self._worlds.reset_some)
            self._step = jax.jit(self._worlds.step, donate_argnums=0)
            self._rows = jax.jit(self._rows_of_each)

    @override
    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        super().reset(seed=seed)
        given = _options(options, DIFFICULTY, MASK)
        difficulty = given.get(DIFFICULTY, 1.0)
        check_difficulty(difficulty)
        hard = np.float32(difficulty)
        if MASK in given:
            return self._some_reset(seed, _checked_mask(given[MASK], self.num_envs), hard), {}
        drawn = int(self.np_random.integers(SEEDS)) if seed is None else seed
        with self.env.mode():
            self._state, seen = self._reset(seed_key(drawn), hard)
        self._seen = np.array(seen, np.float32)
        return self._seen.copy(), {}

    def _some_reset(
        self, seed: int | None, which: Bool[np.ndarray, " worlds"], difficulty: Any
    ) -> Numbers:
        if self._state is None:
            message = f"there are no episodes yet; call reset() without {MASK!r} first"
            raise gymnasium.error.ResetNeeded(message)
        with self.env.mode():
            key = None if seed is None else seed_key(seed)
            begun = self._reset_some(self._state, self._seen, which, key, difficulty)
        self._state, seen = begun
        self._seen = np.array(seen, np.float32)
        return self._seen.copy()

    @override
    def step(
        self, actions: Any
    ) -> tuple[
        Numbers,
        Float[np.ndarray, " worlds"],
        Bool[np.ndarray, " worlds"],
        Bool[np.ndarray, " worlds"],
        dict[str, Any],
    ]:
        if self._state is None:
            message = "there are no episodes yet; call reset() first"
            raise gymnasium.error.ResetNeeded(message)
        shape = self.num_envs, self.env.action_size
        given = checked_action(actions, shape, _component_names(self.env))
        with self.env.mode():
            outcome = self._step(self._state, given)
        self._state = outcome.state
        ended = np.array(outcome.terminated), np.array(outcome.truncated)
        done = ended[0] | ended[1]
        self._seen = np.array(outcome.observation, np.float32)
        info = self._told(outcome, done)
        return self._seen.copy(), np.array(outcome.reward), *ended, info

    def _told(self, outcome: WorldsStep, done: Bool[np.ndarray, " worlds"]) -> dict[str, Any]:
        """Rewards of each agent, and what ended, each with a mask of the worlds that it is of."""
        info: dict[str, Any] = {}
        each = np.array(outcome.rewards) if len(self.env.agents) > 1 else None
        if each is not None:
            info = {"rewards": each, "_rewards": np.ones(self.num_envs, bool)}
        if not done.any():
            return info
        final = np.full(self.num_envs, None, object)
        last = np.asarray(outcome.final_observation, np.float32)
        for world in np.flatnonzero(done):
            final[world] = last[world]
        told: dict[str, Any] = {}
        if each is not None:
            told = {"rewards": np.where(done[:, None], each, 0.0), "_rewards": done.copy()}
        ends = {"final_obs": final, "final_info": told}
        return info | ends | {f"_{name}": done.copy() for name in ends}

    @override
    def render(self) -> tuple[Picture, ...] | None:
        if self.render_mode is None or self._state is None:
            return None
        with self.env.mode():
            rows = _plain(self._rows(self._state.envs))
        return tuple(
            self._portrait.picture({name: row[world] for name, row in rows.items()})
            for world in range(self.num_envs)
        )

    def _rows_of_each(self, envs: EnvState) -> Any:
        return jax.vmap(self.env.rows, (axes_of(envs),))(envs)

    @override
    def close_extras(self) -> None:
        self.__dict__.pop("_portrait", None)

    @cached_property
    def _portrait(self) -> Portrait:
        return Portrait(self.env.scenario, self.env.columns, PICTURE)


def _with_fps(metadata: Mapping[str, Any], env: Env) -> dict[str, Any]:
    """With as many pictures a second as there are control steps."""
    rate_hz = float(env.task.rate_hz)
    return {**metadata, "render_fps": int(rate_hz) if rate_hz.is_integer() else rate_hz}


def _check_render_mode(mode: str | None) -> None:
    """Refuses pictures that could not be drawn, before anybody has waited for them.

    Raises:
        ValueError: for a mode that there is not.
        MissingExtraError: without what draws.
    """
    if mode is None:
        return
    if mode not in RENDER_MODES:
        message = f"render_mode {mode!r} is not allowed; allowed: None, {', '.join(RENDER_MODES)}"
        raise ValueError(message)
    optional("mujoco", "film")


def checked_action(
    action: Any, shape: tuple[int, ...], names: Sequence[str]
) -> Float[np.ndarray, "..."]:
    """Numbers from -1 to 1 of always the same type, so that nothing is compiled twice.

    Args:
        action: what was given.
        shape: what it must have; of two axes the first is that of the worlds.
        names: of the components, along its last axis.

    Raises:
        ValueError: for what is no action.
    """
    given = np.asarray(action)
    if given.dtype.kind not in NUMBERS:
        message = f"an action of {given.dtype} is not allowed; give numbers from -1 to 1"
        raise ValueError(message)
    if given.shape != shape:
        message = f"an action of shape {given.shape} is not allowed; it must have {shape}"
        raise ValueError(message)
    wrong = np.argwhere(~np.isfinite(given))
    if len(wrong):
        *world, component = wrong[0].tolist()
        whose = f" of world {world[0]}" if world else ""
        more = f" (and {len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
        message = (
            f"the action{whose}: {names[component]} is {given[tuple(wrong[0])]}{more}; must be a "
            "finite number from -1 to 1"
        )
        raise ValueError(message)
    return np.clip(given if given.dtype.kind == "f" else given.astype(float), -1.0, 1.0).astype(
        np.float32
    )


def _component_names(env: Env) -> tuple[str, ...]:
    """What an action's numbers are, in order; of several agents with their names before."""
    if len(env.agents) == 1:
        return env.action_names
    return tuple(f"{agent}.{name}" for agent in env.agents for name in env.action_names)


def _plain(rows: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(row, np.float64) for name, row in rows.items()}


def _options(options: Mapping[str, Any] | None, *known: str) -> Mapping[str, Any]:
    """What ``reset`` is told.

    Raises:
        ValueError: for what it does not know.
    """
    for name in options or {}:
        if name not in known:
            message = (
                f"there is no option {name!r} of reset(). {did_you_mean(str(name), list(known))}"
            )
            raise ValueError(message)
    return options or {}


def _checked_mask(mask: Any, count: int) -> Bool[np.ndarray, " worlds"]:
    """Which worlds are to begin anew.

    Raises:
        ValueError: for what does not say that, or says none.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        message = f"{MASK} {mask!r} is not allowed; give a NumPy array of {count} truth values"
        raise ValueError(message)
    if not mask.any():
        message = f"{MASK} names no world; at least one value must be True"
        raise ValueError(message)
    return mask


def spaces(env: Env) -> tuple[Box, Box]:
    """The observations and actions of one world."""
    count = len(env.agents)
    low, high = (
        np.tile(bound, count).astype(np.float32) for bound in (env.space.low, env.space.high)
    )
    return Box(low, high, dtype=np.float32), Box(-1.0, 1.0, (env.action_size,), np.float32)
