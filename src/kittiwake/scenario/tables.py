"""Recorded files as tables: comma-separated numbers below one line of names."""

import csv
from pathlib import Path

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.core.table import Table

MAX_BYTES = 256 * 1024 * 1024


def read_table(path: Path) -> Table:
    """The table in a file; its first column is ``time_s``, in growing order.

    A last row with a time and no values says when the values before it end; without one they end
    after as long as the row before them lasted.

    Raises:
        ScenarioError: if the file is missing, too large, or holds anything but numbers.
    """
    header, rows = _numbers(path)
    if header[:1] != ["time_s"] or len(header) < 2 or len(set(header)) != len(header):
        message = (
            f"{path.name}:1: the first line must name the columns, 'time_s' first and each once; "
            f"it is '{','.join(header)[:80]}'"
        )
        raise ScenarioError(message)
    lines, times, values = rows[:, 0], rows[:, 1], rows[:, 2:]
    ends = len(rows) > 1 and bool(np.isnan(values[-1]).all())
    lasting = values[:-1] if ends else values
    _refuse_bad_rows(path, lines, times, lasting)
    if ends:
        end_s = float(times[-1])
    else:
        end_s = float(times[-1] + (times[-1] - times[-2] if len(times) > 1 else 0.0))
    return Table(tuple(header[1:]), path.name, end_s, times[: len(lasting)], lasting)


def _numbers(path: Path) -> tuple[list[str], np.ndarray]:
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file)
            header = [name.strip() for name in next(lines, [])]
            rows = [_row(path, lines.line_num, cells, len(header)) for cells in lines if cells]
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    except (UnicodeDecodeError, csv.Error) as error:
        message = f"{path.name}: not a table of comma-separated numbers ({error})"
        raise ScenarioError(message) from None
    if not rows:
        message = f"{path.name}: holds no rows"
        raise ScenarioError(message)
    return header, np.asarray(rows, dtype=np.float64)


def _row(path: Path, number: int, cells: list[str], width: int) -> list[float]:
    """The numbers of a line, with the line's own number first."""
    if len(cells) != width:
        message = f"{path.name}:{number}: {len(cells)} values below {width} names"
        raise ScenarioError(message)
    try:
        return [float(number), *(float(cell) if cell.strip() else np.nan for cell in cells)]
    except ValueError as error:
        message = f"{path.name}:{number}: {error}"
        raise ScenarioError(message) from None


def _refuse_bad_rows(path: Path, lines: np.ndarray, times: np.ndarray, values: np.ndarray) -> None:
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if bad.size:
        message = f"{path.name}:{lines[bad[0]]:.0f}: every value must be a finite number"
        raise ScenarioError(message)
    backwards = np.flatnonzero(~(np.diff(times) > 0.0))
    if backwards.size or not np.isfinite(times).all():
        line = lines[backwards[0] + 1] if backwards.size else lines[0]
        message = f"{path.name}:{line:.0f}: time_s must grow from row to row"
        raise ScenarioError(message)
