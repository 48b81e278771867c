"""Run folder: a flight with its resolved scenario, log, summary and picture.

A folder holds one run. The files of a former run, with its pictures and exports, are removed when a
flight begins. Files that the user has written or changed are kept, and a run that would replace one
is refused. They are recognized by digests: the log holds those of the files that its run wrote,
``.written.jsonl`` those of pictures and exports.
"""

import copy
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import yaml
from jaxtyping import Float64

from kittiwake.analysis.log import SCENARIO_FILE, SUMMARY_FILE, Log
from kittiwake.analysis.log_reader import files_beside
from kittiwake.analysis.output_file import (
    LOG_FILE,
    WRITTEN_FILE,
    digest,
    is_as_written,
    note_written,
    output_file,
    write_text,
    written_files,
)
from kittiwake.core.errors import LogError
from kittiwake.runtime.interrupt import Interrupted, StopRequests, stop_requests
from kittiwake.runtime.loop import STOPPED, Flight
from kittiwake.runtime.recorder import Recorder
from kittiwake.runtime.simulation import Simulation
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.own_components.entries import as_file_data
from kittiwake.scenario.scenario import Scenario
from kittiwake.scenario.schema import FORMAT

RUNS = Path("runs")
# keys by which a summary is recognized
SUMMARY_KEYS = {"scenario", "seed", "status", "steps", "vehicles"}
# interval of the checks whether the log still exists at its path
CHECK_S = 0.5
PICTURE_FILE = "overview.png"
FILM_MP4, FILM_GIF, STILL_FILE = "film.mp4", "film.gif", "still.png"
ROSBAG1_FILE, ROSBAG2_FOLDER = "log.bag", "rosbag2"


def default_folder(name: str) -> Path:
    """Return the folder for results without ``--out``: ``runs/``, the name and the time."""
    return RUNS / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


@contextmanager
def results_folder(out: Path | None, default: Path) -> Generator[Path]:
    """Create the folder that a command writes into: ``out``, or else a new one.

    The new one has the default name, with a number if that is taken. If the command is refused or
    interrupted before it has written anything, the folder is removed.

    Raises:
        LogError: if it cannot be created or written to.
    """
    requested = out or default
    missing = [path for path in (requested, *requested.parents) if not path.exists()]
    folder = requested
    try:
        requested.parent.mkdir(parents=True, exist_ok=True)
        if out is None:
            folder = _new_folder(requested)
        else:
            requested.mkdir(exist_ok=True)
        # fail now rather than at the end of a long flight
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        _remove_empty(missing)
        reason = error.strerror or error
        message = f"cannot write to '{requested}': {reason}. Name another with --out."
        raise LogError(message) from None
    try:
        yield folder
    except BaseException:
        _remove_empty([folder, *missing] if out is None else missing)
        raise


@contextmanager
def run_folder(
    out: Path | None, scenario: Scenario, default: Path | None = None
) -> Generator[Path]:
    """Create the folder of a run and lock it for this process until the run has ended.

    Raises:
        LogError: if it cannot be written to, another run is active in it, or the run would replace
            a file that no run has written.
    """
    with results_folder(out, default or default_folder(scenario.name)) as folder:
        refuse_foreign_files(folder, scenario)
        handle = os.open(folder, os.O_RDONLY)
        try:
            _lock(handle, folder)
            yield folder
        finally:
            os.close(handle)


def refuse_foreign_files(folder: Path, scenario: Scenario) -> None:
    """Refuse a folder with a file that a run of the scenario would replace and no run has written.

    Raises:
        LogError: with the file.
    """
    digests = files_beside(folder / LOG_FILE)
    copies = {
        name: None if digests is None else digests.get(name)
        for name, source in _copies(scenario).items()
        if os.path.isfile(folder / name) and digest(folder / name) != digest(source)
    }
    foreign = [
        *([LOG_FILE] if digests is None and _has_content(folder / LOG_FILE) else []),
        *([SCENARIO_FILE] if not _is_own_scenario(folder / SCENARIO_FILE, digests) else []),
        *([SUMMARY_FILE] if not _is_own_summary(folder / SUMMARY_FILE, digests) else []),
        *([PICTURE_FILE] if not _is_own_picture(folder / PICTURE_FILE) else []),
        *(name for name, noted in copies.items() if digest(folder / name) != noted),
    ]
    if foreign:
        message = (
            f"'{folder / foreign[0]}' was not written by a run or has been changed, and a run into "
            f"'{folder}' would replace it. Name another folder with --out, or move the file."
        )
        raise LogError(message)


def holds_run(folder: Path) -> bool:
    """Return True if the folder holds the log of a run."""
    return (folder / LOG_FILE).is_file()


def fly_into(
    simulation: Simulation,
    flight: Flight,
    folder: Path,
    progress: Callable[[float], None] = lambda _: None,
    ended: Callable[[], str | None] = lambda: None,
) -> Log:
    """Fly and write scenario, log and summary into the folder.

    Ctrl-C ends the flight after the present block, and so does a reason that ``ended`` returns. A
    second signal does not wait for the block. The log's blocks reach the disk as they are flown, so
    a killed run loses at most its last one. If the folder vanishes, a new one is created in its
    place.

    Raises:
        LogError: if something cannot be written; what was flown before is kept.
        Interrupted: by a second signal, once the summary is written.
    """
    text, copies = _resolved_scenario(simulation, flight), _copies(simulation.scenario)
    written = {SCENARIO_FILE: sha256(text.encode()).hexdigest()}
    written |= {name: digest(source) for name, source in copies.items()}
    with ExitStack() as stack:
        requests = stack.enter_context(stop_requests())
        with requests.held():
            # all or nothing: a log belongs to the scenario that was flown
            if holds_run(folder):
                _remove_products(folder, simulation.scenario.tables.values())
            layout = (flight.layout.columns, flight.layout.quantities)
            recorder = stack.enter_context(Recorder(folder / LOG_FILE, *layout, written))
            try:
                _write_scenario(folder, text, copies)
            except LogError:
                recorder.discard()
                raise
        if requests():
            # requests are checked only after a block
            raise Interrupted
        path_check = _PathCheck(recorder)
        try:
            flight.fly(
                _HeldRecorder(recorder, requests),
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
            log = _finish(simulation, flight, folder, recorder, path_check, (text, copies))
        if requests.insisted:
            raise Interrupted
        return log


def _finish(
    simulation: Simulation,
    flight: Flight,
    folder: Path,
    recorder: Recorder,
    path_check: "_PathCheck",
    scenario: tuple[str, Mapping[str, Path]],
) -> Log:
    """Complete the log, write the summary, and return both as read from the folder."""
    destination, vanished = folder, f"the folder '{folder}' vanished"
    if path_check.has_vanished(now=True):
        if (flight.outcome.reason or "").startswith(STOPPED):
            flight.mark_failed(vanished)
        destination = _save_elsewhere(folder, recorder, *scenario)
    with suppress(LogError):  # a log can be read without its index
        recorder.close()
    log = Log.read(destination)
    summary = simulation.summary(log, flight, flight.outcome)
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


class _HeldRecorder:
    """Recorder whose writes are not interrupted by signals."""

    def __init__(self, recorder: Recorder, requests: StopRequests) -> None:
        self._recorder, self._requests = recorder, requests

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


def _save_elsewhere(
    folder: Path, recorder: Recorder, text: str, copies: Mapping[str, Path]
) -> Path:
    """Save a log whose folder has vanished, in a new folder at its path if possible."""

    def keep(destination: Path) -> Path:
        recorder.copy_to(destination / LOG_FILE)
        with suppress(LogError, OSError):  # the copied files may have been in the folder
            _write_scenario(destination, text, copies)
        return destination

    with suppress(OSError, LogError):
        folder.mkdir(parents=True, exist_ok=True)
        return keep(folder)
    return keep(Path(tempfile.mkdtemp(prefix=f"kittiwake-{folder.name}-")))


def _new_folder(default: Path) -> Path:
    """Create and return a new folder, with a number after its name if that is taken."""
    numbered = (default.with_name(f"{default.name}-{number}") for number in count(2))
    for folder in chain([default], numbered):
        with suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise AssertionError


def _remove_empty(folders: Collection[Path]) -> None:
    """Remove empty folders, the inner ones first."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _lock(handle: int, folder: Path) -> None:
    """Lock a folder, or refuse one that another process flies into."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"another run is active in '{folder}'. Name another folder with --out."
        raise LogError(message) from None
    except OSError:
        return  # a file system without locks


def _has_content(path: Path) -> bool:
    try:
        return os.path.lexists(path) and (not path.is_file() or path.stat().st_size > 0)
    except OSError:
        return True


def _is_own_scenario(path: Path, digests: Mapping[str, str] | None) -> bool:
    """Return True if a scenario is missing, or unchanged since the run of the log beside it."""
    if not os.path.lexists(path):
        return True
    if digests is None or not path.is_file():
        return False
    if SCENARIO_FILE in digests:
        return digest(path) == digests[SCENARIO_FILE]
    # for a log without digests: a text that ``dump_document`` reproduces
    with suppress(OSError, ValueError, RecursionError, yaml.YAMLError):
        text = path.read_text(encoding="utf-8")
        return dump_document(yaml.safe_load(text)) == text
    return False


def _is_own_picture(path: Path) -> bool:
    """Return True if a picture is missing, or unchanged since ``run`` or ``plot`` wrote it."""
    noted = written_files(path.parent).get(path)
    return not os.path.lexists(path) or (noted is not None and is_as_written(path, noted))


def _is_own_summary(path: Path, digests: Mapping[str, str] | None) -> bool:
    """Return True if a summary is missing, or that of a run with a log beside it."""
    if not os.path.lexists(path):
        return True
    if digests is None or not path.is_file():
        return False
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return isinstance(found, dict) and set(found) >= SUMMARY_KEYS
    return False


def _remove_products(folder: Path, kept: Collection[Path]) -> None:
    """Remove unchanged files of run, plot and export, except those that this run reads."""
    reads = {path.resolve() for path in kept}
    noted = written_files(folder)
    (folder / WRITTEN_FILE).unlink(missing_ok=True)
    for path, own in noted.items():
        if not path.resolve().is_relative_to(folder.resolve()) or not is_as_written(path, own):
            continue
        if path.resolve() in reads:
            note_written(path, folder)
            continue
        path.unlink()
        if path.parent != folder:
            _remove_empty([path.parent])
    (folder / LOG_FILE).unlink(missing_ok=True)


def _copies(scenario: Scenario) -> dict[str, Path]:
    """Return the data files that a scenario reads, by their names in a run folder."""
    return {_copy_name(path, file): file for path, file in scenario.tables.items()}


def _copy_name(path: tuple[str | int, ...], file: Path) -> str:
    """Return the name of a copy, which begins with its key path; copies of copies keep theirs."""
    prefix = "".join(f"{part}-" for part in path[1:-1])
    return file.name if file.name.startswith(prefix) else prefix + file.name


def _resolved_scenario(simulation: Simulation, flight: Flight) -> str:
    """Return the text of the scenario as it is flown, with its data files beside it."""
    data: dict[str, Any] = {
        "format": FORMAT,
        **copy.deepcopy(as_file_data(simulation.scenario.document.data)),
    }
    data["seed"] = flight.seed
    data["time"] = {
        "rate_hz": simulation.scenario.rate_hz,
        **data.get("time", {}),
        "duration_s": flight.duration_s,
    }
    for path, file in simulation.scenario.tables.items():
        entry: Any = data
        for key in path[:-1]:
            entry = entry[key]
        entry[path[-1]] = _copy_name(path, file)
    for path, values in simulation.scenario.inlined.items():
        entry = data
        for key in path[:-1]:
            entry = entry[key]
        del entry[path[-1]]
        entry |= values
    return dump_document(data)


def _write_scenario(folder: Path, text: str, copies: Mapping[str, Path]) -> None:
    for name, source in copies.items():
        target = folder / name
        if not target.exists() or not target.samefile(source):
            with output_file(target) as unfinished:
                shutil.copyfile(source, unfinished)
    write_text(folder / SCENARIO_FILE, text)
