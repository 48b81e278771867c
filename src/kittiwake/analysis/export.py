"""Export of a log to CSV, Parquet and a complete MCAP file.

All numbers are written so that they read back bit for bit. CSV text does not distinguish integers
from whole floating-point numbers; readers that guess types must be set to floating point.
"""

import re
from decimal import Decimal
from math import isfinite
from pathlib import Path

import numpy as np

from kittiwake.analysis.log import SCENARIO_FILE, SUMMARY_FILE, Log
from kittiwake.analysis.log_writer import LogWriter
from kittiwake.analysis.output_file import LOG_FILE, output_file, writing
from kittiwake.core.errors import LogError
from kittiwake.core.extras import import_optional

MEDIA_TYPES = {SCENARIO_FILE: "application/yaml", SUMMARY_FILE: "application/json"}
ROWS_PER_BLOCK = 1000
# characters that the unquoted header cannot contain
STRUCTURAL = re.compile('[,"\r\n]')
# decimal exponents that are written without an exponent, from the first to below the second
PLAIN_EXPONENTS = -6, 10


def export_csv(log: Log, folder: str | Path) -> list[Path]:
    """Write one ``NAME.csv`` for each vehicle into a folder, which is created if necessary."""
    folder = Path(folder)
    paths = [_csv_path(folder, name) for name in log.names]
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return [write_csv(log, name, path) for name, path in zip(log.names, paths, strict=True)]


def write_csv(log: Log, name: str, path: Path) -> Path:
    """Write one vehicle's rows into a file; returns its path.

    Raises:
        LogError: if it cannot be written, or a column name has a comma, a quote or a line break.
    """
    columns, values = log.columns(name), log.values(name)
    for column in columns:
        if STRUCTURAL.search(column):
            message = (
                f"the column name {column!r} of '{name}' cannot be in the header of a CSV file"
            )
            raise LogError(message)
    with (
        output_file(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        stream.write(",".join(columns) + "\n")
        for start in range(0, len(values), ROWS_PER_BLOCK):
            rows = values[start : start + ROWS_PER_BLOCK].tolist()
            stream.writelines(",".join(map(_digits, row)) + "\n" for row in rows)
    return path


def export_parquet(log: Log, path: str | Path) -> None:
    """Write one file with the rows of all vehicles and a column ``vehicle``.

    It has the columns of all vehicles; a column that a vehicle does not have is null in its rows.
    """
    pyarrow, parquet = (
        import_optional("pyarrow", "data"),
        import_optional("pyarrow.parquet", "data"),
    )

    parts = []
    for name in log.names:
        vehicle = pyarrow.repeat(name, len(log.values(name))).dictionary_encode()
        parts.append(pyarrow.table({"vehicle": vehicle} | _columns(log, name)))
    together = pyarrow.concat_tables(parts, promote_options="default")
    with output_file(Path(path)) as unfinished, unfinished.open("wb") as stream:
        parquet.write_table(together, stream)


def export_mcap(log: Log, folder: str | Path, path: str | Path) -> None:
    """Write one complete MCAP file, with index and footer even if the recording was cut off.

    Scenario and summary in the run folder become attachments if they exist.

    Raises:
        LogError: if ``path`` is the run's own log, or cannot be written.
    """
    folder, path = Path(folder), Path(path)
    if path.resolve() == (folder / LOG_FILE).resolve():
        message = (
            f"'{path}' is the log itself and cannot be written while it is read. Give another path."
        )
        raise LogError(message)
    layouts = {name: (log.columns(name), log.quantities(name)) for name in log.names}
    with output_file(path) as unfinished, unfinished.open("wb") as stream:
        writer = LogWriter(stream, layouts)
        _copy(log, writer)
        for attachment, media_type in MEDIA_TYPES.items():
            if (folder / attachment).is_file():
                writer.attach(attachment, media_type, (folder / attachment).read_bytes())
        writer.finish()


def _copy(log: Log, writer: LogWriter) -> None:
    longest = max((len(log.values(name)) for name in log.names), default=0)
    for start in range(0, longest, ROWS_PER_BLOCK):
        rows = slice(start, start + ROWS_PER_BLOCK)
        writer.write({name: log.values(name)[rows] for name in log.names})
    for event in log.events:
        writer.event(event)


def _csv_path(folder: Path, name: str) -> Path:
    file = f"{name}.csv"
    # a log may come from anywhere, and its names must not lead out of the folder
    if "\\" in file or "\0" in file or Path(file).name != file:
        message = f"the vehicle name '{name}' cannot be a file's name"
        raise LogError(message)
    return folder / file


def _digits(value: float) -> str:
    """Return the shortest digits that read back equal, whole numbers without a point."""
    shown = repr(value)
    size = abs(value)
    if 1e-4 <= size < 1e10 or size == 0.0:
        return shown.removesuffix(".0")
    if not isfinite(value):
        return shown
    sign, digits, exponent = Decimal(shown).normalize().as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits))
    power = exponent + len(figures) - 1
    least, most = PLAIN_EXPONENTS
    if least <= power < most:
        written = f"0.{'0' * (-power - 1)}{figures}"
    else:
        written = f"{figures[0]}{figures[1:] and '.'}{figures[1:]}e{power:+}"
    return f"-{written}" if sign else written


def _columns(log: Log, name: str) -> dict[str, np.ndarray]:
    return dict(zip(log.columns(name), log.values(name).T, strict=True))
