"""Record of a flight that is stepped from Python, from which its log is made at any time."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass

import numpy as np

from kittiwake.analysis.table import REMOVED
from kittiwake.runtime.deadlines import Deadlines
from kittiwake.runtime.engine import ChosenEngine, Outputs
from kittiwake.runtime.flight_record import FlightOutcome, FlightRecord, Memory
from kittiwake.runtime.program import Program
from kittiwake.runtime.row_layout import RowBlock, RowLayout, Violation
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
    engine: ChosenEngine
    deadlines: Deadlines | None = None


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
        self._memory = Memory([_no_rows(program)])
        self._rows: list[Outputs] = []
        self._ended = False

    @property
    def ended(self) -> bool:
        """True once a row has ended the flight."""
        return self._ended

    def add(self, rows: Outputs) -> None:
        """Add the rows of each group in a step."""
        self._rows.append(rows)
        if len(self._rows) == BLOCK_STEPS:
            self._write()

    @property
    def layout(self) -> RowLayout:
        """Columns of all vehicles that have flown."""
        return self._record.layout

    def change_program(self, program: Program, removed: Sequence[str]) -> None:
        """Continue with the program of other vehicles; its state is that of the next step."""
        self._write(removed=removed)
        self._program = program
        self._memory.blocks.append(_no_rows(program))
        if not self._ended:
            self._record.change_vehicles(program.layout, removed)
            self._record.write(self._memory, {}, ended=False)

    def finished(self, last: Outputs | None = None) -> tuple[FlightOutcome, Memory]:
        """Return the outcome and the rows up to now, with ``last`` as the rows of the last step."""
        own = copy(self)
        own._record = deepcopy(self._record)
        own._memory = Memory([*self._memory.blocks])
        own._rows = [*self._rows, *([] if last is None else [last])]
        own._write(ended=True)
        return own._record.outcome, own._memory

    def _write(self, *, ended: bool = False, removed: Sequence[str] = ()) -> None:
        """Search the waiting rows for events and keep them, as far as the flight goes."""
        rows, self._rows = self._rows, []
        record = self._record
        if self._ended or not rows:
            if record.tick > 0 and not self._ended:
                record.note((name, REMOVED) for name in removed)
            return
        groups = [np.stack([np.asarray(own) for own in group]) for group in zip(*rows, strict=True)]
        times = np.arange(record.tick, record.tick + len(rows)) / record.rate_hz
        block = self._program.by_vehicle(times, groups)
        kept, early_end = record.detect(block, self._violations)
        if early_end is not None:
            self._ended = True
            record.outcome.status, record.outcome.reason = early_end
        elif ended:
            record.close()
        else:
            # at the time of its last row, which is kept
            record.note((name, REMOVED) for name in removed)
        record.write(self._memory, kept, ended=ended or self._ended)


def _no_rows(program: Program) -> RowBlock:
    return {name: np.empty((0, len(own))) for name, own in program.columns.items()}
