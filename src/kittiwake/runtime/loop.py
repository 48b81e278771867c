"""Flying a scenario from its start to its end, block by block.

A block is some hundred steps in one compiled loop. Between blocks the host looks at what came out:
it hands the rows on, notes events, shows progress, and stops at divergence, at a lost vehicle where
the scenario calls that a failure, or when asked to.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import Event
from kittiwake.runtime.commands import Kinds, numbers_of
from kittiwake.runtime.pilot import Pace, Pilot, Report
from kittiwake.runtime.program import Program
from kittiwake.runtime.thinning import Thinning
from kittiwake.runtime.watch import Block, Verdict, Watch
from kittiwake.scenario.size import steps_in

BLOCK_STEPS = 500
BLOCK_BYTES = 64 * 2**20


@runtime_checkable
class Sink(Protocol):
    """Takes what a flight gives, block by block."""

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Rows by vehicle, in order of time."""
        ...

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        """Something that happened."""
        ...


@dataclass
class Outcome:
    """How a flight ended."""

    status: str = "completed"
    reason: str | None = None
    steps: int = 0
    wall_s: float = 0.0
    compile_s: float = 0.0
    events: list[Event] = field(default_factory=list)


@dataclass
class Flight:
    """One flight of a fleet.

    Attributes:
        program: what flies, compiled.
        seed: of every random stream.
        duration_s: simulated time, from tick 0 to the last one included.
        log_every: a row is kept of each so many steps, of each event, and of the end.
        fails_when_lost: whether a vehicle that leaves its limits ends the flight.
        pilot: tells some of the vehicles what to do.
        pace: keeps the flight to the clock; without it, it goes as fast as it can.
    """

    program: Program
    seed: int
    duration_s: float
    log_every: int
    fails_when_lost: bool
    pilot: Pilot | None = None
    pace: Pace | None = None

    def __post_init__(self) -> None:
        began = time.perf_counter()
        self.rate_hz = self.program.fleet.rate_hz
        self.layout = self.program.layout
        self._thinnings = {
            name: Thinning(self.log_every, self.rate_hz, columns)
            for name, columns in self.layout.columns.items()
        }
        self.last_tick = steps_in(self.duration_s, self.rate_hz)
        self.outcome = Outcome()
        self._state = self.program.start(self.seed)
        self._steps = max(
            1, min(BLOCK_STEPS, self.last_tick + 1, BLOCK_BYTES // self.layout.row_bytes)
        )
        kinds: Kinds = ()
        if self.pilot is not None:
            self._steps, kinds = self.pilot.steps, tuple(self.pilot.kinds.items())
        self._block = self.program.block(self._steps, kinds)
        self.outcome.compile_s = time.perf_counter() - began

    def reports(self) -> dict[str, Report]:
        """What each vehicle believes now."""
        return self.program.reports(self._state)

    def fly(
        self,
        sink: Sink,
        progress: Callable[[float], None] = lambda _: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """Flies to the end; ``progress`` hears the simulated time, ``stopped`` may end it early."""
        began = time.perf_counter()
        watch = Watch(self.layout, fails_when_lost=self.fails_when_lost)
        tick = 0
        for block in self._blocks():
            # a lost vehicle stands still, so the state after the block shows what it has left
            kept, verdict = watch.look(block, lambda: self.program.violations(self._state))
            tick += len(next(iter(kept.values())))
            if self.pilot is not None:
                noted_s = (tick - 1) / self.rate_hz
                watch.events += [Event(noted_s, *notice) for notice in self.pilot.notices()]
            if verdict is None and tick <= self.last_tick and stopped():
                time_s = (tick - 1) / self.rate_hz
                verdict = Verdict("failed", f"stopped by the user at {time_s:g} s")
            ended = verdict is not None or tick > self.last_tick
            if ended and verdict is None:
                watch.close(self.last_tick / self.rate_hz)
            self._hand_on(sink, kept, watch, ended=ended)
            progress((tick - 1) / self.rate_hz)
            if verdict is not None:
                self.outcome.status, self.outcome.reason = verdict.status, verdict.reason
                break
        self.outcome.steps = max(tick - 1, 0)
        self.outcome.wall_s = time.perf_counter() - began
        return self.outcome

    def _blocks(self) -> Iterator[Block]:
        """Rows by vehicle, up to and with the last tick."""
        tick = 0
        while tick <= self.last_tick:
            numbers = self._asked(tick)
            self._state, arrays = self._block(self._state, numbers)
            kept = min(self._steps, self.last_tick + 1 - tick)
            times = np.arange(tick, tick + kept) / self.rate_hz
            tick += kept
            yield self.program.by_vehicle(times, [array[:kept] for array in arrays])

    def _asked(self, tick: int) -> list[float]:
        """The numbers of the pilot's commands, when it is time for them."""
        time_s = tick / self.rate_hz
        if self.pace is not None:
            self.pace.wait(time_s)
        if self.pilot is None:
            return []
        commands = self.pilot.commands(time_s, self.reports())
        ordered = {name: commands[name] for name in self.pilot.kinds}
        return numbers_of(ordered, {})

    def _hand_on(self, sink: Sink, block: Block, watch: Watch, *, ended: bool) -> None:
        events = watch.events[len(self.outcome.events) :]
        told: dict[str, set[float]] = {}
        for event in events:
            told.setdefault(event.vehicle, set()).add(event.time_s)
            sink.event(event.time_s, event.vehicle, event.event)
            self.outcome.events.append(event)
        thinned = {
            name: self._thinnings[name].thinned(rows, told.get(name, set()), ended=ended)
            for name, rows in block.items()
        }
        sink.write(thinned)


@dataclass
class Memory:
    """A sink that keeps everything."""

    blocks: list[Block] = field(default_factory=list)

    def write(self, block: Mapping[str, Any]) -> None:
        """Keep a block."""
        self.blocks.append(dict(block))

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        """Events are in the outcome as well."""

    def values(self, name: str) -> np.ndarray:
        """All rows of a vehicle."""
        return np.concatenate([block[name] for block in self.blocks])
