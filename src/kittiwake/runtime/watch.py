"""Looking through the rows of a flight for events, and for reasons to end it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.table import Event
from kittiwake.sim.lane import NON_FINITE

# of a vehicle and its status, what it has left
Violation = Callable[[str, int], str]
Block = dict[str, Float64[np.ndarray, "_rows _columns"]]


@dataclass(frozen=True)
class RowLayout:
    """What a fleet's rows hold: by vehicle the columns, time first, and the judged quantities."""

    columns: dict[str, tuple[str, ...]]
    quantities: dict[str, tuple[str, ...]]

    @property
    def row_bytes(self) -> int:
        """What one step of all vehicles takes."""
        return sum(8 * len(names) for names in self.columns.values())


class Verdict(NamedTuple):
    """How a flight ends before its time."""

    status: str
    reason: str


class Finding(NamedTuple):
    """An event; ``ends`` is the status that the flight ends with because of it, if it does."""

    time_s: float
    vehicle: str
    event: str
    ends: str | None


@dataclass
class Watch:
    """Looks through one flight, block by block.

    A vehicle whose state is not finite ends it as diverged; one that leaves its limits ends it as
    failed where ``fails_when_lost``, and is only noted otherwise.
    """

    layout: RowLayout
    fails_when_lost: bool
    events: list[Event] = field(default_factory=list)
    lost_s: dict[str, float] = field(default_factory=dict)
    _last: dict[str, tuple[int, int]] = field(default_factory=dict)

    def look(
        self, block: Block, violations: Callable[[], Violation]
    ) -> tuple[Block, Verdict | None]:
        """The block up to the row that ends the flight, and how it ends, if it does.

        ``violations`` is called only if vehicles were lost, and once for all of them.
        """
        once = cache(violations)
        found = sorted(
            finding
            for name, values in block.items()
            for finding in self._look_at(name, values, once)
        )
        ending = next((finding for finding in found if finding.ends is not None), None)
        until_s = np.inf if ending is None else ending.time_s
        self.events += [Event(*finding[:3]) for finding in found if finding.time_s <= until_s]
        if ending is None:
            return block, None
        kept = {name: values[values[:, 0] <= until_s] for name, values in block.items()}
        reason = f"{ending.vehicle} {ending.event} at {ending.time_s:g} s"
        return kept, Verdict(str(ending.ends), reason)

    def _look_at(
        self, name: str, values: np.ndarray, violations: Callable[[], Violation]
    ) -> list[Finding]:
        columns = self.layout.columns[name]
        times = values[:, 0]
        status = values[:, columns.index("status")].astype(int)
        legs = values[:, columns.index("guidance.legs")].astype(int)
        last_status, last_legs = self._last.get(name, (0, 0))
        self._last[name] = (int(status[-1]), int(legs[-1]))
        found = [
            Finding(float(times[row]), name, f"reached waypoint {legs[row]}", None)
            for row in np.flatnonzero(np.diff(legs, prepend=last_legs))
        ]
        lost = np.flatnonzero(status)
        if last_status == 0 and lost.size:
            row = int(lost[0])
            time_s, place = float(times[row]), int(status[row])
            self.lost_s[name] = time_s
            quantity = self.layout.quantities[name][place - 1]
            if quantity.startswith(NON_FINITE):
                found.append(Finding(time_s, name, f"diverged: {quantity}", "diverged"))
            else:
                ends = "failed" if self.fails_when_lost else None
                event = f"lost: {violations()(name, place)}"
                found.append(Finding(time_s, name, event, ends))
        return found
