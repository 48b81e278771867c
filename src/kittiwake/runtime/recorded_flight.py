"""Flight into a run folder: scenario, log and summary are written as it is flown."""

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.flown_scenario import portable
from kittiwake.analysis.log import SUMMARY_FILE, Log
from kittiwake.analysis.output_file import LOG_FILE, write_text
from kittiwake.analysis.portable_scenario import PortableScenario
from kittiwake.analysis.run_folder import (
    ROWS,
    holds_run,
    remove_products,
    write_scenario,
    written_digests,
)
from kittiwake.analysis.run_outcome import STOPPED
from kittiwake.core.errors import LogError
from kittiwake.core.parameters import Parameters
from kittiwake.runtime.flight_record import FlownFlight
from kittiwake.runtime.interrupt import Interrupted, StopRequests, stop_requests
from kittiwake.runtime.loop import Flight
from kittiwake.runtime.recorder import Recorder
from kittiwake.runtime.row_layout import RowBlock, RowLayout
from kittiwake.scenario.scenario import Scenario

# the log of a resumed run until it holds what was flown before
RESUMED_LOG = "resumed-log.mcap"
# interval of the checks whether the log still exists at its path
CHECK_S = 0.5


@runtime_checkable
class FlownSimulation(Protocol):
    """Scenario whose flights are summarized, as ``Simulation`` does.

    Attributes:
        flown: the scenario with the vehicles that have been removed in flight.
    """

    flown: Scenario

    @property
    def scenario(self) -> Scenario:
        """The scenario."""
        ...

    def summary(self, log: Log, flight: FlownFlight) -> Parameters:
        """Return the contents of a flight's ``summary.json``."""
        ...


def fly_into(
    simulation: FlownSimulation,
    flight: Flight,
    folder: Path,
    progress: Callable[[float], None] = lambda _: None,
    ended: Callable[[], str | None] = lambda: None,
    before: RowBlock | None = None,
    changed: Callable[[], Scenario] | None = None,
) -> Log:
    """Fly and write scenario, log and summary into the folder.

    Ctrl-C ends the flight after the present block, and so does a reason that ``ended`` returns. A
    second signal does not wait for the block. The log's blocks reach the disk as they are flown, so
    a killed run loses at most its last one. If the folder vanishes, a new one is created in its
    place.

    Args:
        simulation: the scenario that is flown.
        flight: the flight.
        folder: a run folder.
        progress: called with the simulated time after each block.
        ended: returns a reason to end the flight; None without one.
        before: the rows of a flight that continues a run of this folder; None for another run.
        changed: returns the scenario with all vehicles that have flown, once vehicles were added or
            removed; None if they stay the same.

    Raises:
        LogError: if something cannot be written; what was flown before is kept.
        Interrupted: by a second signal, once the summary is written.
    """
    resolved = portable(simulation.scenario, flight.seed, flight.duration_s)
    written = written_digests(resolved)
    with ExitStack() as stack:
        requests = stack.enter_context(stop_requests())
        with requests.held():
            # all or nothing: a log belongs to the scenario that was flown
            if before is None and holds_run(folder):
                remove_products(folder, resolved.files.values())
            recorder = stack.enter_context(_recorder(folder, flight, written, before))
            try:
                write_scenario(folder, resolved)
            except LogError:
                recorder.discard()
                raise
        if requests():
            # requests are checked only after a block
            raise Interrupted
        path_check = _PathCheck(recorder)
        change = partial(_change_vehicles, simulation, flight, folder, recorder, changed)
        held = _HeldRecorder(recorder, requests, resolved, change)
        try:
            flight.fly(
                held,
                progress,
                lambda: STOPPED if requests() or path_check.has_vanished() else ended(),
            )
        except Interrupted:
            flight.mark_failed(STOPPED)
        except LogError:
            if recorder.failure is None:
                raise
            flight.mark_failed("the log could not be written any further")
        with requests.held():
            log = _finish(simulation, flight, folder, recorder, path_check, held.portable)
        if requests.insisted:
            raise Interrupted
        return log


def _change_vehicles(
    simulation: FlownSimulation,
    flight: Flight,
    folder: Path,
    recorder: Recorder,
    changed: Callable[[], Scenario] | None,
    layout: RowLayout,
) -> PortableScenario:
    """Record other vehicles from now on, and return the scenario that is beside the log then."""
    assert changed is not None, "the vehicles of this flight stay the same"
    simulation.flown = changed()
    resolved = portable(simulation.flown, flight.seed, flight.duration_s)
    recorder.add_vehicles(layout.columns, layout.quantities, written_digests(resolved))
    write_scenario(folder, resolved)
    return resolved


def _finish(
    simulation: FlownSimulation,
    flight: Flight,
    folder: Path,
    recorder: Recorder,
    path_check: "_PathCheck",
    portable: PortableScenario,
) -> Log:
    """Complete the log, write the summary, and return both as read from the folder."""
    destination, vanished = folder, f"the folder '{folder}' vanished"
    if path_check.has_vanished(now=True):
        if (flight.outcome.reason or "").startswith(STOPPED):
            flight.mark_failed(vanished)
        destination = _save_elsewhere(folder, recorder, portable)
    with suppress(LogError):  # a log can be read without its index
        recorder.close()
    log = Log.read(destination)
    summary = simulation.summary(log, flight)
    try:
        write_text(destination / SUMMARY_FILE, json.dumps(summary, indent=2) + "\n")
    except LogError as error:
        raise (recorder.failure or error) from None
    if recorder.failure is not None:
        message = f"{recorder.failure} What was flown before is in the log."
        raise LogError(message)
    if destination != folder:
        message = f"{vanished} and cannot be created again; the flight is in '{destination}'"
        raise LogError(message)
    return Log.read(destination)


def _recorder(
    folder: Path, flight: Flight, written: Mapping[str, str], before: RowBlock | None
) -> Recorder:
    """Return the recorder of a flight's log, which holds what was flown before.

    Raises:
        LogError: if it cannot be written; an earlier log is kept.
    """
    layout = (flight.layout.columns, flight.layout.quantities)
    if before is None:
        return Recorder(folder / LOG_FILE, *layout, written)
    recorder = Recorder(folder / RESUMED_LOG, *layout, written)
    try:
        for event in flight.outcome.events:
            recorder.event(event.time_s, event.vehicle, event.event)
        for first in range(0, max(map(len, before.values())), ROWS):
            recorder.write({name: rows[first : first + ROWS] for name, rows in before.items()})
        recorder.move_to(folder / LOG_FILE)
    except LogError:
        recorder.discard()
        raise
    return recorder


class _HeldRecorder:
    """Recorder whose writes are not interrupted by signals."""

    def __init__(
        self,
        recorder: Recorder,
        requests: StopRequests,
        portable: PortableScenario,
        change: Callable[[RowLayout], PortableScenario],
    ) -> None:
        self._recorder, self._requests = recorder, requests
        # the scenario beside the log
        self.portable, self._change = portable, change

    def change_vehicles(self, layout: RowLayout) -> None:
        with self._requests.held():
            self.portable = self._change(layout)

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        with self._requests.held():
            self._recorder.write(block)

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        with self._requests.held():
            self._recorder.event(time_s, vehicle, event)


class _PathCheck:
    """Periodic check that a log still exists at its path."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._next_s, self._vanished = recorder, 0.0, False

    def has_vanished(self, *, now: bool = False) -> bool:
        """Return True if the log was missing at the last check; checks if due, or ``now``."""
        if not self._vanished and (now or monotonic() >= self._next_s):
            self._next_s = monotonic() + CHECK_S
            self._vanished = not self._recorder.is_at_its_path()
        return self._vanished


def _save_elsewhere(folder: Path, recorder: Recorder, portable: PortableScenario) -> Path:
    """Save a log whose folder has vanished, in a new folder at its path if possible."""

    def keep(destination: Path) -> Path:
        recorder.copy_to(destination / LOG_FILE)
        with suppress(LogError, OSError):  # the copied files may have been in the folder
            write_scenario(destination, portable)
        return destination

    with suppress(OSError, LogError):
        folder.mkdir(parents=True, exist_ok=True)
        return keep(folder)
    return keep(Path(tempfile.mkdtemp(prefix=f"kittiwake-{folder.name}-")))
