"""The engine that compiles by XLA: everything, and fast for many vehicles."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import jax
import numpy as np
from jax.stages import Compiled
from jaxtyping import Array, PRNGKeyArray

from kittiwake.core.arrays import ArrayTree
from kittiwake.runtime.engine import AnyArray, EngineName, Outputs, StartExample, StepExample
from kittiwake.runtime.flight_state import FlightState
from kittiwake.sim.fleet import scan_steps
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers

# compiled in half the time; calls of plain Python take longer than what is between them
QUICKLY = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


class XlaEngine:
    """Engine that compiles by XLA."""

    def __init__(self, options: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Prepare; ``options`` are those of its compiler for steps."""
        self._options = dict(options)

    @property
    def name(self) -> EngineName:
        """The name by which it is chosen."""
        return "xla"

    def compile(
        self, name: str | None, function: Callable[..., ArrayTree], *example: ArrayTree
    ) -> Callable[..., ArrayTree]:
        """Return a compiled function; it is compiled when it is first called."""
        del name, example
        return jax.jit(function)

    def compile_start(
        self, name: str, start: StartExample
    ) -> Callable[[Numbers, PRNGKeyArray], FlightState]:
        """Return a compiled function of the initial state; compiled when it is first called."""
        del name
        init = jax.jit(start.function)
        return lambda numbers, key: FlightState.of(init(numbers, key))

    def compile_step(self, name: str | None, step: StepExample) -> "XlaStep":
        """Return a compiled step of a fleet."""
        del name
        return XlaStep(step, self._options)


class XlaStep:
    """Step of a fleet that is compiled by XLA when it is first used.

    Attributes:
        code_bytes: None, since XLA does not give the size of its code.
    """

    code_bytes: int | None = None

    def __init__(self, step: StepExample, options: dict[str, Any]) -> None:
        self._example, self._options = step, options
        # a bound method, as a step takes some microseconds
        self._advance = jax.jit(self._packed, compiler_options=options)
        self._blocks: dict[int, Compiled] = {}
        self._last: tuple[Numbers, ArrayTree] | None = None

    def prepare(self, count: int) -> None:
        """Compile a loop of so many steps."""
        if count not in self._blocks:
            example = (self._example.numbers, self._example.values, self._example.form.shape)
            lowered = jax.jit(partial(self._block, count)).lower(*example)
            self._blocks[count] = lowered.compile(self._options)

    def step(
        self, numbers: Numbers, values: ArrayTree, floats: AnyArray, words: AnyArray
    ) -> tuple[AnyArray, AnyArray, Outputs]:
        """Return the packed state after a step, and the outputs."""
        return self._advance(self._placed(numbers), values, floats, words)

    def steps(
        self, numbers: Numbers, values: ArrayTree, state: FlightState, count: int
    ) -> tuple[FlightState, Outputs]:
        """Return the state after steps under constant commands, and the outputs along time."""
        self.prepare(count)
        later, outputs = self._blocks[count](self._placed(numbers), values, state.fleet)
        return FlightState.of(later), tuple(np.asarray(each) for each in outputs)

    def _placed(self, numbers: Numbers) -> ArrayTree:
        """Return the numbers as arrays of JAX, kept for the next call."""
        if self._last is None or self._last[0] is not numbers:
            self._last = numbers, jax.device_put(numbers)
        return self._last[1]

    def _packed(
        self, numbers: Numbers, values: ArrayTree, floats: Array, words: Array
    ) -> tuple[Array, Array, tuple[Array, ...]]:
        state = self._example.form.packing.unpack(floats, words)
        later, outputs = self._example.function(numbers, values, state)
        return (*self._example.form.packing.pack(later), outputs)

    def _block(
        self, count: int, numbers: Numbers, values: ArrayTree, state: FleetState
    ) -> tuple[FleetState, tuple[Array, ...]]:
        def step(present: FleetState) -> tuple[FleetState, tuple[Array, ...]]:
            return self._example.function(numbers, values, present)

        return scan_steps(step, state, count, lambda outputs: outputs)
