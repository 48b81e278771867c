"""Rows of a live flight, whose programs and vehicles change, and the latest estimates in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kittiwake.analysis.table import FAULTS
from kittiwake.core.kinematics import Start, motion_columns
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.program import Program
from kittiwake.runtime.row_layout import RowBlock, RowLayout, column_places
from kittiwake.runtime.vehicle_estimate import (
    ESTIMATE_COLUMNS,
    VehicleEstimate,
    estimate_from_row,
)


class LiveRows:
    """Rows with the columns of the log, from those of the present program.

    Attributes:
        layout: columns of each vehicle's rows.
    """

    def __init__(self, layout: RowLayout, vehicles: Mapping[str, AssembledVehicle]) -> None:
        self.layout = layout
        self._latest: dict[str, np.ndarray] = {}
        # estimates by vehicle, with the rows that they are from
        self._estimates: dict[str, tuple[np.ndarray, VehicleEstimate]] = {}
        self._estimate_indices = _estimate_indices(layout)
        self._own_faults = {name: vehicle.faults for name, vehicle in vehicles.items()}
        # by vehicle, the index of each log column in the program's rows, -1 for none
        self._sources: dict[str, np.ndarray] = {}

    def follow(self, program: Program) -> None:
        """Continue with the rows of another program."""
        for name, columns in self.layout.columns.items():
            self._sources[name] = column_places(columns, program.columns[name])

    def change_vehicles(self, layout: RowLayout, vehicles: Mapping[str, AssembledVehicle]) -> None:
        """Log the vehicles of a layout from now on; columns of those that were there stay."""
        self._estimate_indices = _estimate_indices(layout) | self._estimate_indices
        faults = {name: vehicle.faults for name, vehicle in vehicles.items()}
        self._own_faults = faults | self._own_faults
        self.layout = layout.joined(self.layout).of(layout.columns.keys())

    def add(self, flown: RowBlock) -> RowBlock:
        """Return the program's rows with the columns of the log; NaN where it has none."""
        block: RowBlock = {}
        for name, columns in self.layout.columns.items():
            times = flown[name][:, 0]
            missing = np.full(len(times), np.nan)
            rows = np.column_stack([flown[name], missing])[:, self._sources[name]]
            if FAULTS in columns:
                # without those that a user may inject, which are events of their own
                active = [times >= float(fault.at_s) for fault in self._own_faults[name]]
                rows[:, columns.index(FAULTS)] = np.sum(active, axis=0)
            block[name] = rows
        self._latest = {name: rows[-1] for name, rows in block.items()}
        return block

    def estimate(self, vehicle: str) -> VehicleEstimate | None:
        """Return a vehicle's state estimate in its last row; None before the first one."""
        row = self._latest.get(vehicle)
        if row is None:
            return None
        known_row, known = self._estimates.get(vehicle, (None, None))
        if known is not None and known_row is row:
            return known
        indices = self._estimate_indices[vehicle]
        found = estimate_from_row({name: float(row[i]) for name, i in indices.items()})
        self._estimates[vehicle] = row, found
        return found

    def place(self, vehicle: str, start: Start) -> None:
        """Replace the estimate in the last row of a vehicle that was placed elsewhere."""
        if vehicle not in self._latest:
            return
        row = self._latest[vehicle].copy()
        for column, value in _as_estimate(motion_columns(start.kinematics())).items():
            index = self._estimate_indices[vehicle].get(column)
            if index is not None:
                row[index] = float(value)
        self._latest = {**self._latest, vehicle: row}

    def at_start(self, vehicles: Mapping[str, AssembledVehicle]) -> RowBlock:
        """Return a row of each vehicle at its start, with NaN for all but its pose and velocity."""
        rows: RowBlock = {}
        for name, columns in self.layout.columns.items():
            motion = motion_columns(vehicles[name].start.kinematics())
            known = {"time_s": 0.0, **motion, **_as_estimate(motion)}
            rows[name] = np.array([[float(known.get(column, np.nan)) for column in columns]])
        return rows


def _estimate_indices(layout: RowLayout) -> dict[str, dict[str, int]]:
    return {
        name: {column: i for i, column in enumerate(columns) if column in ESTIMATE_COLUMNS}
        for name, columns in layout.columns.items()
    }


def _as_estimate(motion: Mapping[str, Any]) -> dict[str, Any]:
    return {f"estimate.{column}": value for column, value in motion.items()}
