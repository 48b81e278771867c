"""Flight loop from the start to the end of a scenario, block by block.

A block is some hundred steps in one compiled loop. Between blocks the host writes the rows, notes
events and shows progress. It stops at divergence, on request, or at a lost vehicle if the scenario
calls that a failure.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from kittiwake.analysis.table import REMOVED
from kittiwake.core.parameters import Parameters
from kittiwake.runtime.deadlines import Deadlines
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.event_detection import EarlyEnd
from kittiwake.runtime.flight_executor import FlightExecutor
from kittiwake.runtime.flight_record import FlightOutcome, FlightRecord, Sink
from kittiwake.runtime.flight_state import FlightState
from kittiwake.runtime.row_layout import RowBlock, RowLayout
from kittiwake.scenario.size import steps_in
from kittiwake.sim.plain_python.host_object import HostFailure
from kittiwake.sim.state import FleetState
from kittiwake.tasks.task_commander import next_reward_tick

# first words of the reason of a flight that the user has ended


@dataclass
class Flight:
    """One flight of a fleet.

    Attributes:
        executor: flies the blocks.
        seed: seed of all random streams.
        duration_s: simulated time, from tick 0 to the last tick inclusive.
        log_every: number of steps per logged row; events and the end are logged as well.
        fails_when_lost: True if a vehicle that leaves its limits ends the flight.
        until_done: True if it ends when all guidance with an end is done.
        after_block: called after each block that does not end the flight.
        resumed_at_s: time of the checkpoint from which it continues; None from the start.
    """

    executor: FlightExecutor
    seed: int
    duration_s: float
    log_every: int
    fails_when_lost: bool
    until_done: bool
    after_block: Callable[["Flight"], None] = lambda _: None

    resumed_at_s: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        began = time.perf_counter()
        self.rate_hz = self.executor.rate_hz
        # of all vehicles that have flown, and of those that fly
        self.layout: RowLayout = self.executor.layout
        self._present = self.layout
        self.record = FlightRecord(
            self.layout,
            self.rate_hz,
            self.log_every,
            fails_when_lost=self.fails_when_lost,
            until_done=self.until_done,
        )
        self.last_tick = steps_in(self.duration_s, self.rate_hz)
        self._state = self.executor.begin(self.seed, self.last_tick + 1)
        self.outcome.compile_s = time.perf_counter() - began

    @property
    def state(self) -> FleetState:
        """State after the last step."""
        return self._state.fleet

    @property
    def outcome(self) -> FlightOutcome:
        """Status, times and events up to now."""
        return self.record.outcome

    @property
    def engine(self) -> ChosenEngine:
        """Engine that has compiled its steps."""
        return self.executor.engine

    @property
    def deadlines(self) -> Deadlines | None:
        """Deadlines of its blocks; None for a flight without a clock."""
        clock = self.executor.clock
        return None if clock is None else clock.deadlines

    def fly(
        self,
        sink: Sink,
        progress: Callable[[float], None] = lambda _: None,
        stopped: Callable[[], str | None] = lambda: None,
    ) -> FlightOutcome:
        """Fly to the end, or until ``stopped`` returns a reason.

        ``progress`` is called with the simulated time after each block. After an exception
        ``outcome`` still describes what was flown.
        """
        for _ in self.each_block(sink, progress, stopped):
            pass
        return self.outcome

    def each_block(
        self,
        sink: Sink,
        progress: Callable[[float], None] = lambda _: None,
        stopped: Callable[[], str | None] = lambda: None,
    ) -> Iterator[None]:
        """Fly as ``fly`` does, and yield after each block."""
        record, began = self.record, time.perf_counter() - self.outcome.wall_s
        try:
            for block in self._blocks(stopped):
                # a lost vehicle stands still, so the state after the block shows what it has left
                block, failure = self._until_failure(block)
                self._follow_vehicles(sink)
                kept, early_end = record.detect(
                    block, lambda: self.executor.violations(self._state)
                )
                if early_end is not None:
                    self._await_last_reward()
                elif failure is not None:
                    early_end = EarlyEnd("failed", failure.reason())
                record.note(self.executor.notices())
                if early_end is None and record.tick <= self.last_tick and (reason := stopped()):
                    early_end = EarlyEnd("failed", f"{reason} at {record.time_s:g} s")
                ended = early_end is not None or record.tick > self.last_tick
                if ended and early_end is None:
                    record.close()
                record.write(sink, kept, ended=ended)
                progress(record.time_s)
                if early_end is not None:
                    self.outcome.status, self.outcome.reason = early_end
                    break
                if not ended:
                    self.outcome.wall_s = time.perf_counter() - began
                    self.after_block(self)
                yield
        finally:
            self.executor.end()
            self.outcome.wall_s = time.perf_counter() - began

    def resume(self, state: FleetState, memory: Parameters) -> None:
        """Continue from a state, with the memory of the record up to it.

        Raises:
            LookupError, TypeError, ValueError: if the memory is invalid.
        """
        self.record.restore(memory)
        self._state = FlightState.of(state)
        self.resumed_at_s = self.record.tick / self.rate_hz

    def mark_failed(self, reason: str) -> None:
        """Mark the flight as failed at its present time."""
        time_s = self.outcome.steps / self.rate_hz
        self.outcome.status, self.outcome.reason = "failed", f"{reason} at {time_s:g} s"

    def _follow_vehicles(self, sink: Sink) -> None:
        """Record the vehicles of the block that has been flown, if they are others."""
        before, now = self._present, self.executor.layout
        if now is before:
            return
        removed = [name for name in before.columns if name not in now.columns]
        self._present = now
        self.record.note((name, REMOVED) for name in removed)
        self.record.change_vehicles(now, removed)
        self.layout = self.record.layout
        sink.change_vehicles(self.layout)

    def _until_failure(self, block: RowBlock) -> tuple[RowBlock, HostFailure | None]:
        """Return the block up to the failure of a controller in plain Python, and the failure."""
        failure = self.executor.failure()
        last_s = next(iter(block.values()))[-1, 0]
        # steps beyond the end of the flight fill its last block
        if failure is None or failure.time_s > last_s + 0.5 / self.rate_hz:
            return block, None
        until_s = failure.time_s + 0.5 / self.rate_hz
        return {name: rows[rows[:, 0] < until_s] for name, rows in block.items()}, failure

    def _await_last_reward(self) -> None:
        """Fly on, without rows, to the reward of the control step in which a vehicle was lost."""
        last_reward_tick = next_reward_tick(self.state)
        while last_reward_tick is not None and (tick := int(self.state.tick)) <= last_reward_tick:
            self._state, _ = self.executor.fly(self._state, tick)

    def _blocks(self, stopped: Callable[[], str | None]) -> Iterator[RowBlock]:
        """Yield the rows by vehicle, up to and including the last tick."""
        tick = self.record.tick
        while tick <= self.last_tick:
            while not (self.executor.due(tick) or stopped()):
                pass
            self._state, block = self.executor.fly(self._state, tick)
            kept = min(len(next(iter(block.values()))), self.last_tick + 1 - tick)
            tick += kept
            yield {name: rows[:kept] for name, rows in block.items()}


# returns the progress function of a flight
Follow: TypeAlias = Callable[[Flight], Callable[[float], None]]
