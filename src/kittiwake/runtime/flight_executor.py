"""Executors, which fly the blocks of a flight: a compiled program, alone or with commands."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.command_inputs import FixedCommands
from kittiwake.runtime.command_source import (
    Accelerations,
    CommandSource,
    Notice,
    estimated_acceleration,
    reports_of,
)
from kittiwake.runtime.commands import Commands
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.program import NO_COMMANDS, FlownBlock, Program, RunBlock
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.runtime.state_transfer import transfer_state
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.host_object import HostFailure
from kittiwake.sim.plain_python.hosts import first_failure, forget_failures, watched
from kittiwake.sim.state import FleetState

BLOCK_STEPS = 500
# a loop of one step is no loop, and rounds differently
SHORTEST_BLOCK = 2
BLOCK_BYTES = 64 * 2**20
# of so many vehicles the next block is flown while the rows of the last one are written
AHEAD_VEHICLES = 64


@runtime_checkable
class FlightExecutor(Protocol):
    """Interface to fly a fleet block by block; the caller keeps the state."""

    @property
    def rate_hz(self) -> float:
        """Physics steps per second."""
        ...

    @property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows."""
        ...

    @property
    def engine(self) -> ChosenEngine:
        """Engine that compiles the steps."""
        ...

    @property
    def clock(self) -> RealTimeClock | None:
        """Clock for which blocks wait; None for none."""
        ...

    def begin(self, seed: int, steps: int) -> FlightState:
        """Compile what a flight of so many steps needs, and return its initial state."""
        ...

    def due(self, tick: int) -> bool:
        """Return True if the block that begins at a tick is due; waits a moment for it."""
        ...

    def fly(self, state: FlightState, tick: int) -> tuple[FlightState, RowBlock]:
        """Fly the block that begins at a tick; return the state after it and its rows."""
        ...

    def violations(self, state: FlightState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        ...

    def notices(self) -> Sequence[Notice]:
        """Return what has happened since the last call and is not in the rows."""
        ...

    def failure(self) -> HostFailure | None:
        """Return the first failure of a controller in plain Python in this flight."""
        ...

    def end(self) -> None:
        """Wait for what was begun and is not needed any more; its program can be used again."""
        ...


class _Ahead(NamedTuple):
    """A block that is being flown, and the state with which it begins."""

    state: FlightState
    block: Future[FlownBlock]


@dataclass
class CompiledExecutor:
    """Executor of a compiled program, with optional external commands.

    Without a clock it flies as fast as possible.

    Attributes:
        program: the program of the fleet.
        source: the source of external commands; None for none.
        clock: the clock for which blocks wait; None for none.
        most_steps: the length of the longest block without external commands.
    """

    program: Program
    source: CommandSource | None = None
    clock: RealTimeClock | None = None
    most_steps: int = BLOCK_STEPS
    _block: RunBlock = field(init=False)
    _accelerations: Accelerations = field(init=False)
    _last_tick: int = field(default=-1, init=False)
    _thread: ThreadPoolExecutor | None = field(default=None, init=False)
    _ahead: "_Ahead | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.source is not None:
            self.program = commanded_program(
                self.program.fleet, self.program.vehicles, self.source.command_types
            )

    @property
    def rate_hz(self) -> float:
        """Physics steps per second."""
        return self.program.fleet.rate_hz

    @property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows."""
        return self.program.layout

    @property
    def engine(self) -> ChosenEngine:
        """Engine that compiles the steps."""
        return self.program.functions.chosen_engine

    def begin(self, seed: int, steps: int) -> FlightState:
        """Compile a block as long as commands hold, or as long as is fast; return the state."""
        if self.source is not None:
            self._block = self.program.compile_block(self.source.steps, estimated_acceleration)
            self._accelerations = {}
        else:
            longest = max(SHORTEST_BLOCK, min(BLOCK_STEPS, self.most_steps))
            length = max(1, min(longest, steps, BLOCK_BYTES // self.layout.row_bytes))
            if self.program.on_host:
                # blocks of one length, with few steps beyond the end
                length = ceil(steps / ceil(steps / length))
            self._block = self.program.compile_block(length)
            if self.engine.engine.name == "simd" and len(self.program.vehicles) >= AHEAD_VEHICLES:
                self._last_tick, self._thread = steps - 1, ThreadPoolExecutor(1)
        forget_failures(self.program.fleet)
        return self.program.begin(seed, steps - 1)

    def change_program(
        self, program: Program, state: FlightState, fresh: FleetState
    ) -> FlightState:
        """Continue with a program of other vehicles, and return its state.

        Args:
            program: a program for the commands that the source gives from now on.
            state: the present state.
            fresh: the initial state of the program.
        """
        assert self.source is not None, "only a command source changes the vehicles"
        before = self.program.fleet
        self.program = program
        self._block = program.compile_block(self.source.steps, estimated_acceleration)
        with program.precision_context():
            later = transfer_state(before, state.fleet, program.fleet, fresh)
        return FlightState.of(later)

    def due(self, tick: int) -> bool:
        """Return True if the clock lets the block through; waits a moment for it."""
        return self.clock is None or self.clock.wait(tick / self.rate_hz)

    def fly(self, state: FlightState, tick: int) -> tuple[FlightState, RowBlock]:
        """Fly the next block."""
        if self._ahead is not None and self._ahead.state is state:
            later, arrays, kept = self._ahead.block.result()
        else:
            self.end()
            with watched(self.program.fleet):
                later, arrays, kept = self._block(state, self._commands(state, tick))
        self._ahead = None
        if self._thread is not None and tick + len(arrays[0]) <= self._last_tick:
            self._ahead = _Ahead(later, self._thread.submit(self._block, later))
        # none is known after the first step alone
        if self.source is not None and tick + self.source.steps > 1:
            self._accelerations = self.program.each_vehicle(kept)
        times = np.arange(tick, tick + len(arrays[0])) / self.rate_hz
        return later, self.program.by_vehicle(times, arrays)

    def violations(self, state: FlightState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        return self.program.violations(state.fleet)

    def notices(self) -> Sequence[Notice]:
        """Return those of the command source."""
        return () if self.source is None else self.source.notices()

    def failure(self) -> HostFailure | None:
        """Return the first failure of a controller in plain Python in this flight."""
        return first_failure(self.program.fleet)

    def end(self) -> None:
        """Wait for a block that was begun."""
        if self._ahead is not None:
            wait([self._ahead.block])
            self._ahead = None

    def _commands(self, state: FlightState, tick: int) -> Commands:
        """Return the commands from now on."""
        if self.source is None:
            return NO_COMMANDS
        reports = reports_of(self.program.fleet, state.fleet, self._accelerations)
        return self.source.commands(tick / self.rate_hz, reports)


def commanded_program(
    fleet: Fleet, vehicles: Mapping[str, AssembledVehicle], command_types: Mapping[str, type]
) -> Program:
    """Return a program whose commands are arguments, of one type to each of some vehicles."""
    return Program(fleet, vehicles, FixedCommands(tuple(command_types.items()), vehicles))
