"""Batches of environments that are stepped from Python, by either engine."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jaxtyping import Bool, Float, PRNGKeyArray

from kittiwake import simd
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.runtime.engine import (
    EngineName,
    accelerator_reason,
    missing_text,
    require_engine,
    require_not_requested,
)
from kittiwake.runtime.program_cache import ProgramCache
from kittiwake.runtime.tiles import TiledTree, Tiles, compile_tiles
from kittiwake.sim.packing import key_words
from kittiwake.tasks.env import Env
from kittiwake.tasks.vector_env import VectorEnv, VectorEnvState, with_tick
from kittiwake.tasks.world_step import WorldState, begin_world, step_world

Numbers = Float[np.ndarray, "..."]
Flags = Bool[np.ndarray, " envs"]


class BatchStep(NamedTuple):
    """Result of a control step of all environments, as in ``VectorEnvStep``."""

    observation: Numbers
    reward: Numbers
    terminated: Flags
    truncated: Flags
    rewards: Numbers
    final_observation: Numbers


def batch_engine(env: Env, count: int, engine: EngineName | None = None) -> "SimdBatch | XlaBatch":
    """Return a batch of environments; ``engine`` is None for the one that suits the task.

    Raises:
        ScenarioError: if there is no such engine, or it cannot compile the task.
    """
    if require_engine(engine) == "xla":
        return XlaBatch(env, count)
    if engine is None and (reason := accelerator_reason()):
        return XlaBatch(env, count, reason)
    program = _WorldProgram(env)
    reason = program.cache.data("missing in many worlds", program.missing)
    if not reason:
        return SimdBatch(program, count)
    require_not_requested(engine, "task", reason)
    return XlaBatch(env, count, reason)


class XlaBatch:
    """Batch of environments that XLA compiles.

    Attributes:
        name: name of the engine.
        reason: why it is not the usual one; empty if it was asked for.
        code_bytes: None, since XLA does not give the size of its code.
        state: state of all environments, after the first reset.
    """

    name: EngineName = "xla"
    code_bytes: int | None = None

    def __init__(self, env: Env, count: int, reason: str = "") -> None:
        self.reason, self._env = reason, env
        many = VectorEnv(env, count)
        self._reset, self._reset_some = jax.jit(many.reset), jax.jit(many.reset_some)
        self._step = jax.jit(many.step, donate_argnums=0)

    @property
    def observations(self) -> Numbers:
        """Last observations of all environments, in an array of their own."""
        return self._observations.copy()

    def reset(self, key: PRNGKeyArray, difficulty: Real) -> Numbers:
        """Begin the first episode of each environment, and return the observations."""
        with self._env.precision_context():
            number = jnp.asarray(difficulty, jnp.result_type(float))
            self.state, observations = self._reset(key, number)
        self._observations = np.array(observations, np.float32)
        return self.observations

    def reset_some(self, which: Flags, key: PRNGKeyArray | None, difficulty: Real) -> Numbers:
        """Begin episodes of some environments, as ``VectorEnv.reset_some``."""
        with self._env.precision_context():
            number = jnp.asarray(difficulty, jnp.result_type(float))
            reset = self._reset_some(self.state, self._observations, which, key, number)
        self.state, observations = reset
        self._observations = np.array(observations, np.float32)
        return self.observations

    def step(self, actions: Numbers) -> BatchStep:
        """Return the result of a control step; where an episode ends, the next one begins."""
        with self._env.precision_context():
            stepped = self._step(self.state, actions)
        self.state = stepped.state
        self._observations = np.array(stepped.observation, np.float32)
        return BatchStep(self.observations, *(np.array(each) for each in stepped[2:]))


class _WorldProgram:
    """Step of one world, and the form of its state.

    Attributes:
        env: environment.
        cache: the compiled programs that are kept for later processes.
        state: shapes and types of the state of a world.
        varies: for each leaf of the state, True if it differs among worlds.
        observation: an observation.
    """

    def __init__(self, env: Env) -> None:
        self.env, self.cache = env, ProgramCache(env)
        with env.precision_context():
            number = jnp.result_type(float)
            tick, difficulty = jnp.int32(0), jnp.zeros((), number)
            envs = jax.eval_shape(env.reset_at, seed_key(0), tick, difficulty)[0]
            self.state = jax.eval_shape(
                lambda own: WorldState(own, seed_key(0), jnp.int32(0), jnp.zeros((), number)), envs
            )
            self.observation = jnp.zeros(env.observation_size, number)
        # all differ among worlds but the clock
        shared = with_tick(jax.tree.map(lambda _: True, envs), tick=False)
        self.varies: list[bool] = [*jax.tree.leaves(shared), True, True, True]

    @cached_property
    def step(self) -> ClosedJaxpr:
        """Program of a control step."""
        action = jnp.zeros(self.env.action_size, jnp.float32)
        return self._traced(partial(step_world, self.env), jnp.int32(0), action)

    def missing(self) -> str:
        """Return what ``kittiwake.simd`` does not support of the step; empty for nothing."""
        return missing_text(simd.unsupported(self.step))

    def step_kernel(self, lanes: int) -> simd.Kernel:
        """Return the step of so many worlds side by side."""
        return self.cache.kernel(f"step {lanes}", lambda: self._compiled(self.step, lanes))

    def begin_kernel(self, lanes: int) -> simd.Kernel:
        """Return the beginning of episodes of so many worlds side by side."""

        def compiled() -> simd.Kernel:
            flag = jnp.ones((), bool)
            begin = partial(begin_world, self.env)
            program = self._traced(begin, jnp.int32(0), self.observation, flag)
            return self._compiled(program, lanes)

        return self.cache.kernel(f"begin {lanes}", compiled)

    def _traced(self, function: Callable[..., ArrayTree], *arguments: ArrayTree) -> ClosedJaxpr:
        """Return the program of a function of a state and other arguments."""
        with self.env.precision_context():
            return jax.make_jaxpr(function)(self.state, *arguments)

    def _compiled(self, program: ClosedJaxpr, lanes: int) -> simd.Kernel:
        given = [*self.varies, *[True] * (len(program.in_avals) - len(self.varies))]
        returned = [*self.varies, *[True] * (len(program.out_avals) - len(self.varies))]
        with self.env.precision_context():
            return compile_tiles(program, given, returned, lanes)


class SimdBatch:
    """Batch of environments that ``kittiwake.simd`` compiles: tiles of worlds side by side.

    Arrays have the worlds of a tile as last axis, and the tiles as first one. The last tile is
    filled with worlds that nobody sees.

    Attributes:
        name: name of the engine.
        reason: empty, since it is the usual one.
    """

    name: EngineName = "simd"
    reason = ""

    def __init__(self, program: _WorldProgram, count: int) -> None:
        self._program, self._env = program, program.env
        self._tiles = tiles = Tiles(count, single_precision=self._env.single_precision)
        self._form = TiledTree(program.state, program.varies, tiles)
        indices = np.arange(tiles.number * tiles.lanes, dtype=np.int32)
        self._indices = indices.reshape(tiles.number, tiles.lanes)
        self._sides = self._form.buffers(), self._form.buffers()
        self._actions = tiles.array((self._env.action_size,), np.float32)
        self._padded_actions = np.zeros((self._indices.size, self._env.action_size), np.float32)
        self._observations = tiles.array(program.observation.shape, program.observation.dtype)
        self._side = 0

    @property
    def code_bytes(self) -> int | None:
        """Size of the compiled code of a step."""
        return self._step_kernel.code_bytes

    @cached_property
    def _step_kernel(self) -> simd.Kernel:
        return self._program.step_kernel(self._tiles.lanes)

    @cached_property
    def _step_calls(self) -> tuple[list[simd.BoundTiles], list[np.ndarray]]:
        """The step in both directions, and its results besides the state."""
        kernel = self._step_kernel
        results = [self._tiles.array(like.shape[:-1], like.dtype) for like in kernel.outputs]
        results = results[len(self._sides[0]) :]
        rest = [self._indices, self._actions]
        calls = [
            kernel.bind_tiles([*one, *rest], [*other, *results])
            for one, other in (self._sides, self._sides[::-1])
        ]
        return calls, results

    @cached_property
    def _begin_kernel(self) -> simd.Kernel:
        return self._program.begin_kernel(self._tiles.lanes)

    @property
    def state(self) -> VectorEnvState:
        """State of all environments, in arrays of JAX."""
        with self._env.precision_context():
            own = self._form.tree(self._sides[self._side])
        return VectorEnvState(own.env, own.root_key, own.episode, own.difficulty)

    @property
    def observations(self) -> Numbers:
        """Last observations of all environments, in an array of their own."""
        return self._tiles.by_world(self._observations).astype(np.float32)

    def reset(self, key: PRNGKeyArray, difficulty: Real) -> Numbers:
        """Begin the first episode of each environment, and return the observations."""
        for buffer in self._sides[self._side]:
            buffer[...] = 0
        everywhere = np.ones(self._tiles.count, bool)
        return self.reset_some(everywhere, key, difficulty)

    def reset_some(self, which: Flags, key: PRNGKeyArray | None, difficulty: Real) -> Numbers:
        """Begin episodes of some environments, as ``VectorEnv.reset_some``."""
        # worlds that nobody sees begin with the last one
        begins = self._tiles.filled(np.asarray(which, bool))
        keys, episodes, difficulties = self._sides[self._side][-3:]
        difficulties[begins] = difficulty
        if key is not None:
            words = key_words(key)
            for word in range(2):
                keys[:, word][begins] = words[word]
            episodes[begins] = 0
        present, later = self._sides[self._side], self._sides[1 - self._side]
        observations = np.empty_like(self._observations)
        rest = [self._indices, self._observations, begins]
        call = self._begin_kernel.bind_tiles([*present, *rest], [*later, observations])
        self._observations = observations
        self._run(call)
        return self.observations

    def step(self, actions: Numbers) -> BatchStep:
        """Return the result of a control step; where an episode ends, the next one begins."""
        self._padded_actions[: self._tiles.count] = actions
        worlds = self._actions.transpose(0, 2, 1)
        worlds[...] = self._padded_actions.reshape(worlds.shape)
        calls, results = self._step_calls
        self._run(calls[self._side])
        self._observations = results[0]
        return BatchStep(*[self._tiles.by_world(each) for each in results])

    def _run(self, call: simd.BoundTiles) -> None:
        """Call all tiles, and go on with the state that they have written."""
        self._tiles.run(call)
        self._side = 1 - self._side
