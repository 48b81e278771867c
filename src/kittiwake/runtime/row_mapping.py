"""Rows of one program as those of another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kittiwake.runtime.watch import RowLayout


@dataclass(frozen=True)
class RowMapping:
    """By vehicle which columns of a program's rows are those of the log, with NaN for none."""

    layout: RowLayout
    sources: dict[str, np.ndarray]

    @classmethod
    def of(cls, layout: RowLayout, columns: Mapping[str, Sequence[str]]) -> "RowMapping":
        """For rows with these columns."""
        sources = {}
        for name, wanted in layout.columns.items():
            places = {column: place for place, column in enumerate(columns[name])}
            sources[name] = np.array([places.get(column, -1) for column in wanted])
        return cls(layout, sources)

    def rows(self, name: str, rows: np.ndarray) -> np.ndarray:
        """A vehicle's rows with the log's columns."""
        sources = self.sources[name]
        return np.where(sources >= 0, rows[:, sources], np.nan)
