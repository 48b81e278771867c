"""Reader of gridded maps: ESRI ASCII grids, and tables of positions with values.

An ASCII grid begins with ``ncols``, ``nrows``, ``xllcorner`` or ``xllcenter``, ``yllcorner`` or
``yllcenter``, ``cellsize`` and optionally ``NODATA_value``, one per line; its rows follow from
north to south. A table is comma-separated below the names ``x_m,y_m,value``: one line per cell of
a regular grid, in any order. A cell without data takes the value of the nearest cell with data.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.environment.fields.raster import Grid
from kittiwake.scenario.problems import shortened

MAX_BYTES = 64 * 1024 * 1024
MAX_CELLS = 4_000_000
COLUMNS = ["x_m", "y_m", "value"]
KEYS = ("ncols", "nrows", "xllcorner", "xllcenter", "yllcorner", "yllcenter", "cellsize")
NO_DATA = "nodata_value"
# tolerance of positions in a table about their grid, as a share of a cell
MAX_OFFSET = 1e-3


def read_grid(path: Path) -> Grid:
    """Return the map in a file.

    Raises:
        ScenarioError: if the file is missing, too large or broken, with the line.
    """
    lines = _lines(path)
    first = lines[0].split(",") if lines else []
    grid = _table(path, lines) if len(first) == len(COLUMNS) else _ascii(path, lines)
    missing = np.isnan(grid.values)
    if missing.all():
        _refuse(path, 1, "has no cell with a value")
    if not missing.any():
        return grid
    # imported here, as it takes a sixth of a second and most scenarios do not need it
    from scipy.ndimage import distance_transform_edt

    nearest: Any = distance_transform_edt(missing, return_distances=False, return_indices=True)
    return Grid(grid.source, grid.middle_m, grid.cell_m, grid.values[tuple(nearest)])


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MAX_BYTES:
            message = f"{path.name}: larger than {MAX_BYTES // 2**20} MiB, the most that is read"
            raise ScenarioError(message)
        return path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        message = f"cannot read '{path}': {error.strerror or error}"
        raise ScenarioError(message) from None
    except UnicodeDecodeError as error:
        message = f"{path.name}: is not text ({shortened(str(error))})"
        raise ScenarioError(message) from None


def _ascii(path: Path, lines: Sequence[str]) -> Grid:
    header = _header(path, lines)
    count = len(header)
    rows, columns = (_count(path, header, key) for key in ("nrows", "ncols"))
    if rows * columns > MAX_CELLS:
        _refuse(path, 1, f"{rows * columns} cells; at most {MAX_CELLS} are read")
    cell = _number(path, header, "cellsize")
    if not cell > 0.0:
        _refuse(path, header["cellsize"][0], f"cellsize: {cell:g} is not allowed; must be above 0")
    middle = (_middle(path, header, "x", cell), _middle(path, header, "y", cell))
    body = [(n, line.split()) for n, line in enumerate(lines[count:], count + 1) if line.strip()]
    if len(body) != rows:
        _refuse(path, len(lines), f"{len(body)} rows below the header, but nrows is {rows}")
    values = np.array([_values(path, number, words, columns) for number, words in body])
    if NO_DATA in header:
        values[values == _number(path, header, NO_DATA)] = np.nan
    return Grid(path.name, middle, cell, values[::-1])


def _header(path: Path, lines: Sequence[str]) -> dict[str, tuple[int, str]]:
    """Return line number and value by key in lower case."""
    header: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, 1):
        key, *words = line.split() or [""]
        if key.lower() not in (*KEYS, NO_DATA) or len(words) != 1:
            break
        header[key.lower()] = (number, words[0])
    for required in ("ncols", "nrows", "cellsize"):
        if required not in header:
            grid = "an ASCII grid begins with ncols, nrows, xllcorner, yllcorner and cellsize"
            table = f"or write a table with the columns {','.join(COLUMNS)}"
            _refuse(path, len(header) + 1, f"{required} is missing; {grid}, {table}")
    return header


def _middle(path: Path, header: dict[str, tuple[int, str]], axis: str, cell_m: float) -> float:
    """Return the center of the first cell, from its corner or center."""
    for ending, shift in (("corner", 0.5 * cell_m), ("center", 0.0)):
        if f"{axis}ll{ending}" in header:
            return _number(path, header, f"{axis}ll{ending}") + shift
    _refuse(path, len(header) + 1, f"{axis}llcorner is missing; write the origin of the map")


def _count(path: Path, header: dict[str, tuple[int, str]], key: str) -> int:
    line, word = header[key]
    if not word.isdecimal() or len(word) > 9 or int(word) < 1:
        _refuse(
            path, line, f"{key}: {shortened(word)} is not allowed; write a whole number above 0"
        )
    return int(word)


def _number(path: Path, header: dict[str, tuple[int, str]], key: str) -> float:
    line, word = header[key]
    return _real(path, line, f"{key}: ", word)


def _values(path: Path, line: int, words: Sequence[str], count: int) -> list[float]:
    if len(words) != count:
        _refuse(path, line, f"{len(words)} numbers instead of {count}")
    return [_real(path, line, "", word) for word in words]


def _real(path: Path, line: int, called: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        _refuse(path, line, f"{called}{shortened(word)} is not allowed; write a finite number")
    return value


def _table(path: Path, lines: Sequence[str]) -> Grid:
    if [name.strip() for name in lines[0].split(",")] != COLUMNS:
        _refuse(path, 1, f"{shortened(lines[0])}; the first line is {','.join(COLUMNS)}")
    body = [(n, line.split(",")) for n, line in enumerate(lines[1:], 2) if line.strip()]
    if not 2 <= len(body) <= MAX_CELLS:
        _refuse(path, len(lines), f"{len(body)} cells; from 2 to {MAX_CELLS} are read")
    numbers = np.array([_values(path, n, [w.strip() for w in words], 3) for n, words in body])
    (west, columns), (south, rows) = (_axis(numbers[:, axis]) for axis in (0, 1))
    cell = max(_step(numbers[:, 0]), _step(numbers[:, 1]))
    if columns * rows > MAX_CELLS * 10:
        _refuse(
            path,
            1,
            "its positions are not a regular grid; write one line per cell, at equal spacing",
        )
    values = np.full((rows, columns), np.nan)
    for (line, _), (x, y, value) in zip(body, numbers.tolist(), strict=True):
        column, row = (x - west) / cell, (y - south) / cell
        place = round(row), round(column)
        offset = max(abs(row - place[0]), abs(column - place[1]))
        if offset > MAX_OFFSET or place[0] >= rows or place[1] >= columns:
            _refuse(path, line, f"({x:g}, {y:g}) is not on the grid with cells of {cell:g} m")
        if not math.isnan(values[place]):
            _refuse(path, line, f"({x:g}, {y:g}) is given twice")
        values[place] = value
    return Grid(path.name, (west, south), cell, values)


def _axis(places: np.ndarray) -> tuple[float, int]:
    """Return the coordinate of the first cell, and the number of cells."""
    low, step = float(places.min()), _step(places)
    return low, 1 if step == 0.0 else round((float(places.max()) - low) / step) + 1


def _step(places: np.ndarray) -> float:
    """Return the distance between cells; 0 for a single cell."""
    apart = np.diff(np.unique(places))
    return float(np.median(apart)) if len(apart) else 0.0


def _refuse(path: Path, line: int, problem: str) -> NoReturn:
    message = f"{path.name}:{line}: {problem}"
    raise ScenarioError(message)
