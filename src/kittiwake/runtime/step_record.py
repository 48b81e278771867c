"""Record of a flight that is stepped from Python, from which its log is made at any time."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from jaxtyping import Array

from kittiwake.runtime.flight_record import FlightOutcome, FlightRecord, Memory
from kittiwake.runtime.program import Program
from kittiwake.runtime.row_layout import RowLayout, Violation
from kittiwake.sim.state import FleetState

# steps whose rows are kept as they come from the compiled step, before they are searched for events
BLOCK_STEPS = 256


@dataclass(frozen=True)
class SteppedFlight:
    """A flight up to now, as ``Flight`` describes one."""

    layout: RowLayout
    seed: int
    duration_s: float
    state: FleetState
    outcome: FlightOutcome


class StepRecord:
    """Record of one flight, step by step.

    Attributes:
        ended: True once a row has ended the flight; later rows are not kept.
    """

    def __init__(
        self,
        program: Program,
        record: FlightRecord,
        violations: Callable[[], Violation],
    ) -> None:
        """Begin a record; ``violations`` returns those of the present state."""
        self._program, self._record, self._violations = program, record, violations
        self._memory = Memory(
            [{name: np.empty((0, len(own))) for name, own in program.columns.items()}]
        )
        self._rows: list[tuple[Array, ...]] = []
        self._ended = False

    @property
    def ended(self) -> bool:
        """True once a row has ended the flight."""
        return self._ended

    def add(self, rows: tuple[Array, ...]) -> None:
        """Add the rows of each group in a step."""
        self._rows.append(rows)
        if len(self._rows) == BLOCK_STEPS:
            self._write()

    def finished(self, last: tuple[Array, ...] | None = None) -> tuple[FlightOutcome, Memory]:
        """Return the outcome and the rows up to now, with ``last`` as the rows of the last step."""
        own = object.__new__(StepRecord)
        own.__dict__ |= self.__dict__
        own._record = deepcopy(self._record)
        own._memory = Memory([*self._memory.blocks])
        own._rows = [*self._rows, *([] if last is None else [last])]
        own._write(ended=True)
        return own._record.outcome, own._memory

    def _write(self, *, ended: bool = False) -> None:
        """Search the waiting rows for events and keep them, as far as the flight goes."""
        rows, self._rows = self._rows, []
        if self._ended or not rows:
            return
        record = self._record
        groups = [
            np.stack([np.asarray(own) for own in group]).astype(np.float64)
            for group in zip(*rows, strict=True)
        ]
        times = np.arange(record.tick, record.tick + len(rows)) / record.rate_hz
        block = self._program.by_vehicle(times, groups)
        kept, early_end = record.detect(block, self._violations)
        if early_end is not None:
            self._ended = True
            record.outcome.status, record.outcome.reason = early_end
        elif ended:
            record.close()
        record.write(self._memory, kept, ended=ended or self._ended)
