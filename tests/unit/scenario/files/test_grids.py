"""Grid files: content, and error messages for invalid files."""

import numpy as np
import pytest

from kittiwake.core.errors import ScenarioError
from kittiwake.scenario.files import grids
from kittiwake.scenario.files.grids import read_grid

HEADER = "ncols 3\nnrows 2\nxllcorner -5\nyllcorner 10\ncellsize 2\n"
ROWS = "1 2 3\n4 6 8\n"
# from north to south in the file
CELLS = [[4.0, 6.0, 8.0], [1.0, 2.0, 3.0]]
TABLE = "x_m,y_m,value\n-4,11,4\n-2,11,6\n0,11,8\n-4,13,1\n-2,13,2\n0,13,3\n"


def read(tmp_path, text):
    (tmp_path / "map.asc").write_text(text, encoding="utf-8")
    return read_grid(tmp_path / "map.asc")


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROWS,
        HEADER.replace("xllcorner -5", "XLLCENTER -4").replace("yllcorner 10", "yllcenter 11")
        + ROWS,
        TABLE,
    ],
)
def test_a_map_is_read_from_the_south_west_on(tmp_path, text):
    grid = read(tmp_path, text)
    assert (grid.source, grid.middle_m, grid.cell_m) == ("map.asc", (-4.0, 11.0), 2.0)
    np.testing.assert_array_equal(grid.values, CELLS)


def test_a_cell_without_data_takes_its_neighbors(tmp_path):
    grid = read(tmp_path, HEADER + "NODATA_value -9999\n1 2 -9999\n4 6 8\n")
    assert grid.values[1, 2] in (2.0, 8.0)
    # a table may leave it out
    grid = read(tmp_path, TABLE.replace("0,13,3\n", ""))
    assert grid.values[1, 2] in (2.0, 8.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"map\.asc:1: ncols is missing; an ASCII grid begins with"),
        (HEADER.replace("cellsize 2\n", "") + ROWS, r"map\.asc:5: cellsize is missing"),
        (
            HEADER.replace("xllcorner -5\n", "") + ROWS,
            "xllcorner is missing; write the origin of the map",
        ),
        (HEADER.replace("ncols 3", "ncols 3.5") + ROWS, r"map\.asc:1: ncols: '3.5' is not allowed"),
        (HEADER.replace("nrows 2", "nrows 0") + ROWS, r"map\.asc:2: nrows: '0' is not allowed"),
        (HEADER.replace("cellsize 2", "cellsize -2") + ROWS, "cellsize: -2 is not allowed"),
        (HEADER.replace("cellsize 2", "cellsize nan") + ROWS, "cellsize: 'nan' is not allowed"),
        (HEADER.replace("ncols 3", "ncols 999999999") + ROWS, "cells; at most 4000000 are read"),
        (HEADER + "1 2 3\n", "1 rows below the header, but nrows is 2"),
        (HEADER + "1 2 3\n4 6\n", r"map\.asc:7: 2 numbers instead of 3"),
        (HEADER + "1 2 3\n4 x 8\n", r"map\.asc:7: 'x' is not allowed; write a finite number"),
        (HEADER + "1 inf 3\n4 5 8\n", r"map\.asc:6: 'inf' is not allowed"),
        (HEADER + "NODATA_value 7\n7 7 7\n7 7 7\n", "has no cell with a value"),
        ("x_m,y_m,heat\n0,0,1\n1,0,2\n", "the first line is x_m,y_m,value"),
        ("x_m,y_m,value\n0,0,1\n", "1 cells; from 2 to 4000000 are read"),
        (TABLE + "0.5,13,1\n", r"map\.asc:8: \(0.5, 13\) is not on the grid with cells of 2 m"),
        (TABLE + "0,13,1\n", r"map\.asc:8: \(0, 13\) is given twice"),
        (TABLE.replace("6\n", "six\n"), r"map\.asc:3: 'six' is not allowed"),
    ],
)
def test_invalid_grid_is_refused_with_its_line(tmp_path, text, message):
    with pytest.raises(ScenarioError, match=message) as refused:
        read(tmp_path, text)
    assert len(str(refused.value)) < 300


def test_unreadable_file_is_named(tmp_path, monkeypatch):
    with pytest.raises(ScenarioError, match="cannot read '.*none"):
        read_grid(tmp_path / "none.asc")
    (tmp_path / "bytes.asc").write_bytes(b"\xff\xfe")
    with pytest.raises(ScenarioError, match=r"bytes\.asc: is not text"):
        read_grid(tmp_path / "bytes.asc")
    monkeypatch.setattr(grids, "MAX_BYTES", 5)
    with pytest.raises(ScenarioError, match="larger than 0 MiB"):
        read(tmp_path, TABLE)
