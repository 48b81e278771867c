"""A flight into a folder: the resolved scenario, the log, the summary and the picture.

A folder holds one run. What a former one left in it, its pictures and exports as well, is removed
as the flight begins, so that nothing in the folder tells of another flight. What nobody but the
user has written, or has changed since, stays, and a run that would have to replace such a file is
refused: the log has the digests of the files that the run wrote beside it, ``.written.jsonl`` those
of pictures and exports.
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
from kittiwake.scenario.scenario import Scenario

RUNS = Path("runs")
# what every summary says, and hardly anything else
SUMMARY_KEYS = {"scenario", "seed", "status", "steps", "vehicles"}
# how often a flight looks whether its log is still where it was begun
LOOKS_S = 0.5
PICTURE_FILE = "overview.png"
FILM_MP4, FILM_GIF, STILL_FILE = "film.mp4", "film.gif", "still.png"
ROSBAG1_FILE, ROSBAG2_FOLDER = "log.bag", "rosbag2"


def usual_folder(name: str) -> Path:
    """The folder of results that are to go into none in particular."""
    return RUNS / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"


@contextmanager
def results_folder(out: Path | None, usual: Path) -> Generator[Path]:
    """Make the folder that a command writes into: ``out``, or else a new one.

    The new one has the usual name, or that name with a number where there is one already. If the
    command is refused or interrupted before anything lies in its folder, it is removed.

    Raises:
        LogError: if it cannot be made or written to.
    """
    wanted = out or usual
    missing = [path for path in (wanted, *wanted.parents) if not path.exists()]
    folder = wanted
    try:
        wanted.parent.mkdir(parents=True, exist_ok=True)
        if out is None:
            folder = _new_folder(wanted)
        else:
            wanted.mkdir(exist_ok=True)
        # before a long flight finds out that it cannot
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        _remove_empty(missing)
        reason = error.strerror or error
        message = f"cannot write to '{wanted}': {reason}. Name another with --out."
        raise LogError(message) from None
    try:
        yield folder
    except BaseException:
        _remove_empty([folder, *missing] if out is None else missing)
        raise


@contextmanager
def run_folder(out: Path | None, scenario: Scenario, usual: Path | None = None) -> Generator[Path]:
    """Make the folder of a run, which belongs to this process until it has ended.

    Raises:
        LogError: if it cannot be written to, another run goes on in it, or the run would replace a
            file that no run has written.
    """
    with results_folder(out, usual or usual_folder(scenario.name)) as folder:
        refuse_foreign(folder, scenario)
        handle = os.open(folder, os.O_RDONLY)
        try:
            _lock(handle, folder)
            yield folder
        finally:
            os.close(handle)


def refuse_foreign(folder: Path, scenario: Scenario) -> None:
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
            f"'{folder / foreign[0]}' is not as a run has left it, and a run into '{folder}' would "
            "replace it. Name another folder with --out, or move the file."
        )
        raise LogError(message)


def holds_run(folder: Path) -> bool:
    """Whether a run has been flown into the folder."""
    return (folder / LOG_FILE).is_file()


def fly_into(
    simulation: Simulation,
    flight: Flight,
    folder: Path,
    progress: Callable[[float], None] = lambda _: None,
    ended: Callable[[], str | None] = lambda: None,
) -> Log:
    """Fly and leave scenario, log and summary in the folder; Ctrl-C ends it early and in order.

    So does what is ``ended`` from elsewhere, for the reason that it gives. The log's blocks reach
    the disk as they are flown, so a killed run keeps all but its last one. A second signal does not
    wait for the block that is flown. If the folder vanishes, what was flown goes into a new one in
    its place.

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
            # all or nothing: a log goes with the scenario that it was flown by
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
            # nobody looks at requests until a block has been flown
            raise Interrupted
        presence = _Presence(recorder)
        try:
            flight.fly(
                _Held(recorder, requests),
                progress,
                lambda: STOPPED if requests() or presence.has_ended() else ended(),
            )
        except Interrupted:
            flight.fail(STOPPED)
        except LogError:
            if recorder.failure is None:
                raise
            flight.fail("no more of the log could be written")
        with requests.held():
            log = _left(simulation, flight, folder, recorder, presence, (text, copies))
        if requests.insisted:
            raise Interrupted
        return log


def _left(
    simulation: Simulation,
    flight: Flight,
    folder: Path,
    recorder: Recorder,
    presence: "_Presence",
    scenario: tuple[str, Mapping[str, Path]],
) -> Log:
    """Complete the log, write the summary, and return both as they lie in the folder."""
    place, vanished = folder, f"the folder '{folder}' vanished"
    if presence.has_ended(now=True):
        if (flight.outcome.reason or "").startswith(STOPPED):
            flight.fail(vanished)
        place = _kept_elsewhere(folder, recorder, *scenario)
    with suppress(LogError):  # what there is can be read without an index
        recorder.close()
    log = Log.read(place)
    summary = simulation.summary(log, flight, flight.outcome)
    try:
        write_text(place / SUMMARY_FILE, json.dumps(summary, indent=2) + "\n")
    except LogError as error:
        raise (recorder.failure or error) from None
    if recorder.failure is not None:
        message = f"{recorder.failure} What was flown before is in the log."
        raise LogError(message)
    if place != folder:
        message = f"{vanished} and cannot be made again; what was flown is in '{place}'"
        raise LogError(message)
    return Log.read(place)


class _Held:
    """A recorder whose rows are written whole, whatever signals come."""

    def __init__(self, recorder: Recorder, requests: StopRequests) -> None:
        self._recorder, self._requests = recorder, requests

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        with self._requests.held():
            self._recorder.write(block)

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        with self._requests.held():
            self._recorder.event(time_s, vehicle, event)


class _Presence:
    """Looks from time to time whether a log is still where it was begun."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._next_s, self._ended = recorder, 0.0, False

    def has_ended(self, *, now: bool = False) -> bool:
        """Whether it was gone at the last look; looks ``now``, or if it is time."""
        if not self._ended and (now or monotonic() >= self._next_s):
            self._next_s = monotonic() + LOOKS_S
            self._ended = not self._recorder.is_at_its_path()
        return self._ended


def _kept_elsewhere(
    folder: Path, recorder: Recorder, text: str, copies: Mapping[str, Path]
) -> Path:
    """Keep a log whose folder has vanished, in a new folder in its place if that can be."""

    def keep(place: Path) -> Path:
        recorder.copy_to(place / LOG_FILE)
        with suppress(LogError, OSError):  # what was copied may have lain in the folder
            _write_scenario(place, text, copies)
        return place

    with suppress(OSError, LogError):
        folder.mkdir(parents=True, exist_ok=True)
        return keep(folder)
    return keep(Path(tempfile.mkdtemp(prefix=f"kittiwake-{folder.name}-")))


def _new_folder(wanted: Path) -> Path:
    """A folder that was not there: by the name that is wanted, or with a number behind it."""
    named = (wanted.with_name(f"{wanted.name}-{number}") for number in count(2))
    for folder in chain([wanted], named):
        with suppress(FileExistsError):
            folder.mkdir()
            return folder
    raise AssertionError


def _remove_empty(folders: Collection[Path]) -> None:
    """Removes folders in which nothing lies, the inner ones first."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def _lock(handle: int, folder: Path) -> None:
    """Refuses a folder that another process flies into."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"another run goes on in '{folder}'. Name another folder with --out."
        raise LogError(message) from None
    except OSError:
        return  # a file system without locks


def _has_content(path: Path) -> bool:
    try:
        return os.path.lexists(path) and (not path.is_file() or path.stat().st_size > 0)
    except OSError:
        return True


def _is_own_scenario(path: Path, digests: Mapping[str, str] | None) -> bool:
    """Whether a scenario is missing, or as the run of the log beside it has written it."""
    if not os.path.lexists(path):
        return True
    if digests is None or not path.is_file():
        return False
    if SCENARIO_FILE in digests:
        return digest(path) == digests[SCENARIO_FILE]
    # of a log without digests: in the form in which scenarios are written
    with suppress(OSError, ValueError, RecursionError, yaml.YAMLError):
        text = path.read_text(encoding="utf-8")
        return dump_document(yaml.safe_load(text)) == text
    return False


def _is_own_picture(path: Path) -> bool:
    """Whether a picture is missing, or as ``run`` or ``plot`` has written it."""
    noted = written_files(path.parent).get(path)
    return not os.path.lexists(path) or (noted is not None and is_as_written(path, noted))


def _is_own_summary(path: Path, digests: Mapping[str, str] | None) -> bool:
    """Whether a summary is missing, or one of a run whose log lies beside it."""
    if not os.path.lexists(path):
        return True
    if digests is None or not path.is_file():
        return False
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return isinstance(found, dict) and set(found) >= SUMMARY_KEYS
    return False


def _remove_products(folder: Path, kept: Collection[Path]) -> None:
    """Remove what is still as run, plot and export have written it, but not what this run reads."""
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
    """The recorded files that a scenario reads, by the names that they get in a run's folder."""
    return {_copy_name(path, file): file for path, file in scenario.tables.items()}


def _copy_name(path: tuple[str | int, ...], file: Path) -> str:
    """Return the name of a copy, which says what it is of; a copy of a copy keeps its name."""
    said = "".join(f"{part}-" for part in path[1:-1])
    return file.name if file.name.startswith(said) else said + file.name


def _resolved_scenario(simulation: Simulation, flight: Flight) -> str:
    """The scenario as it is flown, with the recorded files that it reads beside it."""
    data: dict[str, Any] = copy.deepcopy(simulation.scenario.document.data)
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
    for path, values in simulation.scenario.written_out.items():
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
