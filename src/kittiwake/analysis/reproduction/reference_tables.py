"""Tables of published figures that come with Kittiwake; ``reference`` says where each is from."""

import csv
import gzip
from functools import cache
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from kittiwake.core.errors import ScenarioError

FOLDER = Path(__file__).parent / "reference"

Column = Float64[np.ndarray, " rows"]


def reference_path(name: str) -> Path:
    """Return the path of a file, such as ``qrsim/c_wind_shear.csv``.

    Raises:
        ScenarioError: if there is none.
    """
    path = FOLDER / name
    if not path.is_file():
        message = f"there is no reference file '{name}'"
        raise ScenarioError(message)
    return path


@cache
def reference_text(name: str) -> dict[str, list[str]]:
    """Return the columns of a CSV file as they are written; ``.gz`` is decompressed.

    Raises:
        ScenarioError: if there is no such file.
    """
    data = reference_path(name).read_bytes()
    text = (gzip.decompress(data) if name.endswith(".gz") else data).decode()
    header, *rows = csv.reader(text.splitlines())
    return {title: [row[place] for row in rows] for place, title in enumerate(header)}


def reference_column(name: str, column: str) -> Column:
    """Return a column of a table; an empty cell is NaN.

    Raises:
        ScenarioError: if there is no such table or column.
    """
    table = reference_text(name)
    if column not in table:
        message = f"{name} has no column '{column}'; its columns are {', '.join(table)}"
        raise ScenarioError(message)
    return np.array([float(cell) if cell else np.nan for cell in table[column]])
