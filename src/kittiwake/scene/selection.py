"""Selection of log columns of many vehicles as one array."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.scene_state import FlightInfo, SceneState

STATE = ("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")


class Selection:
    """Array of chosen columns of chosen vehicles; NaN where a vehicle lacks a column."""

    def __init__(self, flight: FlightInfo, vehicles: Sequence[str], columns: Sequence[str]) -> None:
        self._shape = len(vehicles), len(columns)
        layouts: dict[tuple[str, ...], list[int]] = {}
        for number, name in enumerate(vehicles):
            layouts.setdefault(flight.columns[name], []).append(number)
        self._parts: list[tuple[list[str], np.ndarray, np.ndarray, np.ndarray]] = []
        for layout, vehicle_rows in layouts.items():
            indices = {column: index for index, column in enumerate(layout)}
            targets = [target for target, column in enumerate(columns) if column in indices]
            sources = np.array([indices[columns[target]] for target in targets], int)
            names = [vehicles[number] for number in vehicle_rows]
            self._parts.append((names, sources, np.array(vehicle_rows), np.array(targets, int)))

    def of(self, scene_state: SceneState) -> Float64[np.ndarray, "vehicles columns"]:
        """Return one row per vehicle; NaN for vehicles that the scene state lacks."""
        values = np.full(self._shape, np.nan)
        for names, sources, vehicle_rows, targets in self._parts:
            rows = [scene_state.rows[name] for name in names if name in scene_state.rows]
            if not rows:
                continue
            if len(rows) < len(names):
                vehicle_rows = vehicle_rows[[name in scene_state.rows for name in names]]
            # much faster than np.stack of many small arrays
            table = np.concatenate(rows).reshape(len(rows), -1)
            values[vehicle_rows[:, None], targets] = table[:, sources]
        return values
