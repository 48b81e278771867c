"""CSV files: a line of names, and rows of cells between commas, semicolons or tabs."""

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.flight_logs.recorded import (
    RecordedColumns,
    RecordedSignal,
    reading,
    refuse_large,
)
from kittiwake.core.errors import LogError, did_you_mean
from kittiwake.scenario.files.tables import MAX_BYTES
from kittiwake.scenario.problems import shortened

DELIMITERS = ",;\t"
COMMENT = "#"
TIME = "time_s"


class _Rows(NamedTuple):
    """Rows below the names, each with its line in the file."""

    header_line: int
    header: list[str]
    rows: Iterator[tuple[int, list[str]]]


def read(path: Path, columns: Collection[str], time: str) -> RecordedColumns:
    """Return the given columns of a CSV file.

    Raises:
        LogError: if the file cannot be read, a cell of these columns is no number, or its times do
            not increase.
    """
    time = time or TIME
    refuse_large(path, MAX_BYTES)
    with reading(path, "a CSV file"), path.open(newline="", encoding="utf-8-sig") as file:
        header_line, header, rows = _rows(path, file)
        if time not in header:
            known = did_you_mean(time, header)
            message = f"{path.name}:{header_line}: there is no column '{time}' of times. {known}"
            raise LogError(message)
        wanted = [time, *dict.fromkeys(name for name in columns if name in header)]
        lines, values = _numbers(path, rows, header, wanted)
    times = values[:, 0]
    _refuse_disorder(path, time, lines, times)
    signals = {name: RecordedSignal(times, values[:, at]) for at, name in enumerate(wanted) if at}
    if time in columns:
        signals[time] = RecordedSignal(times, times)
    return RecordedColumns(signals, lambda: header)


def own_names(path: Path) -> Mapping[str, str]:
    """Return the names in the header but for the time, each with its file and line."""
    refuse_large(path, MAX_BYTES)
    with reading(path, "a CSV file"), path.open(newline="", encoding="utf-8-sig") as file:
        line, header, _ = _rows(path, file)
    return {name: f"{path.name}:{line}" for name in header if name != TIME}


def _rows(path: Path, file: Iterator[str]) -> _Rows:
    """Return the names, and the rows below them without comments."""
    lines = ((number, line) for number, line in enumerate(file, 1) if not _is_comment(line))
    number, first = next(lines, (1, ""))
    if not first:
        message = f"{path.name}: has no line of names"
        raise LogError(message)
    delimiter = max(DELIMITERS, key=first.count)
    header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]
    again = next((name for name, times in Counter(header).items() if times > 1), None)
    if again is not None:
        message = f"{path.name}:{number}: two columns are named {shortened(again)}"
        raise LogError(message)
    # cells hold numbers, and so no line breaks
    rows = ((at, next(csv.reader([line], delimiter=delimiter))) for at, line in lines)
    return _Rows(number, header, rows)


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(COMMENT)


def _numbers(
    path: Path, rows: Iterator[tuple[int, list[str]]], header: list[str], wanted: list[str]
) -> tuple[np.ndarray, Float64[np.ndarray, "rows columns"]]:
    """Return the lines, and the values of the wanted columns; NaN for empty cells."""
    places = [header.index(name) for name in wanted]
    lines: list[int] = []
    numbers: list[float] = []
    for line, row in rows:
        if len(row) != len(header):
            message = f"{path.name}:{line}: {len(row)} values below {len(header)} names"
            raise LogError(message)
        lines.append(line)
        for place, name in zip(places, wanted, strict=True):
            numbers.append(_number(path, line, name, row[place]))
    if not lines:
        message = f"{path.name}: has no rows"
        raise LogError(message)
    return np.array(lines), np.array(numbers).reshape(len(lines), len(wanted))


def _number(path: Path, line: int, name: str, cell: str) -> float:
    try:
        return float(cell) if cell.strip() else np.nan
    except ValueError:
        hint = "; write a decimal point" if cell.count(",") == 1 else ""
        message = f"{path.name}:{line}: {name}: {shortened(cell)} is not a number{hint}"
        raise LogError(message) from None


def _refuse_disorder(
    path: Path, time: str, lines: np.ndarray, times: Float64[np.ndarray, " rows"]
) -> None:
    bad = np.flatnonzero(~np.isfinite(times))
    if bad.size:
        message = f"{path.name}:{lines[bad[0]]}: {time} must be a finite number"
        raise LogError(message)
    backwards = np.flatnonzero(~(np.diff(times) > 0.0))
    if backwards.size:
        before, after = times[backwards[0]], times[backwards[0] + 1]
        message = (
            f"{path.name}:{lines[backwards[0] + 1]}: {time} must increase from row to row: got "
            f"{after:.12g} after {before:.12g}"
        )
        raise LogError(message)
