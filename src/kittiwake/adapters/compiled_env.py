"""Functions of a task's environment, compiled for one world and shared by equal environments."""

import json
from collections.abc import Callable
from functools import cached_property, lru_cache
from os import PathLike, fspath
from types import MappingProxyType
from weakref import WeakValueDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from kittiwake.core.arguments import TEXT, checked_arguments
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.runtime.program_cache import ProgramCache
from kittiwake.runtime.simd_engine import SimdEngine
from kittiwake.runtime.wait_notice import wait_notice
from kittiwake.runtime.xla_engine import XlaEngine
from kittiwake.scenario.document import written
from kittiwake.sim.packing import Packing
from kittiwake.simd import UnsupportedError
from kittiwake.tasks import TASKS
from kittiwake.tasks.env import Env
from kittiwake.tasks.make import TASK_OR_ENV, make
from kittiwake.tasks.task import Overrides
from kittiwake.tasks.vector_env import episode_key

# task, conditions, and overrides as pairs of path and YAML text
TaskKey = tuple[str, str | None, tuple[tuple[str, str], ...]]


class CompiledEnv:
    """Functions of an environment, compiled at their first use; its state is in two arrays."""

    def __init__(self, env: Env) -> None:
        self.env = env
        self._cache = ProgramCache(env)
        with env.precision_context():
            self._shape = jax.eval_shape(env.reset, seed_key(0))[0]
            self._packing = Packing.of(self._shape)
            self._packed = jax.eval_shape(self._packing.pack, self._shape)

    @cached_property
    def reset(self) -> Callable[..., ArrayTree]:
        """Function from root key, number of the episode and difficulty to state and observation."""
        return self._compiled("reset", self._reset, seed_key(0), np.int32(0), jnp.zeros(()))

    @cached_property
    def step(self) -> Callable[..., ArrayTree]:
        """Function from state and action to state and results."""
        return self._compiled(
            "step", self._step, *self._packed, np.zeros(self.env.action_size, np.float32)
        )

    @cached_property
    def rows(self) -> Callable[..., ArrayTree]:
        """Function from a state to the rows of the log."""
        return self._compiled("rows", self._rows, *self._packed)

    def _compiled(
        self, name: str, function: Callable[..., ArrayTree], *example: ArrayTree
    ) -> Callable[..., ArrayTree]:
        notice = wait_notice(f"compiling {name} of this task; later steps take no time")
        with notice, self.env.precision_context():
            try:
                return SimdEngine(self._cache).compile(name, function, *example)
            except UnsupportedError:
                return XlaEngine().compile(name, function, *example)

    def _reset(
        self, root: PRNGKeyArray, episode: Integer, difficulty: Real
    ) -> tuple[Array, Array, Array]:
        state, observation = self.env.reset(episode_key(root, 0, episode), difficulty)
        return *self._packing.pack(state), observation

    def _step(self, floats: Array, words: Array, action: Array) -> tuple[Array, Array, Array]:
        """Return the packed state, and all results for Python in one array."""
        state = self._packing.unpack(floats, words)
        key = jax.random.fold_in(state.key, state.steps)
        step = self.env.step(key, state, action)
        dtype = step.observation.dtype
        ends = [jnp.asarray(x, dtype) for x in (step.reward, step.terminated, step.truncated)]
        results = jnp.concatenate([step.observation, jnp.stack(ends), step.rewards])
        return *self._packing.pack(step.state), results

    def _rows(self, floats: Array, words: Array) -> dict[str, Array]:
        return self.env.rows(self._packing.unpack(floats, words))


# shared by the environments of a task as long as one of them exists; compiled it takes 40 MB
_SHARED_ENVS: WeakValueDictionary[TaskKey, CompiledEnv] = WeakValueDictionary()


@lru_cache(maxsize=1)
def _shared_env(key: TaskKey) -> CompiledEnv:
    """Return the functions that environments of a task share; those used last are kept alive."""
    task, conditions, overrides = key
    shared = _SHARED_ENVS.get(key)
    if shared is None:
        values = {path: json.loads(value) for path, value in overrides}
        shared = _SHARED_ENVS[key] = CompiledEnv(
            make(task, conditions=conditions, overrides=values)
        )
    return shared


@checked_arguments(task=TASK_OR_ENV, conditions=TEXT)
def compiled_env(
    task: str | PathLike[str] | Env,
    conditions: str | None = None,
    overrides: Overrides = MappingProxyType({}),
) -> CompiledEnv:
    """Return the compiled environment of a task; for a file, which may change, a new one."""
    if not isinstance(task, Env) and fspath(task) in TASKS.entries:
        values = tuple((path, written(value)) for path, value in sorted(overrides.items()))
        return _shared_env((fspath(task), conditions, values))
    return CompiledEnv(make(task, conditions=conditions, overrides=overrides))
