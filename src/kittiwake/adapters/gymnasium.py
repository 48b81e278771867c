"""Tasks as Gymnasium environments, one or many at once.

Actions and observations are those of all agents, concatenated, in float32; actions range from -1
to 1. An episode depends only on the seed and the indices of its environment and episode. The first
episode of the first environment of a vector equals that of a single environment with the same seed;
later ones begin on a clock that all of them share, and have other noise.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, UInt8
from typing_extensions import override

from kittiwake.adapters.compiled_env import compiled_env
from kittiwake.core.errors import did_you_mean
from kittiwake.core.extras import import_optional
from kittiwake.core.keys import seed_key
from kittiwake.runtime.engine import EngineName
from kittiwake.runtime.vector_env_engines import BatchStep, batch_engine
from kittiwake.runtime.wait_notice import wait_notice
from kittiwake.tasks.difficulty import check_difficulty
from kittiwake.tasks.env import Env, EnvState
from kittiwake.tasks.make import make
from kittiwake.tasks.task import Overrides
from kittiwake.tasks.vector_env import axes_of

try:
    import gymnasium
    from gymnasium.spaces import Box
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ModuleNotFoundError:
    import_optional("gymnasium", "learning")  # raises an error that names the extra
    raise

if TYPE_CHECKING:
    from kittiwake.film.snapshot_renderer import SnapshotRenderer

Numbers = Float[np.ndarray, "..."]
Image = UInt8[np.ndarray, "height width 3"]
# options and additional results of an environment
Info: TypeAlias = dict[str, Any]
SEED_LIMIT = 2**63
# width and height in pixels
IMAGE_SIZE = (480, 320)
RENDER_MODES = ["rgb_array"]
# options of reset()
DIFFICULTY, MASK = "difficulty", "reset_mask"
# NumPy's kinds of dtypes that an action may have: Boolean, integers, floating point
NUMBER_KINDS = "biuf"


class TaskEnv(gymnasium.Env[Numbers, Numbers]):
    """Gymnasium environment of a task.

    ``reset(options={"difficulty": 0.3})`` sets the part of the curriculum's variety, 0 to 1.
    """

    metadata = {"render_modes": RENDER_MODES}  # noqa: RUF012  Gymnasium's own

    def __init__(
        self,
        task: str | PathLike[str] | Env,
        *,
        conditions: str | None = None,
        overrides: Overrides = MappingProxyType({}),
        render_mode: str | None = None,
    ) -> None:
        _check_render_mode(render_mode)
        self._compiled = compiled_env(task, conditions, overrides)
        self.env = self._compiled.env
        self.metadata = _with_fps(self.metadata, self.env)
        self.observation_space, self.action_space = spaces(self.env)
        self.render_mode = render_mode
        self._root = seed_key(0)
        self._episode = 0
        self._seeded = False
        self._episode_ended: bool | None = None

    @override
    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[Numbers, Info]:
        super().reset(seed=seed)
        if seed is not None or not self._seeded:
            drawn = int(self.np_random.integers(SEED_LIMIT)) if seed is None else seed
            self._root, self._episode, self._seeded = seed_key(drawn), 0, True
        difficulty = _options(options, DIFFICULTY).get(DIFFICULTY, 1.0)
        check_difficulty(difficulty)
        with self.env.precision_context():
            reset = self._compiled.reset(self._root, self._episode, difficulty)
        self._floats, self._words, observation = reset
        self._episode += 1
        self._episode_ended = False
        return np.array(observation, np.float32), {}

    @override
    def step(self, action: ArrayLike) -> tuple[Numbers, float, bool, bool, Info]:
        self._check_reset()
        if self._episode_ended:
            gymnasium.logger.warn("step() after the end of an episode; call reset() first")
        checked = checked_action(action, (self.env.action_size,), _component_names(self.env))
        with self.env.precision_context():
            stepped = self._compiled.step(self._floats, self._words, checked)
        self._floats, self._words, results = stepped
        numbers = np.asarray(results)
        size, count = self.env.observation_size, len(self.env.agents)
        reward, terminated, truncated = numbers[size : size + 3].tolist()
        info = {"rewards": numbers[size + 3 :].copy()} if count > 1 else {}
        self._episode_ended = bool(terminated or truncated)
        observation = numbers[:size].astype(np.float32)
        return observation, reward, bool(terminated), bool(truncated), info

    @override
    def render(self) -> Image | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if self.render_mode is None:
            return None
        self._check_reset()
        with self.env.precision_context():
            rows = self._compiled.rows(self._floats, self._words)
        return self._snapshot_renderer.picture(_plain(rows))

    @override
    def close(self) -> None:
        self.__dict__.pop("_snapshot_renderer", None)

    def _check_reset(self) -> None:
        if self._episode_ended is None:
            message = "no episode has begun; call reset() first"
            raise gymnasium.error.ResetNeeded(message)

    @cached_property
    def _snapshot_renderer(self) -> "SnapshotRenderer":
        from kittiwake.film.snapshot_renderer import SnapshotRenderer

        return SnapshotRenderer(self.env.scenario, self.env.columns, IMAGE_SIZE)


class TaskVectorEnv(gymnasium.vector.VectorEnv[Numbers, Numbers, np.ndarray]):
    """Gymnasium vector environment: many copies of a task in one compiled step.

    A copy begins its next episode in the step that ends the previous one (``SAME_STEP``); the last
    observation is in ``info["final_obs"]``. ``engine`` names what compiles the step, and
    ``engine_reason`` why it is not the usual one.
    """

    # an attribute of Gymnasium's own vector environments, too, where libraries look for it
    autoreset_mode = AutoresetMode.SAME_STEP
    metadata = {  # noqa: RUF012  Gymnasium's own
        "render_modes": RENDER_MODES,
        "autoreset_mode": autoreset_mode,
    }

    def __init__(
        self,
        task: str | PathLike[str] | Env,
        num_envs: int = 1,
        *,
        conditions: str | None = None,
        overrides: Overrides = MappingProxyType({}),
        render_mode: str | None = None,
        engine: EngineName | None = None,
    ) -> None:
        if isinstance(num_envs, bool) or not hasattr(num_envs, "__index__") or num_envs < 1:
            message = f"`num_envs`: got {num_envs!r}; must be an integer of at least 1"
            raise ValueError(message)
        _check_render_mode(render_mode)
        self.env = make(task, conditions=conditions, overrides=overrides)
        self.num_envs, self.render_mode = num_envs, render_mode
        self.metadata = _with_fps(self.metadata, self.env)
        self.single_observation_space, self.single_action_space = spaces(self.env)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        with wait_notice(f"compiling the steps of {num_envs} environments"):
            self._batch = batch_engine(self.env, num_envs, engine)
        self.engine, self.engine_reason = self._batch.name, self._batch.reason
        self._has_begun = False
        with self.env.precision_context():
            self._rows = jax.jit(self._rows_of_each)

    @override
    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[Numbers, Info]:
        self._check_open()
        super().reset(seed=seed)
        checked = _options(options, DIFFICULTY, MASK)
        given = checked.get(DIFFICULTY, 1.0)
        check_difficulty(given)
        difficulty = float(given)
        if MASK in checked:
            mask = _checked_mask(checked[MASK], self.num_envs)
            return self._reset_masked(seed, mask, difficulty), {}
        drawn = int(self.np_random.integers(SEED_LIMIT)) if seed is None else seed
        self._has_begun = True
        return self._batch.reset(seed_key(drawn), difficulty), {}

    def _reset_masked(
        self, seed: int | None, mask: Bool[np.ndarray, " envs"], difficulty: float
    ) -> Numbers:
        if not self._has_begun:
            message = f"no episodes have begun; call reset() without {MASK!r} first"
            raise gymnasium.error.ResetNeeded(message)
        key = None if seed is None else seed_key(seed)
        return self._batch.reset_some(mask, key, difficulty)

    @override
    def step(
        self, actions: ArrayLike
    ) -> tuple[
        Numbers,
        Float[np.ndarray, " envs"],
        Bool[np.ndarray, " envs"],
        Bool[np.ndarray, " envs"],
        Info,
    ]:
        self._check_open()
        self._check_begun()
        shape = self.num_envs, self.env.action_size
        checked = checked_action(actions, shape, _component_names(self.env))
        stepped = self._batch.step(checked)
        info = self._info(stepped, stepped.terminated | stepped.truncated)
        return stepped.observation, stepped.reward, stepped.terminated, stepped.truncated, info

    def present_observations(self) -> Numbers:
        """Return the last observations of all environments, of shape (environments, numbers).

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        self._check_begun()
        return self._batch.observations

    def _check_open(self) -> None:
        if self.closed:
            message = "these environments are closed; make new ones"
            raise gymnasium.error.ClosedEnvironmentError(message)

    def _check_begun(self) -> None:
        if not self._has_begun:
            message = "no episodes have begun; call reset() first"
            raise gymnasium.error.ResetNeeded(message)

    def _info(self, stepped: BatchStep, done: Bool[np.ndarray, " envs"]) -> Info:
        """Return rewards of each agent and final observations, with masks of their environments."""
        info: Info = {}
        rewards = stepped.rewards if len(self.env.agents) > 1 else None
        if rewards is not None:
            info = {"rewards": rewards, "_rewards": np.ones(self.num_envs, bool)}
        if not done.any():
            return info
        final = np.full(self.num_envs, None, object)
        last = np.asarray(stepped.final_observation, np.float32)
        for index in np.flatnonzero(done):
            final[index] = last[index]
        final_info: Info = {}
        if rewards is not None:
            final_info = {"rewards": np.where(done[:, None], rewards, 0.0), "_rewards": done.copy()}
        ends = {"final_obs": final, "final_info": final_info}
        return info | ends | {f"_{name}": done.copy() for name in ends}

    @override
    def render(self) -> tuple[Image, ...] | None:
        if self.render_mode is None or not self._has_begun:
            return None
        with self.env.precision_context():
            rows = _plain(self._rows(self._batch.state.envs))
        return tuple(
            self._snapshot_renderer.picture({name: row[index] for name, row in rows.items()})
            for index in range(self.num_envs)
        )

    def _rows_of_each(self, envs: EnvState) -> dict[str, Array]:
        return jax.vmap(self.env.rows, (axes_of(envs),))(envs)

    @override
    def close_extras(self) -> None:
        self.__dict__.pop("_snapshot_renderer", None)

    @cached_property
    def _snapshot_renderer(self) -> "SnapshotRenderer":
        from kittiwake.film.snapshot_renderer import SnapshotRenderer

        return SnapshotRenderer(self.env.scenario, self.env.columns, IMAGE_SIZE)


def _with_fps(metadata: Info, env: Env) -> Info:
    """Return metadata with the control rate as the frame rate of rendering."""
    rate_hz = float(env.task.rate_hz)
    return {**metadata, "render_fps": int(rate_hz) if rate_hz.is_integer() else rate_hz}


def _check_render_mode(mode: str | None) -> None:
    """Check the render mode before the environment is built.

    Raises:
        ValueError: if the mode is unknown.
        MissingExtraError: if the renderer is not installed.
    """
    if mode is None:
        return
    if mode not in RENDER_MODES:
        message = f"`render_mode`: got {mode!r}; allowed: None, {', '.join(RENDER_MODES)}"
        raise ValueError(message)
    import_optional("mujoco", "film")


def action_array(name: str, action: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """Return an action as an array of numbers, which may be out of bounds or not finite.

    Args:
        name: name of the argument, for messages.
        action: action as given by the caller.
        shape: required shape.

    Raises:
        ValueError: if it has values that are no numbers, or another shape.
    """
    given = np.asarray(action)
    if given.dtype.kind not in NUMBER_KINDS:
        message = f"`{name}`: got values of {given.dtype}; must be numbers from -1 to 1"
        raise ValueError(message)
    if given.shape != shape:
        message = f"`{name}`: got shape {given.shape}; must be {shape}"
        raise ValueError(message)
    return given


def checked_action(
    action: ArrayLike, shape: tuple[int, ...], names: Sequence[str]
) -> Float[np.ndarray, "..."]:
    """Return an action clipped to -1 to 1 in float32, so that nothing is compiled twice.

    Args:
        action: action as given by the caller.
        shape: required shape; of two axes the first one counts environments.
        names: names of the components, along the last axis.

    Raises:
        ValueError: if it is not a valid action.
    """
    given = action_array("action", action, shape)
    if not np.isfinite(given).all():
        wrong = np.argwhere(~np.isfinite(given))
        *env_index, component = wrong[0].tolist()
        of_env = f" of environment {env_index[0]}" if env_index else ""
        more = f" (and {len(wrong) - 1} more like it)" if len(wrong) > 1 else ""
        message = (
            f"the action{of_env}: {names[component]} is {given[tuple(wrong[0])]}{more}; must be "
            "a finite number from -1 to 1"
        )
        raise ValueError(message)
    return np.clip(given if given.dtype.kind == "f" else given.astype(float), -1.0, 1.0).astype(
        np.float32
    )


def _component_names(env: Env) -> tuple[str, ...]:
    """Return the names of an action's components, with the agent as prefix if there are several."""
    if len(env.agents) == 1:
        return env.action_names
    return tuple(f"{agent}.{name}" for agent in env.agents for name in env.action_names)


def _plain(rows: Mapping[str, Array]) -> dict[str, np.ndarray]:
    return {name: np.asarray(row, np.float64) for name, row in rows.items()}


def _options(options: Info | None, *known: str) -> Info:
    """Return the checked options of ``reset``.

    Raises:
        ValueError: if an option is unknown.
    """
    for name in options or {}:
        if name not in known:
            message = f"reset() has no option {name!r}. {did_you_mean(str(name), list(known))}"
            raise ValueError(message)
    return options or {}


def _checked_mask(mask: ArrayLike, count: int) -> Bool[np.ndarray, " envs"]:
    """Return the checked mask of the environments to reset.

    Raises:
        ValueError: if it is not a Boolean array of the right shape, or selects no environment.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (count,):
        message = f"`{MASK}`: got {mask!r}; must be a NumPy array of {count} Boolean values"
        raise ValueError(message)
    if not mask.any():
        message = f"`{MASK}`: selects no environment; at least one value must be True"
        raise ValueError(message)
    return mask


def spaces(env: Env) -> tuple[Box, Box]:
    """Return the observation space and the action space of one environment."""
    count = len(env.agents)
    low, high = (
        np.tile(bound, count).astype(np.float32) for bound in (env.space.low, env.space.high)
    )
    return Box(low, high, dtype=np.float32), Box(-1.0, 1.0, (env.action_size,), np.float32)
