"""Flying a scenario from its start to its end, block by block.

A block is some hundred steps in one compiled loop. Between blocks the host looks at what came out:
it hands the rows on, notes events, shows progress, and stops at divergence, at a lost vehicle where
the scenario calls that a failure, or when asked to.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import Event
from kittiwake.core.keys import seed_key
from kittiwake.runtime.watch import Block, Layout, Watch
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.record import columns, rows

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
        fleet: what flies.
        seed: of every random stream.
        duration_s: simulated time, from tick 0 to the last one included.
        log_every: a row is kept of each so many steps.
        fails_when_lost: whether a vehicle that leaves its limits ends the flight.
        order: vehicles in the order of the scenario.
    """

    fleet: Fleet
    seed: int
    duration_s: float
    log_every: int
    fails_when_lost: bool
    order: tuple[str, ...]

    def __post_init__(self) -> None:
        self.last_tick = round(self.duration_s * self.fleet.rate_hz)
        self.outcome = Outcome()
        began = time.perf_counter()
        with jax.enable_x64(not self.fleet.single_precision):
            init = jax.jit(lambda key: self.fleet.init(key))
            self._state = init(seed_key(self.seed))
            names = columns(self.fleet, self._state)
            self.layout = self._layout(names)
            steps = self._block_steps(names)
            block = jax.jit(lambda state: self.fleet.rollout(state, steps, rows))
            self._block = block.lower(self._state).compile()
        self._steps = steps
        self.outcome.compile_s = time.perf_counter() - began

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
            kept, verdict = watch.look(block)
            self._hand_on(sink, kept, watch)
            length = len(next(iter(kept.values())))
            tick += length
            progress(min(tick - 1, self.last_tick) / self.fleet.rate_hz)
            if verdict is not None:
                self.outcome.status, self.outcome.reason = verdict.status, verdict.reason
                break
            if stopped() and tick <= self.last_tick:
                self.outcome.status = "failed"
                self.outcome.reason = (
                    f"stopped by the user at {(tick - 1) / self.fleet.rate_hz:g} s"
                )
                break
        self.outcome.steps = max(tick - 1, 0)
        self.outcome.wall_s = time.perf_counter() - began
        return self.outcome

    def _blocks(self) -> Iterator[Block]:
        """Rows by vehicle, up to and with the last tick."""
        tick = 0
        state = self._state
        while tick <= self.last_tick:
            with jax.enable_x64(not self.fleet.single_precision):
                state, recorded = self._block(state)
                arrays = [np.asarray(group, np.float64) for group in recorded]
            kept = min(self._steps, self.last_tick + 1 - tick)
            times = np.arange(tick, tick + kept) / self.fleet.rate_hz
            tick += kept
            yield self._by_vehicle(times, [array[:kept] for array in arrays])

    def _by_vehicle(self, times: np.ndarray, groups: list[np.ndarray]) -> Block:
        lanes: dict[str, np.ndarray] = {}
        for group, array in zip(self.fleet.groups, groups, strict=True):
            for lane, name in enumerate(group.names):
                lanes[name] = np.column_stack([times, array[:, lane]])
        return {name: lanes[name] for name in self.order}

    def _hand_on(self, sink: Sink, block: Block, watch: Watch) -> None:
        thinned = {name: self._thinned(values) for name, values in block.items()}
        for event in watch.events[len(self.outcome.events) :]:
            sink.event(event.time_s, event.vehicle, event.event)
            self.outcome.events.append(event)
        sink.write(thinned)

    def _thinned(self, values: np.ndarray) -> np.ndarray:
        if self.log_every == 1:
            return values
        ticks = np.rint(values[:, 0] * self.fleet.rate_hz).astype(np.int64)
        return values[ticks % self.log_every == 0]

    def _layout(self, names: tuple[tuple[str, ...], ...]) -> Layout:
        column_names: dict[str, tuple[str, ...]] = {}
        quantities: dict[str, tuple[str, ...]] = {}
        for group, group_names in zip(self.fleet.groups, names, strict=True):
            judged = self.fleet.quantities(group)
            for name in group.names:
                column_names[name] = ("time_s", *group_names)
                quantities[name] = judged
        return Layout(
            {name: column_names[name] for name in self.order},
            {name: quantities[name] for name in self.order},
        )

    def _block_steps(self, names: tuple[tuple[str, ...], ...]) -> int:
        row_bytes = sum(
            8 * len(group.names) * len(group_names)
            for group, group_names in zip(self.fleet.groups, names, strict=True)
        )
        return max(1, min(BLOCK_STEPS, self.last_tick + 1, BLOCK_BYTES // row_bytes))


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
