"""Detection of events in the rows of a flight, and of reasons to end it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import COMPLETED
from kittiwake.analysis.table import (
    CONTACT,
    EMPTY,
    FAULTS,
    FINISHED,
    LANDINGS,
    LEGS,
    PHASE,
    STATUS,
    TOUCH_OFFSET,
    TOUCH_SPEED,
    TOUCHED_DECK,
    Event,
    Table,
    lies_on_its_back,
)
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
from kittiwake.sim.vehicle_step import NON_FINITE

COUNTERS = (STATUS, LEGS, PHASE, FINISHED, LANDINGS, FAULTS, EMPTY)


class EarlyEnd(NamedTuple):
    """Status and reason of a flight that ends before its last tick."""

    status: str
    reason: str | None


class DetectedEvent(NamedTuple):
    """An event; ``ends`` is the status of the flight if the event ends it, else None."""

    time_s: float
    vehicle: str
    event: str
    ends: str | None


@dataclass
class EventDetector:
    """Detector of events in one flight, block by block.

    A vehicle whose state is not finite ends the flight as diverged. One that leaves its limits ends
    it as failed if ``fails_when_lost``, and is only noted otherwise. With ``until_done`` the flight
    ends when all vehicles whose guidance has an end are done or lost.
    """

    layout: RowLayout
    fails_when_lost: bool
    until_done: bool = False
    # vehicles whose first row continues a flight that is not known: what it counts is no event
    continued: frozenset[str] = frozenset()
    events: list[Event] = field(default_factory=list)
    _last: dict[tuple[str, str], int] = field(default_factory=dict)
    # by vehicle, the places of the columns that count, and their last values
    _places: dict[str, list[int]] = field(default_factory=dict)
    _counted: dict[str, Float64[np.ndarray, " columns"]] = field(default_factory=dict)

    def detect(
        self, block: RowBlock, violations: Callable[[], Violation]
    ) -> tuple[RowBlock, EarlyEnd | None]:
        """Return the block up to the row that ends the flight, and its early end if it does.

        ``violations`` is called only if vehicles were lost, and once for all of them.
        """
        once = cache(violations)
        found = sorted(
            detected
            for name, values in block.items()
            if self._has_changed(name, values)
            for detected in self._detect_in(name, Table(self.layout.columns[name], values), once)
        )
        ending = next((detected for detected in found if detected.ends is not None), None)
        until_s = np.inf if ending is None else ending.time_s
        done_s = self._done_s(block) if self.until_done else None
        if done_s is not None and done_s < until_s:
            ending, until_s = None, done_s
        self.events += [Event(*detected[:3]) for detected in found if detected.time_s <= until_s]
        if until_s == np.inf:
            return block, None
        kept = {name: values[values[:, 0] <= until_s] for name, values in block.items()}
        if ending is None:
            return kept, EarlyEnd(COMPLETED, None)
        reason = f"{ending.vehicle} {ending.event} at {ending.time_s:g} s"
        return kept, EarlyEnd(str(ending.ends), reason)

    def _done_s(self, block: RowBlock) -> float | None:
        """Return the time at which the last vehicle was done or lost; None while one is not."""
        done_s = []
        for name, values in block.items():
            columns = self.layout.columns[name]
            if FINISHED not in columns:
                continue
            over = (values[:, columns.index(FINISHED)] > 0.0) | (
                values[:, columns.index(STATUS)] > 0.0
            )
            if not over[-1]:
                return None
            # the row after the last one in which it was not
            first = int(np.flatnonzero(~over)[-1]) + 1 if not over.all() else 0
            done_s.append(float(values[first, 0]))
        return max(done_s, default=None)

    def close(self, time_s: float) -> None:
        """Note unfinished tasks of vehicles that were not lost."""
        for (name, column), finished in self._last.items():
            lost = self._last.get((name, STATUS), 0)
            if column == FINISHED and not finished and not lost:
                phases, phase = self.layout.phases[name], self._last.get((name, PHASE), 0)
                description = next((f": {text}" for text in phases[phase::-1] if text), "")
                self.events.append(Event(time_s, name, f"not finished{description}"))

    def forget(self, vehicle: str) -> None:
        """Forget a vehicle that has been removed, so that no task of it is unfinished."""
        self._last = {key: count for key, count in self._last.items() if key[0] != vehicle}
        self._counted.pop(vehicle, None)

    def memory(self) -> list[list[str | int]]:
        """Return the counts of the last row as plain data."""
        return [[name, column, count] for (name, column), count in self._last.items()]

    def restore(self, memory: Sequence[Sequence[str | int]], events: Sequence[Event]) -> None:
        """Continue after the events of another detector, with its memory."""
        self._last = {(str(name), str(column)): int(count) for name, column, count in memory}
        self.events = [*events]

    def _has_changed(self, name: str, values: Float64[np.ndarray, "rows columns"]) -> bool:
        """Return False if no row of a vehicle can have an event."""
        places = self._places.get(name)
        if places is None:
            columns = self.layout.columns[name]
            valid = [f"sensor.{sensor}.valid" for sensor in self.layout.receivers[name]]
            counts = [CONTACT, *COUNTERS, *valid]
            places = [columns.index(column) for column in counts if column in columns]
            self._places[name] = places
        counts, before = values[:, places], self._counted.get(name)
        self._counted[name] = counts[-1]
        if before is None or (counts != before).any():
            return True
        # a vehicle on the ground may turn over
        return CONTACT in self.layout.columns[name] and bool(before[0] > 0.0)

    def _detect_in(
        self, name: str, table: Table, violations: Callable[[], Violation]
    ) -> list[DetectedEvent]:
        times = table.values[:, 0]

        def events_of(column: str, event: Callable[[int, int], str]) -> list[DetectedEvent]:
            if column not in table.columns:
                return []
            counts = _turned_over(table) if column == CONTACT else table.part((column,))[:, 0]
            return [
                DetectedEvent(float(times[row]), name, event(row, count), None)
                for row, before, now in self._changes(name, column, counts)
                for count in range(before + 1, now + 1)
            ]

        if FINISHED in table.columns:
            self._changes(name, FINISHED, table.part((FINISHED,))[:, 0])
        found = [
            *events_of(LEGS, lambda _, count: f"reached waypoint {count}"),
            *self._phases(name, table),
            *events_of(LANDINGS, lambda row, _: _touchdown(table, row)),
            *events_of(CONTACT, lambda *_: "turned over"),
            *events_of(FAULTS, lambda _, count: self.layout.faults[name][count - 1]),
            *events_of(EMPTY, lambda *_: "battery empty"),
            *self._fixes(name, table),
        ]
        lost_before = self._last.get((name, STATUS), 0)
        losses = self._changes(name, STATUS, table.part((STATUS,))[:, 0])
        if lost_before or not losses:
            return found
        row, _, status = losses[0]
        quantity = self.layout.quantities[name][status - 1]
        if quantity.startswith(NON_FINITE):
            event, ends = f"diverged: {quantity}", "diverged"
        else:
            event = f"lost: {violations()(name, status)}"
            ends = "failed" if self.fails_when_lost else None
        return [*found, DetectedEvent(float(times[row]), name, event, ends)]

    def _phases(self, name: str, table: Table) -> Iterator[DetectedEvent]:
        """Yield the parts of a task that have begun and have a description."""
        if PHASE not in table.columns:
            return
        descriptions = self.layout.phases[name]
        phases = table.part((PHASE,))[:, 0]
        for row, _, phase in self._changes(name, PHASE, phases, initial=-1):
            if descriptions[phase]:
                yield DetectedEvent(float(table.values[row, 0]), name, descriptions[phase], None)

    def _fixes(self, name: str, table: Table) -> Iterator[DetectedEvent]:
        """Yield fixes that are lost and found again; a fix at the start is expected."""
        for sensor in self.layout.receivers[name]:
            column = f"sensor.{sensor}.valid"
            without = 1.0 - table.part((column,))[:, 0]
            for row, _, lost in self._changes(name, column, without):
                change = "lost its fix" if lost else "has a fix"
                yield DetectedEvent(float(table.values[row, 0]), name, f"{sensor} {change}", None)

    def _changes(
        self,
        name: str,
        column: str,
        numbers: Float64[np.ndarray, " rows"],
        initial: int = 0,
    ) -> list[tuple[int, int, int]]:
        """Return the rows in which a count has changed, with its values before and there."""
        counts = numbers.astype(int)
        first = int(counts[0]) if name in self.continued else initial
        before = np.concatenate([[self._last.get((name, column), first)], counts[:-1]])
        self._last[name, column] = int(counts[-1])
        return [
            (int(row), int(before[row]), int(counts[row]))
            for row in np.flatnonzero(counts != before)
        ]


def _turned_over(table: Table) -> Float64[np.ndarray, " rows"]:
    """Return 1 where a vehicle touches a surface with its z axis pointing down, else 0."""
    return lies_on_its_back(table.part(("qx", "qy", CONTACT))).astype(float)


def _touchdown(table: Table, row: int) -> str:
    speed_mps, on_deck, offset_m = table.part((TOUCH_SPEED, TOUCHED_DECK, TOUCH_OFFSET))[row]
    where = f", {offset_m:.3g} m from the deck's center" if on_deck else ""
    return f"touched down at {speed_mps:.3g} m/s{where}"
