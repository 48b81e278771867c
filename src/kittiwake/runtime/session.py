"""Flights of one scenario, one after another, in somebody's hands."""

import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue

from kittiwake.analysis.log import Log
from kittiwake.runtime.clock import RealTimeClock
from kittiwake.runtime.live_executor import BLOCKS_HZ, LiveExecutor
from kittiwake.runtime.loop import STOPPED, Follow
from kittiwake.runtime.run_folder import fly_into
from kittiwake.runtime.simulation import Simulation
from kittiwake.runtime.tunable import LiveProgram
from kittiwake.runtime.watch import Block
from kittiwake.scenario.scenario import Scenario

# how long a flight that stands still takes to notice that it is to end
NOTICES_S = 0.1


class Session:
    """Flies a scenario, and again with what was changed when that is asked for.

    ``fly`` belongs to one thread, the main one if Ctrl-C is to end flights; all else may be called
    from any.
    """

    def __init__(
        self,
        scenario: Scenario,
        clock: RealTimeClock,
        watch: Callable[[Block], None] = lambda _: None,
        blocks_hz: float = BLOCKS_HZ,
    ) -> None:
        self.clock = clock
        self._watch, self._blocks_hz = watch, blocks_hz
        self._again, self._closed = threading.Event(), threading.Event()
        self._reason = STOPPED
        self.problems: SimpleQueue[str] = SimpleQueue()
        self._next_seed = scenario.seed
        self._begin(scenario, scenario.seed)

    @property
    def wanted_again(self) -> bool:
        """Whether it is to fly again."""
        return self._again.is_set()

    @property
    def over(self) -> bool:
        """Whether there is to be no other flight."""
        return self._closed.is_set()

    def fly(self, folder: Path, follow: Follow = lambda _: _unseen) -> Log:
        """Flies into a folder, to the end or until it is to begin again or to close."""
        with self.executor:
            flight = self.simulation.flight(seed=self.seed, executor=self.executor)
            log = fly_into(self.simulation, flight, folder, follow(flight), self._ended)
            reason = (log.summary or {}).get("reason") or ""
            if reason.startswith((STOPPED, self._reason)) and not self._again.is_set():
                self.executor.abandon()
            return log

    def wait(self) -> bool:
        """Waits until it is to fly again, which it then is ready for; False if it is to close."""
        while not self._again.wait(NOTICES_S):
            if self._closed.is_set():
                return False
        return not self._closed.is_set()

    def restart(self, seed: int | None = None) -> None:
        """Ends the flight and begins anew, with all changes; a pause stays, failed parts do not."""
        self._next_seed = self.seed if seed is None else seed
        self._again.set()

    def begin_again(self) -> None:
        """Gets ready for the flight that was asked for."""
        self._again.clear()
        self.clock.begin()
        self._begin(self.executor.wanted, self._next_seed, self.executor.latest)

    def close(self, reason: str = STOPPED) -> None:
        """Ends the flight for a reason, and there is to be no other."""
        if not self._closed.is_set():
            self._reason = reason
        self._closed.set()
        self.clock.end()

    def _begin(self, scenario: Scenario, seed: int, former: LiveProgram | None = None) -> None:
        self.seed = seed
        self.simulation = Simulation(scenario)
        program = self.simulation.program
        # what was wrong with a change may turn out in the flight that is to have it
        parts = (scenario, program, self.clock, self._watch, self.problems, self._blocks_hz)
        self.executor = LiveExecutor(*parts, former=former)

    def _ended(self) -> str | None:
        return self._reason if self._again.is_set() or self._closed.is_set() else None


def _unseen(time_s: float) -> None:
    del time_s
