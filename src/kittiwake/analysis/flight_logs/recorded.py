"""Columns of a log as they were recorded, before units and axes are converted."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from os import devnull
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from kittiwake.core.errors import KittiwakeError, LogError
from kittiwake.scenario.problems import shortened

# extra that installs the parsers of autopilots' logs
EXTRA = "logs"
# size of a file that is read into memory
MAX_BYTES = 2**30


class RecordedSignal(NamedTuple):
    """Column of a log, with times and values in the units of the log."""

    time: Float64[np.ndarray, " samples"] | Int64[np.ndarray, " samples"]
    values: Float64[np.ndarray, " samples"]


@dataclass(frozen=True, eq=False)
class RecordedColumns:
    """Columns of a log.

    Attributes:
        signals: the requested columns, as far as the log has them.
        names: returns the names of all columns, for suggestions.
    """

    signals: Mapping[str, RecordedSignal]
    names: Callable[[], Iterable[str]]


@contextmanager
def reading(path: Path, kind: str) -> Generator[None]:
    """Convert errors of a parser to messages with the file's name; its output is not shown.

    Raises:
        LogError: in place of any error of the operating system or of the parser.
    """
    try:
        with open(devnull, "w") as null, redirect_stdout(null), redirect_stderr(null):
            yield
    except KittiwakeError:
        raise
    except OSError as error:
        message = f"'{path}' cannot be read: {error.strerror or error}"
        raise LogError(message) from error
    # a parser may raise anything for a damaged file
    except Exception as error:
        reason = shortened(str(error) or type(error).__name__)
        message = f"{path.name} cannot be read as {kind}: {reason}"
        raise LogError(message) from error


def refuse_large(path: Path, most: int = MAX_BYTES) -> None:
    """Raise an error for a file that is missing or too large."""
    with reading(path, "a file"):
        size = path.stat().st_size
    if size > most:
        message = f"{path.name}: larger than {most // 2**20} MiB, the most that is read"
        raise LogError(message)
