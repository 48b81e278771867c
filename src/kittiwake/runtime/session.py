"""Live session: flights of one scenario, one after another, until it is closed."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import SimpleQueue

from kittiwake.analysis.log import Log
from kittiwake.analysis.run_outcome import STOPPED
from kittiwake.analysis.table import Event
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.live_executor import BLOCKS_HZ, LiveExecutor
from kittiwake.runtime.loop import Flight, Follow
from kittiwake.runtime.program import Program
from kittiwake.runtime.recorded_flight import fly_into
from kittiwake.runtime.row_layout import RowBlock
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.randomization import drawn, randomized_as
from kittiwake.scenario.scenario import Scenario

# polling interval of ``wait``
POLL_S = 0.1


class Session:
    """Live session of a scenario; a restart flies it again with all changes.

    Call ``fly`` from one thread only, the main one if Ctrl-C is to end flights. All other methods
    may be called from any thread.

    Attributes:
        clock: decides when the next block is flown.
        problems: messages about requests that failed.
        end_reason: why the flight ended; empty before its end and for its planned end.
        folder: run folder of the newest flight; None before the first one.
    """

    def __init__(
        self,
        scenario: Scenario,
        clock: RealTimeClock,
        on_block: Callable[[RowBlock], None] = lambda _: None,
        blocks_hz: float = BLOCKS_HZ,
    ) -> None:
        self.clock = clock
        self._on_block, self._blocks_hz = on_block, blocks_hz
        self._restart, self._closed = threading.Event(), threading.Event()
        self._reason = STOPPED
        self.problems: SimpleQueue[str] = SimpleQueue()
        self.folder: Path | None = None
        self._flight: Flight | None = None
        self._written, self._next_seed = scenario, scenario.seed
        self._begin(scenario, scenario.seed)

    @property
    def restart_requested(self) -> bool:
        """True if a restart was requested and has not begun."""
        return self._restart.is_set()

    @property
    def closed(self) -> bool:
        """True once the session is closed, after which there is no other flight."""
        return self._closed.is_set()

    @property
    def events(self) -> Sequence[Event]:
        """Events of the flight so far."""
        return () if self._flight is None else tuple(self._flight.outcome.events)

    def fly(self, folder: Path, follow: Follow = lambda _: _ignore) -> Log:
        """Fly into a folder, to the end or until a restart or the end of the session."""
        with self.executor:
            flight = self.simulation.flight(seed=self.seed, executor=self.executor)
            self._flight, self.folder = flight, folder
            log = fly_into(
                self.simulation,
                flight,
                folder,
                follow(flight),
                self._ended,
                changed=lambda: self.executor.flown,
            )
            reason = (log.summary or {}).get("reason") or ""
            self.end_reason = reason
            if reason.startswith((STOPPED, self._reason)) and not self._restart.is_set():
                self.executor.abandon()
            return log

    def wait(self) -> bool:
        """Wait for a requested restart; return False if the session is closed instead."""
        while not self._restart.wait(POLL_S):
            if self._closed.is_set():
                return False
        return not self._closed.is_set()

    def restart(self, seed: int | None = None) -> None:
        """End the flight and request another one with all changes, but without injected faults."""
        self._next_seed = self.seed if seed is None else seed
        self._restart.set()

    def prepare_restart(self) -> None:
        """Prepare the requested flight."""
        self._restart.clear()
        self.clock.begin()
        self._flight = self.folder = None
        requested = self.executor.requested_scenario
        if self._next_seed != self.seed:
            requested = randomized_as(requested, self._written)
        self._begin(requested, self._next_seed, self.executor.latest)

    def close(self, reason: str = STOPPED) -> None:
        """End the flight for a reason, and allow no other."""
        if not self._closed.is_set():
            self._reason = reason
        self._closed.set()
        self.clock.end()

    def _begin(self, scenario: Scenario, seed: int, former: Program | None = None) -> None:
        self.seed, self.end_reason = seed, ""
        scenario = drawn(scenario, seed)
        self.simulation = Simulation(scenario)
        self.executor = LiveExecutor(
            scenario,
            self.simulation.program.layout,
            self.clock,
            self._on_block,
            # shared, since a wrong change may only be found in the flight that applies it
            self.problems,
            self._blocks_hz,
            former=former,
        )

    def _ended(self) -> str | None:
        return self._reason if self._restart.is_set() or self._closed.is_set() else None


def _ignore(time_s: float) -> None:
    del time_s
