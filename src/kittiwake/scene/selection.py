"""Some columns of many vehicles' rows as one array."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.frame import Frame, Show

STATE = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


class Selection:
    """Columns by name, of vehicles by name; NaN in those that a vehicle does not have."""

    def __init__(self, show: Show, vehicles: Sequence[str], columns: Sequence[str]) -> None:
        self._shape = len(vehicles), len(columns)
        layouts: dict[tuple[str, ...], list[int]] = {}
        for number, name in enumerate(vehicles):
            layouts.setdefault(show.columns[name], []).append(number)
        self._parts: list[tuple[list[str], np.ndarray, np.ndarray, np.ndarray]] = []
        for layout, numbers in layouts.items():
            places = {column: place for place, column in enumerate(layout)}
            there = [to for to, column in enumerate(columns) if column in places]
            taken = np.array([places[columns[to]] for to in there], int)
            names = [vehicles[number] for number in numbers]
            self._parts.append((names, taken, np.array(numbers), np.array(there, int)))

    def of(self, frame: Frame) -> Float64[np.ndarray, "vehicles columns"]:
        """One row for each vehicle; all NaN of one that the frame does not have."""
        found = np.full(self._shape, np.nan)
        for names, taken, numbers, there in self._parts:
            rows = [frame.rows[name] for name in names if name in frame.rows]
            if not rows:
                continue
            if len(rows) < len(names):
                numbers = numbers[[name in frame.rows for name in names]]
            # much faster than a stack of as many small arrays
            table = np.concatenate(rows).reshape(len(rows), -1)
            found[numbers[:, None], there] = table[:, taken]
        return found
