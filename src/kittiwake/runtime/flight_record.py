"""Record of a flight: the events in its rows, the rows that its log keeps, and its outcome."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import COMPLETED
from kittiwake.analysis.table import ADDED, Event
from kittiwake.core.parameters import Parameters
from kittiwake.runtime.command_source import Notice
from kittiwake.runtime.deadlines import Deadlines
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.event_detection import EarlyEnd, EventDetector
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.runtime.thinning import Thinning
from kittiwake.sim.state import FleetState


@runtime_checkable
class Sink(Protocol):
    """Receiver of a flight's rows and events."""

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Write a block of rows, by vehicle and in order of time."""
        ...

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        """Write an event."""
        ...

    def change_vehicles(self, layout: RowLayout) -> None:
        """Expect the rows of all vehicles that have flown, some of which were just added."""
        ...


@dataclass
class FlightOutcome:
    """Outcome of a flight: status, reason, steps, times and events."""

    status: str = COMPLETED
    reason: str | None = None
    steps: int = 0
    wall_s: float = 0.0
    compile_s: float = 0.0
    events: list[Event] = field(default_factory=list)


@runtime_checkable
class FlownFlight(Protocol):
    """Flight up to now, as far as its log and its summary describe it."""

    @property
    def layout(self) -> RowLayout:
        """Columns of each vehicle's rows."""
        ...

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        ...

    @property
    def duration_s(self) -> float:
        """Simulated time of the whole flight."""
        ...

    @property
    def state(self) -> FleetState:
        """State after the last step."""
        ...

    @property
    def outcome(self) -> FlightOutcome:
        """Status, times and events up to now."""
        ...

    @property
    def engine(self) -> ChosenEngine:
        """Engine that has compiled its steps."""
        ...

    @property
    def deadlines(self) -> Deadlines | None:
        """Deadlines of its blocks; None for a flight without a clock."""
        ...


class FlightRecord:
    """Record of a flight, block by block.

    Attributes:
        layout: columns of each vehicle's rows.
        rate_hz: physics steps per second.
        tick: number of the next step to be recorded.
        outcome: status, times and events up to now.
        kept: by vehicle, the number of rows that the log keeps.
    """

    def __init__(
        self,
        layout: RowLayout,
        rate_hz: float,
        log_every: int,
        *,
        fails_when_lost: bool,
        until_done: bool = False,
        tick: int = 0,
    ) -> None:
        """Begin a record.

        Args:
            layout: columns of each vehicle's rows.
            rate_hz: physics steps per second.
            log_every: number of steps per kept row; events and the end are kept as well.
            fails_when_lost: True if a vehicle that leaves its limits ends the flight.
            until_done: True if the flight ends when all guidance with an end is done.
            tick: number of the first step that is recorded.
        """
        self.layout, self.rate_hz = layout, rate_hz
        self.tick = tick
        self.outcome = FlightOutcome()
        self.kept = dict.fromkeys(layout.columns, 0)
        self._log_every = log_every
        self._detector = EventDetector(
            layout,
            fails_when_lost=fails_when_lost,
            until_done=until_done,
            continued=frozenset(layout.columns if tick > 0 else ()),
        )
        self._thinnings = self._new_thinnings(layout)

    @property
    def time_s(self) -> float:
        """Time of the last recorded row."""
        return (self.tick - 1) / self.rate_hz

    def detect(
        self, block: RowBlock, violations: Callable[[], Violation]
    ) -> tuple[RowBlock, EarlyEnd | None]:
        """Return the rows up to one that ends the flight, and its early end if there is one."""
        kept, early_end = self._detector.detect(block, violations)
        self.tick += len(next(iter(kept.values())))
        self.outcome.steps = max(self.tick - 1, 0)
        return kept, early_end

    def change_vehicles(self, layout: RowLayout, removed: Iterable[str]) -> None:
        """Continue with other vehicles, of which those of the layout are recorded from now on."""
        added = layout.columns.keys() - self.layout.columns.keys()
        self.layout = self._detector.layout = self.layout.joined(layout)
        self._thinnings = self._new_thinnings(layout) | self._thinnings
        self.kept = dict.fromkeys(self.layout.columns, 0) | self.kept
        for name in removed:
            self._detector.forget(name)
        began_s = self.tick / self.rate_hz
        names = [name for name in layout.columns if name in added]
        self._detector.events += [Event(began_s, name, ADDED) for name in names]

    def _new_thinnings(self, layout: RowLayout) -> dict[str, Thinning]:
        return {
            name: Thinning(self._log_every, self.rate_hz, columns)
            for name, columns in layout.columns.items()
        }

    def note(self, notices: Iterable[Notice]) -> None:
        """Add what has happened up to the last row and is not in the rows."""
        self._detector.events += [Event(self.time_s, *notice) for notice in notices]

    def close(self) -> None:
        """Note unfinished tasks at the end of a flight."""
        self._detector.close(self.time_s)

    def write(self, sink: "Sink", block: RowBlock, *, ended: bool) -> None:
        """Write the rows that ``detect`` has returned, and the events since the last call."""
        event_times_s: dict[str, set[float]] = {}
        for event in self._detector.events[len(self.outcome.events) :]:
            event_times_s.setdefault(event.vehicle, set()).add(event.time_s)
            sink.event(event.time_s, event.vehicle, event.event)
            self.outcome.events.append(event)
        thinned = {
            name: self._thinnings[name].thinned(rows, event_times_s.get(name, set()), ended=ended)
            for name, rows in block.items()
        }
        for name, rows in thinned.items():
            self.kept[name] += len(rows)
        sink.write(thinned)

    def memory(self) -> Parameters:
        """Return what a later process has to know to continue the record, as plain data."""
        return {
            "tick": self.tick,
            "kept": self.kept,
            "events": [asdict(event) for event in self.outcome.events],
            "wall_s": self.outcome.wall_s,
            "compile_s": self.outcome.compile_s,
            "detected": self._detector.memory(),
            "pending": {name: thinning.memory() for name, thinning in self._thinnings.items()},
        }

    def restore(self, memory: Parameters) -> None:
        """Continue the record of which another one has returned the memory."""
        self.tick = int(memory["tick"])
        self.kept = {name: int(memory["kept"][name]) for name in self.kept}
        events = [Event(**event) for event in memory["events"]]
        self.outcome = FlightOutcome(
            steps=max(self.tick - 1, 0),
            wall_s=float(memory["wall_s"]),
            compile_s=self.outcome.compile_s + float(memory["compile_s"]),
            events=events,
        )
        self._detector.restore(memory["detected"], events)
        for name, thinning in self._thinnings.items():
            thinning.restore(memory["pending"][name])


@dataclass
class Memory:
    """Sink that keeps all rows in memory."""

    blocks: list[RowBlock] = field(default_factory=list)

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Keep a block."""
        self.blocks.append(dict(block))

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        """Do nothing: the outcome holds the events as well."""

    def change_vehicles(self, layout: RowLayout) -> None:
        """Do nothing: the blocks name the vehicles."""

    def values(self, name: str) -> np.ndarray:
        """Return all rows of a vehicle."""
        return np.concatenate([block[name] for block in self.blocks if name in block])
