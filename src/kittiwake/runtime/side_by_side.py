"""Flights side by side: worlds of one structure share each block, and each has its own log.

A flight has the same bits as alone. Its rows and its states are parts of what the engine ``simd``
flies for all worlds of a tile (``simd_worlds``).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from kittiwake.analysis.log import Log
from kittiwake.core.errors import KittiwakeError
from kittiwake.core.keys import seed_keys
from kittiwake.runtime.command_source import Notice
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.fleet_functions import FleetFunctions
from kittiwake.runtime.flight_executor import BLOCK_BYTES, BLOCK_STEPS
from kittiwake.runtime.flight_record import Memory
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.program import Program
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.runtime.simd_worlds import SimdWorlds
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.tiles import LANES
from kittiwake.sim.plain_python.host_object import HostFailure
from kittiwake.sim.state import FleetState
from kittiwake.simd import UnsupportedError


class SeededSimulation(NamedTuple):
    """A simulation and the seed with which it shall fly, whose values are drawn already."""

    simulation: Simulation
    seed: int


def fly_all(given: Sequence[SeededSimulation]) -> Iterator[tuple[int, Log | KittiwakeError]]:
    """Yield the log of each flight with its index, in any order, or why it cannot be flown.

    Flights that no others can fly beside are flown alone.
    """
    alone = set(range(len(given)))
    for index, log in fly_side_by_side(given):
        alone.remove(index)
        yield index, log
    for index in sorted(alone):
        simulation, seed = given[index]
        try:
            log = simulation.run(seed=seed)
        except KittiwakeError as error:
            yield index, error
        else:
            yield index, log


def fly_side_by_side(given: Sequence[SeededSimulation]) -> Iterator[tuple[int, Log]]:
    """Yield the log of each flight that others can fly beside, with its index.

    Left out are those whose structure too few others have to fill a register, flights that are
    scored by a task, and those that ``simd`` cannot fly, or whose controllers are plain Python.
    """
    alike: dict[FleetFunctions, list[int]] = {}
    for index, (simulation, _) in enumerate(given):
        if (functions := _shared_functions(simulation.program)) is not None:
            alike.setdefault(functions, []).append(index)
    for functions, indices in alike.items():
        lanes = LANES["float32" if functions.single_precision else "float64"]
        if len(indices) < lanes:
            continue
        for start in range(0, len(indices), lanes):
            tile = indices[start : start + lanes]
            try:
                logs = _fly_tile([given[index] for index in tile])
            except UnsupportedError:
                break
            yield from zip(tile, logs, strict=True)


def _shared_functions(program: Program) -> FleetFunctions | None:
    """Return the functions of a program; None if worlds cannot share them."""
    if program.on_host or program.fleet.commander is not None:
        return None
    return program.functions if program.functions.chosen_engine.engine.name == "simd" else None


def _fly_tile(given: Sequence[SeededSimulation]) -> list[Log]:
    """Return the logs of simulations of one structure, as many as a register holds.

    Raises:
        UnsupportedError: if ``simd`` cannot fly them together.
    """
    blocks = _SharedBlocks([one.simulation.program for one in given], [one.seed for one in given])
    flights = [
        simulation.flight(seed=seed, executor=_WorldExecutor(simulation.program, blocks, world))
        for world, (simulation, seed) in enumerate(given)
    ]
    memories = [Memory() for _ in flights]
    flying = [flight.each_block(memory) for flight, memory in zip(flights, memories, strict=True)]
    while flying:
        # each flies one block, so that none is needed any more when the next one begins
        flying = [one for one in flying if next(one, _ENDED) is not _ENDED]
    return [
        one.simulation.finished_log(flight, memory)
        for one, flight, memory in zip(given, flights, memories, strict=True)
    ]


_ENDED = object()


class _SharedBlock(NamedTuple):
    """A block of all worlds.

    Attributes:
        tick: number of its first step.
        rows: rows of each group as ``[world, step, vehicle, column]``.
        state: from the number of a world to its state after the block.
    """

    tick: int
    rows: list[np.ndarray]
    state: Callable[[int], FleetState]


class _SharedBlocks:
    """Blocks that worlds of one structure fly together, each when it is first asked for."""

    def __init__(self, programs: Sequence[Program], seeds: Sequence[int]) -> None:
        first = programs[0]
        row_bytes = len(programs) * first.layout.row_bytes
        self._steps = max(1, min(BLOCK_STEPS, BLOCK_BYTES // row_bytes))
        self._context = first.precision_context
        with self._context():
            numbers = [program.numbers for program in programs]
            self._worlds = SimdWorlds(first.functions, numbers, seed_keys(seeds))
            self._record = self._worlds.recorder(self._steps)
        self.start = self._worlds.snapshot()
        self._last: _SharedBlock | None = None

    def block(self, tick: int) -> _SharedBlock:
        """Return the block that begins at a tick: the last one, or that after it."""
        if self._last is None or self._last.tick != tick:
            with self._context():
                rows = self._record()
            self._last = _SharedBlock(tick, rows, self._worlds.snapshot())
        return self._last


class _WorldExecutor:
    """Executor of one of the worlds that share their blocks, as fast as possible."""

    clock = None

    def __init__(self, program: Program, blocks: _SharedBlocks, world: int) -> None:
        self._program, self._blocks, self._world = program, blocks, world

    @property
    def rate_hz(self) -> float:
        """Physics steps per second."""
        return self._program.fleet.rate_hz

    @property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows."""
        return self._program.layout

    @property
    def engine(self) -> ChosenEngine:
        """Engine that compiles the steps."""
        return self._program.functions.chosen_engine

    def begin(self, seed: int, steps: int) -> FlightState:
        """Return the initial state, which was drawn with the same seed."""
        del seed, steps
        return self._state(self._blocks.start)

    def due(self, tick: int) -> bool:
        """Return True, as there is no clock."""
        del tick
        return True

    def fly(self, state: FlightState, tick: int) -> tuple[FlightState, RowBlock]:
        """Return the state after the block that begins at a tick, and its rows."""
        del state
        _, groups, later = self._blocks.block(tick)
        rows = [group[self._world] for group in groups]
        times = np.arange(tick, tick + len(rows[0])) / self.rate_hz
        return self._state(later), self._program.by_vehicle(times, rows)

    def violations(self, state: FlightState) -> Violation:
        """Return the function that names the limit that a lost vehicle has left."""
        return self._program.violations(state.fleet)

    def notices(self) -> Sequence[Notice]:
        """Return nothing, as all that happens is in the rows."""
        return ()

    def failure(self) -> HostFailure | None:
        """Return None, as no controller is plain Python."""
        return None

    def end(self) -> None:
        """Do nothing, since the other worlds may fly on."""

    def _state(self, of_world: Callable[[int], FleetState]) -> FlightState:
        return FlightState(partial(of_world, self._world))
