"""Reader of recorded tables: comma-separated numbers below one line of names."""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float64

from kittiwake.core.errors import ScenarioError
from kittiwake.core.recording import Recording
from kittiwake.scenario.problems import shortened

MAX_BYTES = 256 * 1024 * 1024
# number of cells that are read before they are checked
BLOCK_CELLS = 100_000

Rows: TypeAlias = Float64[np.ndarray, "rows columns"]


def read_table(path: Path) -> Recording:
    """Return the table in a file, whose first column is ``time_s`` in increasing order.

    A last row with only a time gives the end of the values before it. Without one, the last row
    lasts as long as the row before it.

    Raises:
        ScenarioError: if the file is missing, too large, or has cells that are not numbers.
    """
    header, rows = _numbers(path)
    lines, times, values = rows[:, 0], rows[:, 1], rows[:, 2:]
    ends = len(rows) > 1 and bool(np.isnan(values[-1]).all())
    lasting = values[:-1] if ends else values
    _refuse_nonfinite(path, header[:1], lines, times[:, None])
    _refuse_nonfinite(path, header[1:], lines, lasting)
    _refuse_disorder(path, lines, times)
    if ends:
        end_s = float(times[-1])
    else:
        end_s = float(times[-1] + (times[-1] - times[-2] if len(times) > 1 else 0.0))
    return Recording(tuple(header[1:]), path.name, end_s, times[: len(lasting)], lasting)


def _numbers(path: Path) -> tuple[list[str], np.ndarray]:
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = [name.strip() for name in next(lines, [])]
            _refuse_bad_header(path, header)
            blocks = [*_blocks(path, lines, header)]
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    except (UnicodeDecodeError, csv.Error) as error:
        message = f"{path.name}: not a table of comma-separated numbers ({error})"
        raise ScenarioError(message) from None
    if not blocks:
        message = f"{path.name}: has no rows"
        raise ScenarioError(message)
    return header, np.concatenate(blocks)


def _blocks(path: Path, lines: Any, header: list[str]) -> Iterator[Rows]:
    """Yield the rows of a file in blocks; a mistake is reported before the rest is read.

    All cells of a block are in one list, as many short lists would slow the garbage collector.
    """
    width = len(header)
    most = max(BLOCK_CELLS // width, 1)
    numbers: list[int] = []
    cells: list[str] = []
    for row in lines:
        if not row:
            continue
        if len(row) == 1:  # only a time, without commas
            row.extend([""] * (width - 1))
        if len(row) != width:
            _rows(path, numbers, cells, header)  # reports mistakes in earlier rows
            message = f"{path.name}:{lines.line_num}: {len(row)} values below {width} names"
            raise ScenarioError(message)
        numbers.append(lines.line_num)
        cells += row
        if len(numbers) == most:
            yield _rows(path, numbers, cells, header)
            numbers, cells = [], []
    if numbers:
        yield _rows(path, numbers, cells, header)


def _rows(path: Path, numbers: list[int], cells: list[str], header: list[str]) -> Rows:
    """Return the numbers of some lines, each with its line number first."""
    values = np.fromiter(_read(path, numbers, cells, header), np.float64, len(cells))
    rows = np.column_stack([np.array(numbers, float), values.reshape(-1, len(header))])
    # the last row may be the end of the file, which has only a time
    _refuse_bad_rows(path, header, rows[:-1])
    return rows


def _read(path: Path, numbers: list[int], cells: list[str], header: list[str]) -> Iterable[float]:
    with suppress(ValueError):
        return [*map(float, cells)]
    read: list[float] = []
    for place, cell in enumerate(cells):
        try:
            read.append(float(cell) if cell.strip() else np.nan)
        except ValueError:
            row, column = divmod(place, len(header))
            given = f"{header[column]}: {shortened(cell)} is not a number"
            message = f"{path.name}:{numbers[row]}: {given}"
            raise ScenarioError(message) from None
    return read


def _refuse_bad_rows(path: Path, header: list[str], rows: Rows) -> None:
    lines, times = rows[:, 0], rows[:, 1]
    _refuse_nonfinite(path, header[:1], lines, times[:, None])
    _refuse_nonfinite(path, header[1:], lines, rows[:, 2:])
    _refuse_disorder(path, lines, times)


def _refuse_bad_header(path: Path, header: list[str]) -> None:
    again = next((name for name, times in Counter(header).items() if times > 1), None)
    if header[:1] != ["time_s"]:
        first = f"it is {shortened(header[0])}" if header else "the line is empty"
        problem = f"the first column must be named 'time_s'; {first}"
    elif len(header) < 2:
        problem = "there must be a column beside 'time_s'"
    elif again is not None:
        problem = f"two columns are named {shortened(again)}"
    else:
        return
    message = f"{path.name}:1: {problem}"
    raise ScenarioError(message)


def _refuse_nonfinite(
    path: Path, columns: list[str], lines: np.ndarray, values: np.ndarray
) -> None:
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = bad[0]
        message = f"{path.name}:{lines[row]:.0f}: {columns[column]} must be a finite number"
        raise ScenarioError(message)


def _refuse_disorder(path: Path, lines: np.ndarray, times: np.ndarray) -> None:
    backwards = np.flatnonzero(~(np.diff(times) > 0.0))
    if backwards.size:
        line = lines[backwards[0] + 1]
        message = f"{path.name}:{line:.0f}: time_s must increase from row to row"
        raise ScenarioError(message)
