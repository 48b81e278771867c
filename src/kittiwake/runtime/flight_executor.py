"""What flies the blocks of a flight: a compiled program alone, or with a pilot."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from kittiwake.runtime.command_source import CommandSource, Notice, Pace
from kittiwake.runtime.commands import numbers_of
from kittiwake.runtime.program import Accelerations, Program, RunBlock, RunCommanded
from kittiwake.runtime.watch import Block, RowLayout, Violation
from kittiwake.sim.state import FleetState

BLOCK_STEPS = 500
BLOCK_BYTES = 64 * 2**20


@runtime_checkable
class FlightExecutor(Protocol):
    """Flies a fleet from block to block; whoever calls it keeps the state."""

    @property
    def rate_hz(self) -> float:
        """Physics steps a second."""
        ...

    @property
    def layout(self) -> RowLayout:
        """What each vehicle's rows hold."""
        ...

    def begin(self, seed: int, steps: int) -> FleetState:
        """The state at the start of a flight of so many steps; what it takes is compiled then."""
        ...

    def due(self, tick: int) -> bool:
        """Whether it is time for the block that begins at a tick; waits a moment for it."""
        ...

    def fly(self, state: FleetState, tick: int) -> tuple[FleetState, Block]:
        """The state after the block that begins at a tick, and its rows."""
        ...

    def violations(self, state: FleetState) -> Violation:
        """Which limit a vehicle has left."""
        ...

    def notices(self) -> Sequence[Notice]:
        """What has happened beside what the rows tell."""
        ...


@dataclass
class CompiledExecutor:
    """A program as it is; with a pilot, by its commands, and with a pace, by the clock."""

    program: Program
    pilot: CommandSource | None = None
    pace: Pace | None = None
    _block: RunBlock = field(init=False)
    _commanded: RunCommanded = field(init=False)
    _accelerations: Accelerations = field(init=False)

    @property
    def rate_hz(self) -> float:
        """Physics steps a second."""
        return self.program.fleet.rate_hz

    @property
    def layout(self) -> RowLayout:
        """What each vehicle's rows hold."""
        return self.program.layout

    def begin(self, seed: int, steps: int) -> FleetState:
        """The state at the start; blocks are as long as commands hold, or as fast flights want."""
        if self.pilot is not None:
            kinds = tuple(self.pilot.kinds.items())
            self._commanded = self.program.commanded(self.pilot.steps, kinds)
            self._accelerations = {}
        else:
            length = max(1, min(BLOCK_STEPS, steps, BLOCK_BYTES // self.layout.row_bytes))
            self._block = self.program.block(length)
        return self.program.start(seed)

    def due(self, tick: int) -> bool:
        """Always, or when the clock says so."""
        if self.pace is not None:
            self.pace.wait(tick / self.rate_hz)
        return True

    def fly(self, state: FleetState, tick: int) -> tuple[FleetState, Block]:
        """The next block."""
        if self.pilot is None:
            later, arrays = self._block(state)
        else:
            asked = self._asked(self.pilot, state, tick)
            later, arrays, accelerations = self._commanded(state, asked)
            # by the first step nothing has been felt yet
            self._accelerations = accelerations if tick + self.pilot.steps > 1 else {}
        times = np.arange(tick, tick + len(arrays[0])) / self.rate_hz
        return later, self.program.by_vehicle(times, arrays)

    def violations(self, state: FleetState) -> Violation:
        """Which limit a vehicle has left."""
        return self.program.violations(state)

    def notices(self) -> Sequence[Notice]:
        """Those of the pilot."""
        return () if self.pilot is None else self.pilot.notices()

    def _asked(self, pilot: CommandSource, state: FleetState, tick: int) -> list[float]:
        """The numbers of the pilot's commands."""
        reports = self.program.reports(state, self._accelerations)
        commands = pilot.commands(tick / self.rate_hz, reports)
        return numbers_of({name: commands[name] for name in pilot.kinds}, {})
