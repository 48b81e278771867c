"""Rows of a fleet by vehicle, and what their columns contain."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

# function from a vehicle and its status to the limit that it has left
Violation = Callable[[str, int], str]
# rows by vehicle
RowBlock = dict[str, Float64[np.ndarray, "_rows _columns"]]


def column_places(columns: Sequence[str], given: Sequence[str]) -> Int64[np.ndarray, " columns"]:
    """Return the index of each column among those that are given, -1 for none."""
    indices = {column: index for index, column in enumerate(given)}
    return np.array([indices.get(column, -1) for column in columns])


@dataclass(frozen=True)
class RowLayout:
    """Contents of a fleet's rows, by vehicle.

    Attributes:
        columns: names of the columns, time first.
        quantities: quantities that must stay within limits; the status is an index into them.
        faults: events that the column ``faults`` counts.
        phases: descriptions of the parts of the vehicle's task.
        receivers: names of the satellite receivers.
    """

    columns: dict[str, tuple[str, ...]]
    quantities: dict[str, tuple[str, ...]]
    faults: dict[str, tuple[str, ...]]
    phases: dict[str, tuple[str, ...]]
    receivers: dict[str, tuple[str, ...]]

    def joined(self, other: "RowLayout") -> "RowLayout":
        """Return the layout of the vehicles of both."""
        mine, others = vars(self), vars(other)
        return RowLayout(**{key: {**mine[key], **others[key]} for key in mine})

    def of(self, names: Collection[str]) -> "RowLayout":
        """Return the layout of some of the vehicles."""
        parts = {
            key: {name: part[name] for name in names if name in part}
            for key, part in vars(self).items()
        }
        return RowLayout(**parts)

    def arranged(
        self, given: "RowLayout", name: str, rows: Float64[np.ndarray, "_rows _given"]
    ) -> Float64[np.ndarray, "_rows _columns"]:
        """Return a vehicle's rows of another layout with the columns of this one; NaN for none."""
        if self.columns[name] == given.columns[name]:
            return rows
        places = column_places(self.columns[name], given.columns[name])
        return np.column_stack([rows, np.full(len(rows), np.nan)])[:, places]

    @property
    def row_bytes(self) -> int:
        """Size of one step of all vehicles in bytes."""
        return sum(8 * len(names) for names in self.columns.values())
