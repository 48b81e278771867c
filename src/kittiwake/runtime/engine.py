"""Engines: what compiles the functions of a fleet, and the choice between them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.runtime.flight_state import FlightState
from kittiwake.sim.packing import Packing
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers
from kittiwake.simd import Unsupported

EngineName = Literal["simd", "xla"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)

# of NumPy or JAX, as an engine has it at hand
AnyArray: TypeAlias = np.ndarray | Array
Outputs: TypeAlias = tuple[AnyArray, ...]
# from numbers, values of commands and a state to the next state and outputs
StepFunction: TypeAlias = Callable[
    [Numbers, ArrayTree, FleetState], tuple[FleetState, tuple[ArrayTree, ...]]
]


@runtime_checkable
class CompiledStep(Protocol):
    """A compiled step of a fleet, for one step or many."""

    @property
    def code_bytes(self) -> int | None:
        """Size of the compiled code; None if it is unknown."""
        ...

    def prepare(self, count: int) -> None:
        """Compile what so many steps need, so that the first call of ``steps`` does not."""
        ...

    def step(
        self, numbers: Numbers, values: ArrayTree, floats: AnyArray, words: AnyArray
    ) -> tuple[AnyArray, AnyArray, Outputs]:
        """Return the packed state after a step, and the outputs."""
        ...

    def steps(
        self, numbers: Numbers, values: ArrayTree, state: FlightState, count: int
    ) -> tuple[FlightState, Outputs]:
        """Return the state after steps under constant commands, and the outputs along time."""
        ...


class StateForm:
    """Form of a fleet's state, traced when it is first asked for.

    Compiled programs that are kept do without it.
    """

    def __init__(self, trace: Callable[[], FleetState]) -> None:
        """Prepare; ``trace`` returns the shapes and types of a state."""
        self._trace = trace

    @cached_property
    def shape(self) -> FleetState:
        """Shapes and types of the state."""
        return self._trace()

    @cached_property
    def packing(self) -> Packing:
        """Packing of the state."""
        return Packing.of(self.shape)

    def flight_state(self, floats: np.ndarray, words: np.ndarray) -> FlightState:
        """Return a packed state."""
        packed = floats, words
        return FlightState(lambda: self.packing.unpack_from(*packed), packed)


@dataclass(frozen=True)
class StepExample:
    """A step to be compiled, with examples of its arguments.

    Attributes:
        function: the step.
        numbers: numbers of the fleet.
        values: values of external commands.
        form: form of the state.
    """

    function: StepFunction
    numbers: Numbers
    values: ArrayTree
    form: StateForm


@dataclass(frozen=True)
class StartExample:
    """A function that returns the initial state, to be compiled, with examples of its arguments.

    Attributes:
        function: the function.
        numbers: numbers of the fleet.
        key: key of the random streams.
        form: form of the state.
    """

    function: Callable[[Numbers, PRNGKeyArray], FleetState]
    numbers: Numbers
    key: PRNGKeyArray
    form: StateForm


@runtime_checkable
class Engine(Protocol):
    """Compiler of pure functions of arrays."""

    @property
    def name(self) -> EngineName:
        """The name by which it is chosen."""
        ...

    def compile(
        self, name: str | None, function: Callable[..., ArrayTree], *example: ArrayTree
    ) -> Callable[..., ArrayTree]:
        """Return a compiled function of arguments like the example.

        It may be kept under its name for later processes; without a name it is not.
        """
        ...

    def compile_start(
        self, name: str, start: StartExample
    ) -> Callable[[Numbers, PRNGKeyArray], FlightState]:
        """Return a compiled function of the initial state, which may be kept under its name."""
        ...

    def compile_step(self, name: str | None, step: StepExample) -> CompiledStep:
        """Return a compiled step of a fleet, which may be kept under its name."""
        ...


class ChosenEngine(NamedTuple):
    """The engine of a fleet; the reason is empty unless it is not the default one."""

    engine: Engine
    reason: str


def require_engine(name: object) -> EngineName | None:
    """Return the name of an engine, or None where the choice is left open.

    Raises:
        ScenarioError: if there is no such engine.
    """
    if name is None:
        return None
    for known in ENGINES:
        if name == known:
            return known
    message = f"`engine`: there is no engine {name!r}. {did_you_mean(str(name), ENGINES)}"
    raise ScenarioError(message)


def accelerator_reason() -> str:
    """Return the reason for XLA in a batch: what JAX computes on; empty for processors."""
    backend = jax.default_backend()
    return "" if backend == "cpu" else f"JAX computes on a {backend.upper()}"


def missing_text(missing: Sequence[Unsupported]) -> str:
    """Return the primitives that an engine does not support, each with its place in the package."""
    places = []
    for each in missing:
        _, separator, place = each.source.rpartition("/kittiwake/")
        places.append(f"{each.primitive} at {'kittiwake/' if separator else ''}{place}")
    return "; ".join(places)


def require_not_requested(requested: EngineName | None, subject: str, reason: str) -> None:
    """Raise an error if ``simd`` was requested for what it cannot compile.

    Raises:
        ScenarioError: with the reason.
    """
    if requested == "simd":
        message = f'`engine`: "simd" cannot compile this {subject}: {reason}. Write "xla"'
        raise ScenarioError(message)
