"""Rows of a sweep on disk: parts while it is flown, and one table at its end.

A part is written under another name and then renamed, so that a process that is killed leaves whole
parts only. A row that two parts hold, since a sweep was killed while it joined them, counts once.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kittiwake.analysis.output_file import output_file, writing
from kittiwake.core.errors import LogError
from kittiwake.core.extras import import_optional
from kittiwake.runtime.sweeps.rows import Row

if TYPE_CHECKING:
    import pandas

# of pyarrow, which has no types
Table: TypeAlias = Any

TABLE_FILE = "runs.parquet"
PARTS = "parts"


class SweepStore:
    """Rows of the sweep in a folder.

    Attributes:
        folder: the folder.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare to write and read.

        Raises:
            MissingExtraError: without pyarrow.
        """
        self.folder = folder
        self._arrow = import_optional("pyarrow", "data")
        self._parquet = import_optional("pyarrow.parquet", "data")

    def add(self, rows: Sequence[Row]) -> None:
        """Write rows of consecutive runs as one part.

        Raises:
            LogError: if they cannot be written.
        """
        parts = self.folder / PARTS
        with writing(parts):
            parts.mkdir(exist_ok=True)
        self._write(_table(self._arrow, rows), parts / f"{rows[0]['run']:08d}.parquet")

    def flown(self) -> set[int]:
        """Return the numbers of the runs whose rows are there."""
        return {
            number
            for path in self._paths()
            for number in self._read(path, ["run"])["run"].to_pylist()
        }

    def frame(self) -> "pandas.DataFrame":
        """Return all rows in the order of the runs."""
        pandas = import_optional("pandas", "data")
        if not (paths := self._paths()):
            return pandas.DataFrame({"run": [], "seed": [], "status": []})
        return self._joined(paths).to_pandas()

    def join(self) -> None:
        """Write all rows into one table, and remove the parts."""
        paths = self._paths()
        self._write(self._joined(paths), self.folder / TABLE_FILE)
        for path in paths:
            if path.parent.name == PARTS:
                path.unlink()
        with suppress(OSError):
            (self.folder / PARTS).rmdir()

    def _paths(self) -> list[Path]:
        whole = self.folder / TABLE_FILE
        return [
            *([whole] if whole.exists() else []),
            *sorted((self.folder / PARTS).glob("[0-9]*.parquet")),
        ]

    def _joined(self, paths: Sequence[Path]) -> Table:
        tables = [self._read(path) for path in paths]
        whole = self._arrow.concat_tables(tables, promote_options="permissive")
        first = {
            number: index for index, number in reversed([*enumerate(whole["run"].to_pylist())])
        }
        return whole.take([first[number] for number in sorted(first)])

    def _read(self, path: Path, columns: list[str] | None = None) -> Table:
        try:
            return self._parquet.read_table(path, columns=columns)
        except (OSError, ValueError) as error:
            message = f"'{path}' cannot be read: {error}"
            raise LogError(message) from None

    def _write(self, table: Table, path: Path) -> None:
        with writing(path), output_file(path) as unfinished:
            self._parquet.write_table(table, unfinished)


def _table(arrow: Any, rows: Sequence[Row]) -> Table:
    """Return a table with the columns of all rows."""
    names = dict.fromkeys(name for row in rows for name in row)
    return arrow.table({name: _column(arrow, [row.get(name) for row in rows]) for name in names})


def _column(arrow: Any, values: Sequence[Any]) -> Any:
    """Return a column of numbers, of flags, or of text if they are of several kinds."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        values = (
            [None if value is None else float(value) for value in values]
            if float in kinds
            else values
        )
    elif len(kinds) > 1:
        values = [None if value is None else str(value) for value in values]
    return arrow.array(values)
