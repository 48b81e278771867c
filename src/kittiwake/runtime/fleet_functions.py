"""Functions of all fleets of one structure, traced and compiled once each.

Gains, masses, wind, noise and starts are arguments (``Numbers``), so a fleet with other ones
compiles nothing.
"""

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import jax
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.copies import with_fields
from kittiwake.core.errors import listed
from kittiwake.core.keys import seed_key
from kittiwake.core.limit import Limit
from kittiwake.runtime.command_inputs import CommandInputs
from kittiwake.runtime.engine import (
    ChosenEngine,
    CompiledStep,
    EngineName,
    StartExample,
    StateForm,
    StepExample,
    missing_text,
    require_not_requested,
)
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.program_cache import ProgramCache
from kittiwake.runtime.simd_engine import SimdEngine
from kittiwake.runtime.xla_engine import QUICKLY, XlaEngine
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.hosts import hosts
from kittiwake.sim.record import columns, rows
from kittiwake.sim.state import FleetState, Snapshot
from kittiwake.sim.structure import FleetTemplate, Numbers, Structure, numbers_of, without_numbers
from kittiwake.simd import UnsupportedError, unsupported

# returns values to keep, from the snapshot of one vehicle
Keep = Callable[[Snapshot], ArrayTree]

# structures whose functions are kept for later programs
KEPT_STRUCTURES = 16


class FleetFunctions:
    """Functions of all fleets of one structure, whose numbers are arguments.

    All are called in the floating-point mode of the fleet.

    Attributes:
        inputs: the external commands that steps accept.
        requested: the engine that was requested; None for the one that suits the fleet.
        form: form of the state.
        cache: the compiled programs that are kept for later processes.
    """

    def __init__(self, fleet: Fleet, inputs: CommandInputs, engine: EngineName | None) -> None:
        """Prepare to trace; ``engine`` is None for the one that suits the fleet."""
        self.inputs = inputs
        self.requested: EngineName | None = engine
        self._fleet, self._example = fleet, numbers_of(fleet)
        self._hosts = [
            f"{host.title} of '{vehicle}'"
            for vehicle, own in hosts(fleet).items()
            for host in own.values()
        ]
        self._loops = engine != "xla" and not self._hosts
        self._trace_anew()
        self.form = StateForm(self._shape)
        self.cache = ProgramCache(without_numbers(fleet), inputs.identity)
        self._compiled: dict[str, Callable[..., ArrayTree]] = {}
        self._compiled_steps: dict[str | Keep, CompiledStep] = {}

    def _trace_anew(self) -> None:
        groups = self._fleet.groups
        groups = tuple(with_fields(groups, loops=[self._loops] * len(groups)))
        self._template = FleetTemplate(replace(self._fleet, groups=groups))
        # traced once, for the shapes of the state and the layout of rows, and for compiling
        self._init = jax.jit(self.init_once)
        self._step = jax.jit(partial(_step_once, self._template, self.inputs))

    @cached_property
    def chosen_engine(self) -> ChosenEngine:
        """The engine that compiles steps.

        Raises:
            ScenarioError: if the engine that was requested cannot compile them.
        """
        if self._hosts:
            reason = f"pure_callback of plain Python: {listed(self._hosts)}"
            require_not_requested(self.requested, "scenario", reason)
            return ChosenEngine(XlaEngine(QUICKLY), "" if self.requested == "xla" else reason)
        if self.requested == "xla":
            return ChosenEngine(XlaEngine(), "")
        reason = self.cache.data("missing", self._missing)
        if not reason:
            return ChosenEngine(SimdEngine(self.cache), "")
        require_not_requested(self.requested, "scenario", reason)
        if self._loops:
            self._loops = False
            self._trace_anew()
        return ChosenEngine(XlaEngine(), reason)

    def by_xla(self) -> "FleetFunctions":
        """Return the functions of the same fleets for XLA."""
        return functions_of(self._fleet, self.inputs, "xla")

    def _missing(self) -> str:
        """Return what ``kittiwake.simd`` does not support of the step; empty for nothing."""
        step = self.step_example(self.rows)
        with self.precision_context():
            arguments = (self._example, step.values, self.shape)
            return missing_text(unsupported(jax.make_jaxpr(step.function)(*arguments)))

    @property
    def single_precision(self) -> bool:
        """True for float32, false for float64."""
        return self._fleet.single_precision

    def precision_context(self) -> AbstractContextManager[None]:
        """Return the context of the floating-point mode in which all functions run."""
        return jax.enable_x64(not self._fleet.single_precision)

    @property
    def shape(self) -> FleetState:
        """Shapes and types of the state."""
        return self.form.shape

    def _shape(self) -> FleetState:
        with self.precision_context():
            return jax.eval_shape(self._init, self._example, seed_key(0))

    @cached_property
    def columns(self) -> tuple[tuple[str, ...], ...]:
        """Columns of each group's rows."""
        return tuple(map(tuple, self.cache.data("columns", self._columns)))

    @cached_property
    def limit_names(self) -> list[tuple[str, ...]]:
        """Names of the limits of each group's vehicles."""
        return [*map(tuple, self.cache.data("limits", self._limit_names))]

    def _columns(self) -> list[list[str]]:
        with self.precision_context():
            values = self.inputs.zeros()
            snapshots = jax.eval_shape(self._step, self._example, values, self.shape)[1]
            return [[*names] for names in columns(self._fleet, snapshots)]

    def _limit_names(self) -> list[list[str]]:
        with self.precision_context():
            limits = jax.eval_shape(self._limits_once, self._example, self.shape)
        return [[limit.name for limit in group] for group in limits]

    def init(self, numbers: Numbers, key: PRNGKeyArray) -> FleetState:
        """Return the initial state."""
        return self.compiled("init", self._init, key)(numbers, key)

    def start(self, numbers: Numbers, key: PRNGKeyArray) -> FlightState:
        """Return the same as ``init``, in the form in which the engine holds it."""
        return self._compiled_start(numbers, key)

    @cached_property
    def _compiled_start(self) -> Callable[[Numbers, PRNGKeyArray], FlightState]:
        with self.precision_context():
            # first, as another engine may trace anew
            engine = self.chosen_engine.engine
            start = StartExample(self._init, self._example, seed_key(0), self.form)
            try:
                return engine.compile_start("start", start)
            except UnsupportedError:
                return XlaEngine().compile_start("start", start)

    def limits(self, numbers: Numbers, state: FleetState) -> tuple[tuple[Limit, ...], ...]:
        """Return the limits of each group's vehicles."""
        return self.compiled("limits", self._limits_once, self.shape)(numbers, state)

    def step_alone(self) -> CompiledStep:
        """Return the step without outputs."""
        return self._compiled_step("alone", lambda _snapshots: ())

    def recorded_step(self, keep: Keep | None = None) -> CompiledStep:
        """Return the step whose outputs are each group's rows, and then values to keep of each."""

        def outputs(snapshots: tuple[Snapshot, ...]) -> tuple[ArrayTree, ...]:
            recorded = self.rows(snapshots)
            return recorded if keep is None else (*recorded, *map(jax.vmap(keep), snapshots))

        return self._compiled_step("recorded" if keep is None else keep, outputs)

    def rows(self, snapshots: tuple[Snapshot, ...]) -> tuple[ArrayTree, ...]:
        """Return each group's rows, within a compiled function."""
        return rows(self._fleet, snapshots)

    def snapshots(self, numbers: Numbers, state: FleetState) -> tuple[Snapshot, ...]:
        """Return the snapshots of a step without commands, within a compiled function."""
        return self._step(numbers, self.inputs.zeros(), state)[1]

    def compiled(
        self, name: str, function: Callable[..., ArrayTree], *example: ArrayTree
    ) -> Callable[..., ArrayTree]:
        """Return a compiled function of numbers and other arguments, which are like the example.

        What the engine of the steps cannot compile, XLA does.
        """
        if name not in self._compiled:
            with self.precision_context():
                arguments = (self._example, *example)
                try:
                    made = self.chosen_engine.engine.compile(name, function, *arguments)
                except UnsupportedError:
                    made = XlaEngine().compile(name, function, *arguments)
            self._compiled[name] = made
        return self._compiled[name]

    def _compiled_step(
        self, name: str | Keep, outputs: Callable[[tuple[Snapshot, ...]], tuple[ArrayTree, ...]]
    ) -> CompiledStep:
        if name not in self._compiled_steps:
            with self.precision_context():
                step = self.step_example(outputs)
                kept = name if isinstance(name, str) else None
                self._compiled_steps[name] = self.chosen_engine.engine.compile_step(kept, step)
        return self._compiled_steps[name]

    def step_example(
        self, outputs: Callable[[tuple[Snapshot, ...]], tuple[ArrayTree, ...]]
    ) -> StepExample:
        """Return the step with outputs of its snapshots, to be compiled."""

        def step(
            numbers: Numbers, values: ArrayTree, state: FleetState
        ) -> tuple[FleetState, tuple[ArrayTree, ...]]:
            later, snapshots = self._step(numbers, values, state)
            return later, outputs(snapshots)

        with self.precision_context():
            return StepExample(step, self._example, self.inputs.zeros(), self.form)

    def init_once(self, numbers: Numbers, key: PRNGKeyArray) -> FleetState:
        """Return the initial state, within a compiled function."""
        return self._template.fleet(numbers).init(key)

    def _limits_once(self, numbers: Numbers, state: FleetState) -> tuple[tuple[Limit, ...], ...]:
        return self._template.fleet(numbers).limits(state)


def _step_once(
    template: FleetTemplate,
    inputs: CommandInputs,
    numbers: Numbers,
    values: ArrayTree,
    state: FleetState,
) -> tuple[FleetState, tuple[Snapshot, ...]]:
    fleet = template.fleet(numbers)
    return fleet.step_with_commands(state, inputs.arranged(fleet, values))


class _Request(NamedTuple):
    """Request for functions; requests are equal if their functions are."""

    key: tuple[Structure, Hashable, EngineName | None]
    fleet: Fleet
    inputs: CommandInputs
    engine: EngineName | None

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Request) and self.key == other.key

    @override
    def __hash__(self) -> int:
        return hash(self.key)


def functions_of(fleet: Fleet, inputs: CommandInputs, engine: EngineName | None) -> FleetFunctions:
    """Return the functions of a fleet; fleets of one structure share them.

    Fleets with components in plain Python share none, since these are objects of their own.
    """
    if any(group.vehicle.on_host for group in fleet.groups):
        return FleetFunctions(fleet, inputs, engine)
    key = Structure.of(fleet), inputs.identity, engine
    return _shared(_Request(key, fleet, inputs, engine))


@lru_cache(KEPT_STRUCTURES)
def _shared(request: _Request) -> FleetFunctions:
    return FleetFunctions(request.fleet, request.inputs, request.engine)


def forget_functions() -> None:
    """Free the functions of all fleets, and what JAX has compiled."""
    _shared.cache_clear()
    jax.clear_caches()
