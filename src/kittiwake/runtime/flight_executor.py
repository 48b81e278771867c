"""Executors, which fly the blocks of a flight: a compiled program, alone or with commands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.command_source import CommandSource, Notice
from kittiwake.runtime.commands import command_values
from kittiwake.runtime.program import Accelerations, Program, RunBlock, RunCommanded
from kittiwake.runtime.watch import Block, RowLayout, Violation
from kittiwake.sim.state import FleetState

BLOCK_STEPS = 500
BLOCK_BYTES = 64 * 2**20


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

    def begin(self, seed: int, steps: int) -> FleetState:
        """Compile what a flight of so many steps needs, and return its initial state."""
        ...

    def due(self, tick: int) -> bool:
        """Return True if the block that begins at a tick is due; waits a moment for it."""
        ...

    def fly(self, state: FleetState, tick: int) -> tuple[FleetState, Block]:
        """Fly the block that begins at a tick; return the state after it and its rows."""
        ...

    def violations(self, state: FleetState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        ...

    def notices(self) -> Sequence[Notice]:
        """Return what has happened since the last call and is not in the rows."""
        ...


@dataclass
class CompiledExecutor:
    """Executor of a compiled program, with optional external commands, as fast as possible without a clock."""

    program: Program
    source: CommandSource | None = None
    clock: RealTimeClock | None = None
    _block: RunBlock = field(init=False)
    _commanded: RunCommanded = field(init=False)
    _accelerations: Accelerations = field(init=False)

    @property
    def rate_hz(self) -> float:
        """Physics steps per second."""
        return self.program.fleet.rate_hz

    @property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows."""
        return self.program.layout

    def begin(self, seed: int, steps: int) -> FleetState:
        """Compile a block as long as commands hold, or as long as is fast; return the state."""
        if self.source is not None:
            kinds = tuple(self.source.kinds.items())
            self._commanded = self.program.commanded(self.source.steps, kinds)
            self._accelerations = {}
        else:
            length = max(1, min(BLOCK_STEPS, steps, BLOCK_BYTES // self.layout.row_bytes))
            self._block = self.program.block(length)
        return self.program.start(seed)

    def due(self, tick: int) -> bool:
        """Return True if the clock lets the block through; waits a moment for it."""
        return self.clock is None or self.clock.wait(tick / self.rate_hz)

    def fly(self, state: FleetState, tick: int) -> tuple[FleetState, Block]:
        """Fly the next block."""
        if self.source is None:
            later, arrays = self._block(state)
        else:
            values = self._command_values(self.source, state, tick)
            later, arrays, accelerations = self._commanded(state, values)
            # none is known after the first step alone
            self._accelerations = accelerations if tick + self.source.steps > 1 else {}
        times = np.arange(tick, tick + len(arrays[0])) / self.rate_hz
        return later, self.program.by_vehicle(times, arrays)

    def violations(self, state: FleetState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        return self.program.violations(state)

    def notices(self) -> Sequence[Notice]:
        """Return those of the command source."""
        return () if self.source is None else self.source.notices()

    def _command_values(self, source: CommandSource, state: FleetState, tick: int) -> list[float]:
        """Return the values of the commands from now on."""
        reports = self.program.reports(state, self._accelerations)
        commands = source.commands(tick / self.rate_hz, reports)
        return command_values({name: commands[name] for name in source.kinds}, {})
