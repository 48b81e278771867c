"""The engine that compiles by ``kittiwake.simd``: soon ready, and fast for few vehicles."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from kittiwake import simd
from kittiwake.core.arrays import ArrayTree
from kittiwake.runtime.engine import AnyArray, EngineName, Outputs, StartExample, StepExample
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.program_cache import ProgramCache
from kittiwake.sim.packing import is_key, key_words, wrapped_keys
from kittiwake.sim.structure import Numbers


class SimdEngine:
    """Engine that compiles by ``kittiwake.simd``.

    Attributes:
        cache: the compiled programs that are kept.
    """

    def __init__(self, cache: ProgramCache) -> None:
        self.cache = cache

    @property
    def name(self) -> EngineName:
        """The name by which it is chosen."""
        return "simd"

    def compile(
        self, name: str | None, function: Callable[..., ArrayTree], *example: ArrayTree
    ) -> Callable[..., ArrayTree]:
        """Return a compiled function.

        Raises:
            UnsupportedError: with all primitives that are not supported.
        """
        return SimdFunction(partial(self.cache.kernel, name), function, example)

    def compile_start(
        self, name: str, start: StartExample
    ) -> Callable[[Numbers, PRNGKeyArray], FlightState]:
        """Return a compiled function of the initial state.

        Raises:
            UnsupportedError: with all primitives that are not supported.
        """
        kernel = self.cache.kernel(name, partial(_compiled_start, start))

        def started(numbers: Numbers, key: PRNGKeyArray) -> FlightState:
            floats, words = kernel(*jax.tree.leaves(numbers), key_words(key))
            return start.form.flight_state(floats, words)

        return started

    def compile_step(self, name: str | None, step: StepExample) -> "SimdStep":
        """Return a compiled step of a fleet.

        Raises:
            UnsupportedError: with all primitives that are not supported.
        """
        return SimdStep(partial(self.cache.hoisted, name), step)


# return kernels, compiled if they are not kept
KeptKernel: TypeAlias = Callable[[Callable[[], simd.Kernel]], simd.Kernel]
KeptHoisted: TypeAlias = Callable[[Callable[[], simd.HoistedKernels]], simd.HoistedKernels]


class SimdFunction:
    """Compiled function from trees of arrays to a tree of arrays of NumPy."""

    def __init__(
        self, kept: KeptKernel, function: Callable[..., ArrayTree], example: tuple[ArrayTree, ...]
    ) -> None:
        # traced once for both
        traced = jax.jit(function)
        self._kernel = kept(lambda: simd.compile_jaxpr(jax.make_jaxpr(traced)(*example)))
        self._shapes, self._treedef = jax.tree.flatten(jax.eval_shape(traced, *example))

    def __call__(self, *arguments: ArrayTree) -> ArrayTree:
        """Return the value of the function."""
        inputs = [
            np.moveaxis(key_words(leaf), -1, 0).copy()
            if isinstance(leaf, jax.Array) and is_key(leaf)
            else np.asarray(leaf, like.dtype, order="C")
            for leaf, like in zip(jax.tree.leaves(arguments), self._kernel.inputs, strict=True)
        ]
        leaves = [
            _keys(array) if is_key(like) else array
            for array, like in zip(self._kernel(*inputs), self._shapes, strict=True)
        ]
        return jax.tree.unflatten(self._treedef, leaves)


def _keys(words: np.ndarray) -> Array:
    last = np.moveaxis(words, 0, -1)
    return wrapped_keys(last.shape, last.tobytes())


class SimdStep:
    """Compiled step of a fleet, whose buffers are bound once.

    A state alternates between two pairs of buffers, so that a step copies what it returns and
    nothing else.
    """

    def __init__(self, kept: KeptHoisted, step: StepExample) -> None:
        self._form = step.form
        constants, self._kernel = kept(partial(_compiled, step))
        self._inputs = [np.zeros(like.shape, like.dtype) for like in self._kernel.inputs]
        self._outputs = [np.zeros(like.shape, like.dtype) for like in self._kernel.outputs]
        states = self._inputs[-2:], self._outputs[:2]
        self._states, self._rows = states, self._outputs[2:]
        self._calls = [
            self._kernel.bind([*self._inputs[:-2], *one], [*other, *self._rows])
            for one, other in (states, states[::-1])
        ]
        self._of_numbers = len(constants.outputs)
        end = self._of_numbers + len(constants.inputs)
        self._compute_constants = constants.bind(
            self._inputs[self._of_numbers : end], self._inputs[: self._of_numbers]
        )
        # which of the two holds the present state, and what was last written there
        self._side = 0
        self._numbers: Numbers | None = None
        self._values: ArrayTree = None
        self._returned: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
        self._flown_to: FlightState | None = None

    @property
    def code_bytes(self) -> int | None:
        """Size of the compiled code."""
        return self._kernel.code_bytes

    def prepare(self, count: int) -> None:
        """Do nothing, since a loop of any length calls one step."""

    def step(
        self, numbers: Numbers, values: ArrayTree, floats: AnyArray, words: AnyArray
    ) -> tuple[AnyArray, AnyArray, Outputs]:
        """Return the packed state after a step, and the outputs."""
        if numbers is not self._numbers:
            self._write_numbers(numbers)
        if values is not self._values:
            self._write_values(values)
        side, self._flown_to = self._side, None
        if floats is not self._returned[0] or words is not self._returned[1]:
            self._states[side][0][...], self._states[side][1][...] = floats, words
        self._calls[side]()
        self._side = side = 1 - side
        later = self._states[side]
        self._returned = later[0].copy(), later[1].copy()
        return (*self._returned, tuple([each.copy() for each in self._rows]))

    def steps(
        self, numbers: Numbers, values: ArrayTree, state: FlightState, count: int
    ) -> tuple[FlightState, Outputs]:
        """Return the state after steps under constant commands, and the outputs along time."""
        self._write_numbers(numbers)
        self._write_values(values)
        if state is not self._flown_to:
            self._side = 0
            self._write_state(state)
        stacked = [np.empty((1, count, *each.shape), each.dtype) for each in self._rows]
        present, later = self._states[self._side], self._states[1 - self._side]
        steps = self._kernel.bind_tiles(
            [*self._inputs[:-2], *present], [*later, *stacked], carried=len(present)
        )
        steps(0, 1, count)
        self._side = (self._side + count) % 2
        self._returned = None, None
        floats, words = (each.copy() for each in self._states[self._side])
        self._flown_to = flown_to = self._form.flight_state(floats, words)
        return flown_to, tuple(each[0] for each in stacked)

    def _write_numbers(self, numbers: Numbers) -> None:
        self._numbers = numbers
        buffers = self._inputs[self._of_numbers :]
        for buffer, leaf in zip(buffers, jax.tree.leaves(numbers), strict=False):
            buffer[...] = leaf
        self._compute_constants()

    def _write_state(self, state: FlightState) -> None:
        if state.packed is None:
            self._form.packing.pack_into(state.fleet, *self._states[0])
        else:
            for buffer, part in zip(self._states[0], state.packed, strict=True):
                buffer[...] = part

    def _write_values(self, values: ArrayTree) -> None:
        self._values = values
        leaves = jax.tree.leaves(values)
        for buffer, leaf in zip(self._inputs[-2 - len(leaves) : -2], leaves, strict=True):
            buffer[...] = leaf


def _compiled_start(start: StartExample) -> simd.Kernel:
    def packed(numbers: Numbers, key: PRNGKeyArray) -> tuple[Array, Array]:
        return start.form.packing.pack(start.function(numbers, key))

    return simd.compile_jaxpr(jax.make_jaxpr(packed)(start.numbers, start.key))


def _compiled(step: StepExample) -> simd.HoistedKernels:
    floats, words = jax.eval_shape(step.form.packing.pack, step.form.shape)
    packed = partial(_packed_step, step)
    program = jax.make_jaxpr(packed)(step.numbers, step.values, floats, words)
    return simd.compile_hoisted(program, len(jax.tree.leaves(step.numbers)))


def _packed_step(
    step: StepExample, numbers: Numbers, values: ArrayTree, floats: Array, words: Array
) -> tuple[Array, ...]:
    packing = step.form.packing
    later, outputs = step.function(numbers, values, packing.unpack(floats, words))
    return (*packing.pack(later), *outputs)
