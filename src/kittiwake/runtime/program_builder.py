"""Builder of live programs, in a thread beside the flight."""

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import NamedTuple

from kittiwake.core.errors import KittiwakeError
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_inputs import CommandSlots
from kittiwake.runtime.command_source import Notice
from kittiwake.runtime.commands import accepted_commands
from kittiwake.runtime.heap import trim_heap
from kittiwake.runtime.maneuvers import compile_maneuvers
from kittiwake.runtime.program import Program
from kittiwake.scenario.dormant_faults import with_dormant_faults
from kittiwake.scenario.scenario import Scenario
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.hosts import with_hosts_of
from kittiwake.sim.state import FleetState
from kittiwake.tasks.task_commander import commander_of

Change = Callable[[Scenario], Scenario]


class PendingChange(NamedTuple):
    """A requested change: the vehicle or entry, its text in the log if any, and the function."""

    subject: str
    description: str
    change: Change


class Built(NamedTuple):
    """A finished build: a fleet, its program, and notices.

    ``fresh`` is an initial state if the program replaces an earlier one. Otherwise it is None, and
    the program has to be tuned to the fleet.
    """

    program: Program
    fleet: Fleet
    vehicles: Mapping[str, AssembledVehicle]
    fresh: FleetState | None
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
    former: Program | None


class ProgramBuilder:
    """Builder of programs in a thread of its own; of changes with one key only the newest counts.

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
        self._latest: Program | None = None
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
    def latest(self) -> Program | None:
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

    def open(self, request: BuildRequest) -> Program:
        """Wait for the first program; changes from now on are built beside the flight.

        Raises:
            KittiwakeError: if the scenario cannot be built.
        """
        # also in the thread, since a signal interrupts waiting but not compiling
        program = self._thread.submit(self._build, request).result()
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

    def _build(self, request: BuildRequest) -> Program:
        with self._lock:
            latest = self._latest
            self._building, self._changes = self._changes, {}
        scenario, self._building = self._with_changes(self.scenario, self._building)
        with self._lock:
            for removed in self._failing.keys() - scenario.vehicles.keys():
                del self._failing[removed]
            failing = self.failing
        ready = with_dormant_faults(scenario, failing)
        fleet = ready.fleet(commander_of(ready, scored=True), live_parameters=True)
        known = request.former if latest is None else latest
        if known is not None:
            fleet = with_hosts_of(fleet, known.fleet)
        program = self._program(request, fleet, ready, known)
        notices = [
            (change.subject, change.description)
            for change in self._building.values()
            if change.description
        ]
        notices += _fault_notices(self._latest_failing, failing)
        if latest is None:
            program.set_parameters(fleet, ready.vehicles)
        is_new = latest is not None and program is not latest
        fresh = program.start(request.seed) if is_new else None
        with self._lock:
            self.scenario, self._building = scenario, {}
        # before other threads can see the new program
        self._built(Built(program, fleet, ready.vehicles, fresh, notices))
        self._latest, self._latest_failing = program, failing
        return program

    def _program(
        self, request: BuildRequest, fleet: Fleet, ready: Scenario, known: Program | None
    ) -> Program:
        """Return a known program if it fits, else another one."""
        if known is not None and known.fits(fleet):
            return known
        inputs = CommandSlots(fleet, ready.vehicles)
        program = Program(fleet, ready.vehicles, inputs)
        program.compile_block(request.steps)
        compile_maneuvers({accepted_commands(ready.vehicles[g.names[0]]) for g in fleet.groups})
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
