"""Atomic writing of files, and the list of files in a run folder.

Files beside a log are listed with their digests in ``WRITTEN_FILE``, so that a later run into the
same folder knows which files it may replace.
"""

import hashlib
import json
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from typing import Any

from kittiwake.core.errors import LogError

LOG_FILE = "log.mcap"
WRITTEN_FILE = ".written.jsonl"


@contextmanager
def output_file(path: Path) -> Generator[Path]:
    """Yield a temporary path, whose file replaces ``path`` when it is complete.

    After an error or a signal, an existing file is unchanged. A path that is not a regular file,
    such as a device, is written directly.

    Raises:
        LogError: if the file cannot be written; the message has the path and the reason.
    """
    if os.path.isdir(path):  # unlike Path.is_dir, never raises
        message = f"'{path}' is a folder. Name a file in it, such as '{path / 'log'}'."
        raise LogError(message)
    if not os.path.isdir(path.parent):
        message = f"there is no folder '{path.parent}'. Create it first, or name a file elsewhere."
        raise LogError(message)
    with writing(path):
        if os.path.exists(path) and not os.path.isfile(path):
            yield path
            return
        place = path.resolve()
        unfinished = place.with_name(f"unfinished-{place.name}")
        try:
            yield unfinished
            unfinished.replace(place)
            note_written(place, place.parent)
        finally:
            with suppress(OSError):
                unfinished.unlink()


def note_written(path: Path, folder: Path) -> None:
    """Add a written file to the list of a folder, if that is a run folder."""
    if not (folder / LOG_FILE).is_file():
        return
    line = json.dumps([path.relative_to(folder).as_posix(), digest(path)])
    with (folder / WRITTEN_FILE).open("a", encoding="utf-8") as notes:
        notes.write(f"{line}\n")


def written_files(folder: Path) -> dict[Path, str]:
    """Return the digests of files in a run folder at the time of writing."""
    found: dict[Path, str] = {}
    with suppress(OSError, ValueError, TypeError):
        for line in (folder / WRITTEN_FILE).read_text(encoding="utf-8").splitlines():
            name, noted = json.loads(line)
            found[folder / str(name)] = str(noted)
    return found


def is_as_written(path: Path, noted: str) -> bool:
    """Return True if a file still has the noted digest."""
    return path.is_file() and digest(path) == noted


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8.

    Raises:
        LogError: if it cannot be written.
    """
    with output_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Convert errors of the operating system to messages with path and reason.

    Raises:
        LogError: in place of any error of the operating system.
    """
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        message = f"'{path}' cannot be written: {reason}. Name another place."
        raise LogError(message) from error


def finite_figures(value: Any) -> Any:
    """Return figures as JSON has them, without infinite numbers."""
    if isinstance(value, Mapping):
        return {key: finite_figures(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [finite_figures(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
