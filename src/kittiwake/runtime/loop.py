"""Flying a scenario from its start to its end, block by block.

A block is some hundred steps in one compiled loop. Between blocks the host looks at what came out:
it hands the rows on, notes events, shows progress, and stops at divergence, at a lost vehicle where
the scenario calls that a failure, or when asked to.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import Event
from kittiwake.runtime.flight_executor import FlightExecutor
from kittiwake.runtime.thinning import Thinning
from kittiwake.runtime.watch import Block, Verdict, Watch
from kittiwake.scenario.size import steps_in
from kittiwake.tasks.task_commander import judges_at, until

# how the reason begins of a flight that somebody has ended
STOPPED = "stopped by the user"


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
class FlightOutcome:
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
        executor: what flies the blocks.
        seed: of every random stream.
        duration_s: simulated time, from tick 0 to the last one included.
        log_every: a row is kept of each so many steps, of each event, and of the end.
        fails_when_lost: whether a vehicle that leaves its limits ends the flight.
    """

    executor: FlightExecutor
    seed: int
    duration_s: float
    log_every: int
    fails_when_lost: bool

    def __post_init__(self) -> None:
        began = time.perf_counter()
        self.rate_hz = self.executor.rate_hz
        self.layout = self.executor.layout
        self._thinnings = {
            name: Thinning(self.log_every, self.rate_hz, columns)
            for name, columns in self.layout.columns.items()
        }
        self.last_tick = steps_in(self.duration_s, self.rate_hz)
        self.outcome = FlightOutcome()
        self.state = until(self.executor.begin(self.seed, self.last_tick + 1), self.last_tick)
        self.outcome.compile_s = time.perf_counter() - began

    def fly(
        self,
        sink: Sink,
        progress: Callable[[float], None] = lambda _: None,
        stopped: Callable[[], str | None] = lambda: None,
    ) -> FlightOutcome:
        """Flies to the end; ``progress`` hears the simulated time.

        It ends early as soon as ``stopped`` gives a reason.

        ``outcome`` has what was flown also where an exception leaves it.
        """
        began = time.perf_counter()
        watch = Watch(self.layout, fails_when_lost=self.fails_when_lost)
        tick = 0
        try:
            for block in self._blocks(stopped):
                # a lost vehicle stands still, so the state after the block shows what it has left
                kept, verdict = watch.look(block, lambda: self.executor.violations(self.state))
                if verdict is not None:
                    self._await_judgment()
                tick += len(next(iter(kept.values())))
                noted_s = (tick - 1) / self.rate_hz
                watch.events += [Event(noted_s, *notice) for notice in self.executor.notices()]
                if verdict is None and tick <= self.last_tick and (why := stopped()):
                    verdict = Verdict("failed", f"{why} at {noted_s:g} s")
                ended = verdict is not None or tick > self.last_tick
                if ended and verdict is None:
                    watch.close(self.last_tick / self.rate_hz)
                self.outcome.steps = max(tick - 1, 0)
                self._hand_on(sink, kept, watch, ended=ended)
                progress((tick - 1) / self.rate_hz)
                if verdict is not None:
                    self.outcome.status, self.outcome.reason = verdict.status, verdict.reason
                    break
        finally:
            self.outcome.wall_s = time.perf_counter() - began
        return self.outcome

    def fail(self, why: str) -> None:
        """Has the flight failed, at the time that it has come to."""
        time_s = self.outcome.steps / self.rate_hz
        self.outcome.status, self.outcome.reason = "failed", f"{why} at {time_s:g} s"

    def _await_judgment(self) -> None:
        """Fly on, without rows, until the task has judged the loss that ends the flight."""
        judged_tick = judges_at(self.state)
        while judged_tick is not None and (tick := int(self.state.tick)) <= judged_tick:
            self.state, _ = self.executor.fly(self.state, tick)

    def _blocks(self, stopped: Callable[[], str | None]) -> Iterator[Block]:
        """Rows by vehicle, up to and with the last tick."""
        tick = 0
        while tick <= self.last_tick:
            while not (self.executor.due(tick) or stopped()):
                pass
            self.state, block = self.executor.fly(self.state, tick)
            kept = min(len(next(iter(block.values()))), self.last_tick + 1 - tick)
            tick += kept
            yield {name: rows[:kept] for name, rows in block.items()}

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


# what shows how far a flight is, once there is one
Follow: TypeAlias = Callable[[Flight], Callable[[float], None]]


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
