"""Mapping of one program's rows to the columns of another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kittiwake.runtime.watch import RowLayout


@dataclass(frozen=True)
class RowMapping:
    """Mapping of a program's rows to the log's columns; NaN where the program has none.

    ``sources`` holds by vehicle the index of each log column in the program's rows, -1 for none.
    """

    layout: RowLayout
    sources: dict[str, np.ndarray]

    @classmethod
    def of(cls, layout: RowLayout, columns: Mapping[str, Sequence[str]]) -> "RowMapping":
        """Return the mapping for rows with these columns."""
        sources = {}
        for name, log_columns in layout.columns.items():
            indices = {column: index for index, column in enumerate(columns[name])}
            sources[name] = np.array([indices.get(column, -1) for column in log_columns])
        return cls(layout, sources)

    def rows(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Return a vehicle's rows with the log's columns."""
        sources = self.sources[name]
        return np.where(sources >= 0, rows[:, sources], np.nan)
