"""Files that appear whole or not at all."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from kittiwake.core.errors import LogError


@contextmanager
def output_file(path: Path) -> Generator[Path]:
    """Yield the path to write to; what is there takes the place of ``path`` when all is written.

    An error or a signal leaves nothing new, and a former file as it was. What is no regular file,
    such as a device, is written to directly.

    Raises:
        LogError: if no file can be written there; the message names it and says why.
    """
    if os.path.isdir(path):  # unlike the method, it takes any path
        message = f"'{path}' is a folder. Name a file in it, such as '{path / 'log'}'."
        raise LogError(message)
    if not os.path.isdir(path.parent):
        message = f"there is no folder '{path.parent}'. Make it first, or name a file elsewhere."
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
        finally:
            with suppress(OSError):
                unfinished.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8.

    Raises:
        LogError: if it cannot be written.
    """
    with output_file(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Name what cannot be written, and say why.

    Raises:
        LogError: in place of any error of the operating system.
    """
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        message = f"'{path}' cannot be written: {reason}. Name another place."
        raise LogError(message) from error
