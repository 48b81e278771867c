"""Builder of a flight's first program, and of those for changed scenarios beside the flight."""

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
    """A requested change: the vehicle or entry, its text in the log, and the function."""

    subject: str
    description: str
    change: Change


class Built(NamedTuple):
    """A finished build: a program, how to tune it if it was only retuned, and notices.

    ``is_new`` is True if the program replaces an earlier one.
    """

    program: LiveProgram
    is_new: bool
    tune: Callable[[], None] | None
    notices: Sequence[Notice]


@dataclass
class BuildRequest:
    """Settings that all programs of a flight share.

    Attributes:
        steps: physics steps in a block.
        seed: seed of the random streams.
        former: live program of an earlier flight; if it still fits, nothing is compiled again.
    """

    steps: int
    seed: int
    former: LiveProgram | None


class ProgramBuilder:
    """Builder of programs; of changes with one key only the newest counts.

    Attributes:
        scenario: the scenario with all changes that have been built.
    """

    def __init__(
        self, scenario: Scenario, problems: SimpleQueue[str], built: Callable[[Built], None]
    ) -> None:
        """Prepare to build; ``open`` builds the first program.

        Args:
            scenario: the initial scenario.
            problems: receives messages about failed builds.
            built: called with each finished build, in the builder's thread.
        """
        self.scenario = scenario
        self._problems, self._built = problems, built
        self._request: BuildRequest | None = None
        self._latest: LiveProgram | None = None
        self._failing: dict[str, dict[str, float]] = {}
        self._latest_failing: Mapping[str, Mapping[str, float]] = {}
        # changes that are waiting, and those that are being built
        self._changes: dict[str, PendingChange] = {}
        self._building: dict[str, PendingChange] = {}
        # guards changes and faults, which other threads write and the builder's thread reads
        self._lock = threading.RLock()
        # compiling cannot be interrupted, so a process ends only after it
        self._thread = ThreadPoolExecutor(1, "program-builder")
        self._closed = False
        # identifier of the thread while it builds
        self._thread_id: int | None = None

    @property
    def latest(self) -> LiveProgram | None:
        """The newest program; None before there is one."""
        return self._latest

    @property
    def closed(self) -> bool:
        """True once nothing more is built."""
        return self._closed

    @property
    def failing(self) -> Mapping[str, Mapping[str, float]]:
        """The failed parts of each vehicle, with the times of their failures in seconds."""
        with self._lock:
            return {name: dict(parts) for name, parts in self._failing.items()}

    @property
    def requested_scenario(self) -> Scenario:
        """The scenario with all changes, whether built already or not."""
        with self._lock:
            scenario, changes = self.scenario, {**self._building, **self._changes}
        return self._with_changes(scenario, changes)[0]

    def open(self, request: BuildRequest) -> LiveProgram:
        """Build the first program; changes from now on are built in the thread of the builder.

        Raises:
            KittiwakeError: if the scenario cannot be built.
        """
        program = self._build(request)
        self._request = request
        # for what was requested meanwhile
        self._schedule_update()
        return program

    def close(self) -> None:
        """Build nothing more and discard the program that is being built."""
        with self._lock:
            self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    def abandon(self) -> None:
        """Close, and interrupt the build in a process that is about to end.

        Otherwise its thread would take half of the interpreter's time from what is left to do. The
        compiler cannot be interrupted, but does not hold the interpreter.
        """
        self.close()
        with self._lock:
            if self._thread_id is not None:
                thread, error = ctypes.c_ulong(self._thread_id), ctypes.py_object(SystemExit)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)

    def change(self, key: str, change: PendingChange) -> None:
        """Queue a change, in place of an earlier one with the same key that is still waiting."""
        with self._lock:
            self._changes.pop(key, None)
            self._changes[key] = change
        self._schedule_update()

    def fail(self, vehicle: str, part: str, at_s: float, *, failed: bool) -> None:
        """Make a part fail, or work again."""
        with self._lock:
            parts = self._failing.setdefault(vehicle, {})
            if failed == (part in parts):
                return
            if failed:
                parts[part] = at_s
            else:
                del parts[part]
        self._schedule_update()

    def _schedule_update(self) -> None:
        """Let the thread build what is requested, while there is a flight."""
        with self._lock:
            if self._request is not None and not self._closed:
                self._thread.submit(self._update_in_thread, self._request)

    def _update_in_thread(self, request: BuildRequest) -> None:
        """Call ``_update`` and report unexpected errors, which the thread would swallow."""
        with self._lock:
            if self._closed:
                return
            self._thread_id = threading.get_ident()
        try:
            self._update(request)
        except Exception as error:
            self._problems.put(f"{type(error).__name__}: {error}")
            raise
        finally:
            with self._lock:
                self._building, self._thread_id = {}, None

    def _update(self, request: BuildRequest) -> None:
        """Build the program of the scenario as requested now, unless nothing has changed."""
        with self._lock:
            if not self._changes and self._latest_failing == self.failing:
                return
        try:
            self._build(request)
        except KittiwakeError as error:
            self._problems.put(str(error))

    def _build(self, request: BuildRequest) -> LiveProgram:
        with self._lock:
            failing, latest = self.failing, self._latest
            self._building, self._changes = self._changes, {}
        scenario, self._building = self._with_changes(self.scenario, self._building)
        ready = with_dormant_faults(scenario, failing)
        fleet = fleet_of(ready, live_parameters=True, scored=True)
        program = self._program(request, fleet, ready)
        notices = [(change.subject, change.description) for change in self._building.values()]
        notices += _fault_notices(self._latest_failing, failing)
        tune = (lambda: program.tune(fleet, ready.vehicles)) if program is latest else None
        is_new = latest is not None and program is not latest
        with self._lock:
            self.scenario, self._building = scenario, {}
        # before other threads can see the new program
        self._built(Built(program, is_new, tune, notices))
        self._latest, self._latest_failing = program, failing
        return program

    def _program(self, request: BuildRequest, fleet: Any, ready: Scenario) -> LiveProgram:
        if self._latest is not None and self._latest.fits(fleet):
            return self._latest
        former = request.former
        if self._latest is None and former is not None and former.fits(fleet):
            former.restart(fleet, ready.vehicles, request.seed)
            return former
        program = LiveProgram(fleet, ready.vehicles, request.steps, request.seed)
        # a live flight may last for hours
        trim_heap()
        return program

    def _with_changes(
        self, scenario: Scenario, changes: Mapping[str, PendingChange]
    ) -> tuple[Scenario, dict[str, PendingChange]]:
        """Return the scenario with changes, and those of them that were possible."""
        made = {}
        for key, pending in changes.items():
            try:
                scenario = pending.change(scenario)
            except KittiwakeError as error:
                self._problems.put(str(error))
            else:
                made[key] = pending
        return scenario, made


def _fault_notices(
    before: Mapping[str, Mapping[str, float]], after: Mapping[str, Mapping[str, float]]
) -> list[Notice]:
    """Return notices of the parts that have failed or work again."""
    one, other = ({(name, part) for name, parts in f.items() for part in parts}
                  for f in (before, after))  # fmt: skip
    fails = [(name, f"{part} fails") for name, part in sorted(other - one)]
    return fails + [(name, f"{part} works again") for name, part in sorted(one - other)]
