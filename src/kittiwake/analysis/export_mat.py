"""Export of a log to a MAT-file (level 5), as ``scipy.io.loadmat`` and Matlab read it.

The file has one struct for each vehicle, whose fields are columns of numbers; the pixels of an
image are one array, with the rows of the log along its first axis. Names are those of the log as
far as Matlab accepts them: other characters become underlines, a name that begins with none of the
letters, or is a keyword, begins with ``x_``, and a name of more than 63 characters is cut. The
field ``columns`` has the names of the log, ``fields`` those of the struct, in the same order. The
struct ``events`` has the events of the run.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat
from scipy.io.matlab import MatWriteError

from kittiwake.analysis.log import Log
from kittiwake.analysis.log_fields import as_fields
from kittiwake.analysis.output_file import output_file
from kittiwake.core.errors import LogError

LONGEST_NAME = 63
# Matlab's list of ``iskeyword``
KEYWORDS = {
    *("break", "case", "catch", "classdef", "continue", "else", "elseif", "end", "for"),
    *("function", "global", "if", "otherwise", "parfor", "persistent", "return", "spmd"),
    *("switch", "try", "while"),
}
EVENTS, COLUMNS, FIELDS = "events", "columns", "fields"


def export_mat(log: Log, path: str | Path) -> None:
    """Write one MAT-file with a struct for each vehicle, and one for the events.

    Raises:
        LogError: if it cannot be written, or holds more than a MAT-file can.
    """
    variables = dict(
        zip(
            matlab_names(log.names, reserved=(EVENTS,)),
            (_struct(log, name) for name in log.names),
            strict=True,
        )
    )
    variables[EVENTS] = {
        "time_s": np.array([event.time_s for event in log.events], float),
        "vehicle": _cells(event.vehicle for event in log.events),
        "event": _cells(event.event for event in log.events),
    }
    with output_file(Path(path)) as unfinished, unfinished.open("wb") as stream:
        try:
            savemat(stream, variables, long_field_names=True, oned_as="column")
        except MatWriteError as error:
            message = (
                f"'{path}' cannot hold the log: {error}. Export it with --to parquet or csv, "
                "which have no such limit"
            )
            raise LogError(message) from None


def matlab_names(names: Iterable[str], reserved: Collection[str] = ()) -> list[str]:
    """Return valid and unique names of Matlab for these names, in their order."""
    taken = set(reserved)
    found: list[str] = []
    for name in names:
        valid = re.sub(r"[^A-Za-z0-9_]", "_", name)
        if not re.match("[A-Za-z]", valid) or valid in KEYWORDS:
            valid = f"x_{valid}"
        unique, count = valid[:LONGEST_NAME], 1
        while unique in taken:
            count += 1
            ending = f"_{count}"
            unique = valid[: LONGEST_NAME - len(ending)] + ending
        taken.add(unique)
        found.append(unique)
    return found


def _struct(log: Log, name: str) -> dict[str, Any]:
    """Return the fields of a vehicle's struct."""
    values, start = log.values(name), 0
    arrays: list[np.ndarray] = []
    fields = as_fields(log.columns(name))
    for field in fields:
        part = values[:, start : start + field.count]
        arrays.append(part.reshape(len(values), *field.shape) if field.shape else part)
        start += field.count
    known = [f"{field.name}{field.ending}" for field in fields]
    valid = matlab_names(known, reserved=(COLUMNS, FIELDS))
    return {
        **dict(zip(valid, arrays, strict=True)),
        COLUMNS: _cells(known),
        FIELDS: _cells(valid),
    }


def _cells(texts: Iterable[str]) -> np.ndarray:
    """Return texts as a cell array."""
    listed = [*texts]
    cells = np.empty((len(listed), 1), dtype=object)
    cells[:, 0] = listed
    return cells
