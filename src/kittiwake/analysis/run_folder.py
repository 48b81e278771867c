"""Run folder: the files of one run, and those that belong to the user.

A folder holds one run. The files of a former run, with its pictures and exports, are removed when a
flight begins. Files that the user has written or changed are kept, and a run that would replace one
is refused. They are recognized by digests: the log holds those of the files that its run wrote,
``.written.jsonl`` those of pictures and exports.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, count
from pathlib import Path

import yaml

from kittiwake.analysis.flown_scenario import data_files
from kittiwake.analysis.log import SCENARIO_FILE, SUMMARY_FILE, Log
from kittiwake.analysis.log_reader import files_beside
from kittiwake.analysis.log_writer import LogWriter
from kittiwake.analysis.output_file import (
    LOG_FILE,
    WRITTEN_FILE,
    digest,
    is_as_written,
    note_written,
    output_file,
    write_text,
    writing,
    written_files,
)
from kittiwake.analysis.portable_scenario import PortableScenario
from kittiwake.core.errors import LogError, listed
from kittiwake.scenario.document import dump_document
from kittiwake.scenario.scenario import Scenario

RUNS = Path("runs")
# rows of each vehicle in a chunk of a saved log
ROWS = 500
# keys by which a summary is recognized
SUMMARY_KEYS = {"scenario", "seed", "status", "steps", "vehicles"}
PICTURE_FILE = "overview.png"
FILM_MP4, FILM_GIF, STILL_FILE = "film.mp4", "film.gif", "still.png"
PAGE_FILE = "flight.html"
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
def new_results(out: Path | None, default: Path) -> Generator[Path]:
    """Create a folder for results that replace no file, and lock it for this process.

    Raises:
        LogError: if it cannot be written to, holds any file, or another process writes into it.
    """
    with results_folder(out, default) as folder, locked(folder):
        if names := sorted(path.name for path in folder.iterdir()):
            message = (
                f"'{folder}' is not empty: it holds {listed(names)}. Name another folder with "
                "--out, or move its files."
            )
            raise LogError(message)
        yield folder


def remove_contents(folder: Path) -> None:
    """Remove all that a folder of ``new_results`` holds."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


@contextmanager
def run_folder(
    out: Path | None, scenario: Scenario, default: Path | None = None
) -> Generator[Path]:
    """Create the folder of a run and lock it for this process until the run has ended.

    Raises:
        LogError: if it cannot be written to, another run is active in it, or the run would replace
            a file that no run has written.
    """
    default = default or default_folder(scenario.name)
    with _locked_folder(out, default, data_files(scenario)) as folder:
        yield folder


@contextmanager
def _locked_folder(out: Path | None, default: Path, files: Mapping[str, Path]) -> Generator[Path]:
    with results_folder(out, default) as folder:
        refuse_foreign_files(folder, files)
        with locked(folder):
            yield folder


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Lock a folder for this process.

    Raises:
        LogError: if another process writes into it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def refuse_foreign_files(folder: Path, files: Mapping[str, Path]) -> None:
    """Refuse a folder with a file that a run would replace and no run has written.

    Args:
        folder: the folder.
        files: the data files that the run copies, by their names in the folder.

    Raises:
        LogError: with the file.
    """
    digests = files_beside(folder / LOG_FILE)
    copies = {
        name: None if digests is None else digests.get(name)
        for name, source in files.items()
        if os.path.isfile(folder / name) and digest(folder / name) != digest(source)
    }
    foreign = [
        *([LOG_FILE] if digests is None and _has_content(folder / LOG_FILE) else []),
        *([SCENARIO_FILE] if not _is_own_scenario(folder / SCENARIO_FILE, digests) else []),
        *([SUMMARY_FILE] if not _is_own_summary(folder / SUMMARY_FILE, digests) else []),
        *([PICTURE_FILE] if not _is_as_noted(folder / PICTURE_FILE) else []),
        *(name for name, noted in copies.items() if digest(folder / name) != noted),
    ]
    if foreign:
        raise _foreign(folder / foreign[0])


def refuse_foreign_file(path: Path) -> None:
    """Refuse to replace a file of a run folder that is not as a run has written it.

    Raises:
        LogError: with the file.
    """
    if not _is_as_noted(path):
        raise _foreign(path)


def _foreign(path: Path) -> LogError:
    return LogError(
        f"'{path}' was not written by a run or has been changed, and a run into "
        f"'{path.parent}' would replace it. Name another folder with --out, or move the file."
    )


def holds_run(folder: Path) -> bool:
    """Return True if the folder holds the log of a run."""
    return (folder / LOG_FILE).is_file()


def save_run(log: Log, folder: Path) -> None:
    """Write a log with its scenario, summary and picture into a folder.

    Raises:
        LogError: if the folder cannot be written, or holds files that no run has written.
    """
    scenario = log.portable
    with _locked_folder(folder, folder, {} if scenario is None else scenario.files):
        if holds_run(folder):
            remove_products(folder, () if scenario is None else scenario.files.values())
        layouts = {name: (table.columns, table.quantities) for name, table in log.tables.items()}
        files = {} if scenario is None else written_digests(scenario)
        with output_file(folder / LOG_FILE) as unfinished, unfinished.open("wb") as stream:
            writer = LogWriter(stream, layouts, files)
            for event in log.events:
                writer.event(event)
            for first in range(0, max(map(len, (t.values for t in log.tables.values()))), ROWS):
                writer.write(
                    {name: table.values[first : first + ROWS] for name, table in log.tables.items()}
                )
            writer.finish()
        if scenario is not None:
            write_scenario(folder, scenario)
        if log.summary is not None:
            write_text(folder / SUMMARY_FILE, json.dumps(log.summary, indent=2) + "\n")
        save_picture(log, folder)


def save_picture(log: Log, folder: Path) -> None:
    """Draw the overview of a run into its folder, unless there are no rows to draw.

    Raises:
        LogError: if it cannot be written.
    """
    from kittiwake.analysis.plots.overview import save_overview

    if log.end_s is not None:
        save_overview(log, folder / PICTURE_FILE)


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
        message = (
            f"another run is active in '{folder}'. Wait until it has ended, or name another folder "
            "with --out."
        )
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


def _is_as_noted(path: Path) -> bool:
    """Return True if a file is missing, or unchanged since it was written into its run folder."""
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


def remove_products(folder: Path, kept: Collection[Path]) -> None:
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


def write_scenario(folder: Path, scenario: PortableScenario) -> None:
    """Write a scenario and copy its data files.

    Raises:
        LogError: if a file cannot be written.
    """
    for name, source in scenario.files.items():
        target = folder / name
        if not target.exists() or not target.samefile(source):
            with writing(target):
                # a package of Python code is a folder
                target.parent.mkdir(parents=True, exist_ok=True)
            with output_file(target) as unfinished:
                shutil.copyfile(source, unfinished)
    write_text(folder / SCENARIO_FILE, scenario.text)


def written_digests(scenario: PortableScenario) -> dict[str, str]:
    """Return the digests of the files that ``write_scenario`` writes, as a log notes them."""
    files = {name: digest(source) for name, source in scenario.files.items()}
    return {SCENARIO_FILE: sha256(scenario.text.encode()).hexdigest()} | files
