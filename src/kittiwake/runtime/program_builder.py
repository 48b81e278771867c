"""Programs for a scenario as somebody wants it anew, built beside the flight, which never waits."""

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NamedTuple

from kittiwake.core.errors import KittiwakeError
from kittiwake.runtime.command_source import Notice
from kittiwake.runtime.heap import trim_heap
from kittiwake.runtime.tunable import LiveProgram
from kittiwake.scenario.dormant_faults import with_dormant_faults
from kittiwake.scenario.scenario import Scenario
from kittiwake.tasks.task_commander import fleet_of

Change = Callable[[Scenario], Scenario]


class PendingChange(NamedTuple):
    """A change: whose values it changes, what the log says of it, and how it is made."""

    whose: str
    said: str
    change: Change


class Built(NamedTuple):
    """What was built: a program, another one than before or not, or new numbers for that; news."""

    program: LiveProgram
    is_another: bool
    tune: Callable[[], None] | None
    news: Sequence[Notice]


@dataclass
class BuildRequest:
    """What all programs of a flight have in common.

    Attributes:
        single_precision: whether they are in float32.
        steps: in a block.
        seed: of their random streams.
        former: what an earlier flight went on in; if it still fits, nothing is compiled again.
    """

    single_precision: bool
    steps: int
    seed: int
    former: LiveProgram | None


class ProgramBuilder:
    """Builds programs in a thread of its own, of changes of the same only the newest.

    Attributes:
        scenario: with all changes that have been built.
    """

    def __init__(
        self, scenario: Scenario, problems: SimpleQueue[str], built: Callable[[Built], None]
    ) -> None:
        """Opens it.

        Args:
            scenario: as it is at first.
            problems: takes what could not be built, for whoever wanted it.
            built: takes what was built, in the thread of the workshop.
        """
        self.scenario = scenario
        self._problems, self._built = problems, built
        self._order: BuildRequest | None = None
        self._latest: LiveProgram | None = None
        self._failing: dict[str, dict[str, float]] = {}
        self._latest_failing: Mapping[str, Mapping[str, float]] = {}
        # what is wanted and not begun, and what is being built
        self._changes: dict[str, PendingChange] = {}
        self._doing: dict[str, PendingChange] = {}
        # of what is wanted and what has failed, which pages write and the thread reads
        self._lock = threading.RLock()
        # a process ends after the program that is being compiled, which cannot be cut short
        self._thread = ThreadPoolExecutor(1, "workshop")
        self._closed, self._tried = False, False
        # the thread's number while it builds
        self._builds_in: int | None = None

    @property
    def tried(self) -> bool:
        """Whether the first program is there, or cannot be built."""
        return self._tried

    @property
    def latest(self) -> LiveProgram | None:
        """The newest program; None before there is one."""
        return self._latest

    @property
    def closed(self) -> bool:
        """Whether it builds nothing more."""
        return self._closed

    @property
    def failing(self) -> Mapping[str, Mapping[str, float]]:
        """By vehicle what has failed, and since when."""
        with self._lock:
            return {name: dict(parts) for name, parts in self._failing.items()}

    @property
    def wanted(self) -> Scenario:
        """The scenario with all changes, built already or not."""
        with self._lock:
            scenario, changes = self.scenario, {**self._doing, **self._changes}
        return self._given(scenario, changes)[0]

    def open(self, order: BuildRequest) -> None:
        """Begins to build, the program for the scenario as it is first of all."""
        self._order = order
        self._look()

    def close(self) -> None:
        """Builds nothing more; what is being built comes to nothing."""
        with self._lock:
            self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def abandon(self) -> None:
        """Close, and stop what is being built, of a process that is about to end.

        Otherwise its thread would take half of the interpreter's time from what is left to do. What
        is compiled already cannot be stopped, but takes none.
        """
        self.close()
        with self._lock:
            if self._builds_in is not None:
                thread, error = ctypes.c_ulong(self._builds_in), ctypes.py_object(SystemExit)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)

    def change(self, key: str, wanted: PendingChange) -> None:
        """Changes something, in place of an earlier change of the same key that waits still."""
        with self._lock:
            self._changes.pop(key, None)
            self._changes[key] = wanted
        self._look()

    def fail(self, vehicle: str, part: str, at_s: float, *, failed: bool) -> bool:
        """Makes a part fail, or work again; False if it does already."""
        with self._lock:
            parts = self._failing.setdefault(vehicle, {})
            if failed == (part in parts):
                return False
            if failed:
                parts[part] = at_s
            else:
                del parts[part]
        self._look()
        return True

    def _look(self) -> None:
        """Has the thread look at what is wanted, while there is a flight."""
        with self._lock:
            if self._order is not None and not self._closed:
                self._thread.submit(self._renewed, self._order)

    def _renewed(self, order: BuildRequest) -> None:
        """What ``_renew`` does; a fault of ours must not be lost in its thread."""
        with self._lock:
            if self._closed:
                return
            self._builds_in = threading.get_ident()
        try:
            self._renew(order)
        except Exception as error:
            self._problems.put(f"{type(error).__name__}: {error}")
            raise
        finally:
            with self._lock:
                self._doing, self._builds_in = {}, None
            self._tried = True

    def _renew(self, order: BuildRequest) -> None:
        """The program for the scenario as it is wanted now."""
        with self._lock:
            failing, latest = self.failing, self._latest
            if not self._changes and latest is not None and self._latest_failing == failing:
                return
            self._doing, self._changes = self._changes, {}
        scenario, self._doing = self._given(self.scenario, self._doing)
        ready = with_dormant_faults(scenario, failing)
        try:
            fleet = fleet_of(ready, single_precision=order.single_precision, tunable=True)
            program = self._program(order, fleet, ready)
        except KittiwakeError as error:
            self._problems.put(str(error))
            return
        news = [(wanted.whose, wanted.said) for wanted in self._doing.values()]
        news += _what_has_failed(self._latest_failing, failing)
        tune = (lambda: program.tune(fleet, ready.vehicles)) if program is latest else None
        is_another = latest is not None and program is not latest
        with self._lock:
            self.scenario, self._doing = scenario, {}
        # before anybody can see that it is there
        self._built(Built(program, is_another, tune, news))
        self._latest, self._latest_failing = program, failing

    def _program(self, order: BuildRequest, fleet: Any, ready: Scenario) -> LiveProgram:
        if self._latest is not None and self._latest.fits(fleet):
            return self._latest
        former = order.former
        if self._latest is None and former is not None and former.fits(fleet):
            former.begin_anew(fleet, ready.vehicles, order.seed)
            return former
        program = LiveProgram(fleet, ready.vehicles, order.steps, order.seed)
        # a flight that is watched may go on for hours
        trim_heap()
        return program

    def _given(
        self, scenario: Scenario, changes: Mapping[str, PendingChange]
    ) -> tuple[Scenario, dict[str, PendingChange]]:
        """The scenario with changes, and which of them can be made."""
        made = {}
        for key, wanted in changes.items():
            try:
                scenario = wanted.change(scenario)
            except KittiwakeError as error:
                self._problems.put(str(error))
            else:
                made[key] = wanted
        return scenario, made


def _what_has_failed(
    before: Mapping[str, Mapping[str, float]], after: Mapping[str, Mapping[str, float]]
) -> list[Notice]:
    """The parts that have failed, or work again."""
    one, other = ({(name, part) for name, parts in f.items() for part in parts}
                  for f in (before, after))  # fmt: skip
    fails = [(name, f"{part} fails") for name, part in sorted(other - one)]
    return fails + [(name, f"{part} works again") for name, part in sorted(one - other)]
