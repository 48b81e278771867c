"""Rows of a fleet by vehicle, and what their columns contain."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

# function from a vehicle and its status to the limit that it has left
Violation = Callable[[str, int], str]
# rows by vehicle
RowBlock = dict[str, Float64[np.ndarray, "_rows _columns"]]


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

    @property
    def row_bytes(self) -> int:
        """Size of one step of all vehicles in bytes."""
        return sum(8 * len(names) for names in self.columns.values())
