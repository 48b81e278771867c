"""Quantities that charts of a vehicle can show: those of pictures, its inputs, and any column."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from typing_extensions import override

from kittiwake.analysis.column_labels import ColumnLabel, column_label
from kittiwake.analysis.plots.quantities import (
    ACTUAL,
    COMMAND,
    MANY_VEHICLES,
    NOT_INPUTS,
    ONE_VEHICLE,
    SETPOINT_VELOCITY_WORLD_MPS,
    PlotQuantity,
    Rows,
)
from kittiwake.analysis.plots.traces import MEANINGLESS, Trace
from kittiwake.analysis.table import (
    ANGULAR_VELOCITY_BODY_RADPS,
    ESTIMATE_PREFIX,
    POSITION_WORLD_M,
    SETPOINT_WORLD_M,
    STATE_COLUMNS,
    VELOCITY_WORLD_MPS,
    Table,
)

VELOCITY = PlotQuantity(
    ("velocity",),
    "velocity",
    "m/s",
    ("x", "y", "z"),
    lambda t: t.table.part(VELOCITY_WORLD_MPS),
    lambda t: t.table.part(SETPOINT_VELOCITY_WORLD_MPS),
    estimated=True,
)
POSITION_ERROR = next(one for one in MANY_VEHICLES if one.label == "position error")
INPUTS, BATTERY = "inputs", "battery"
# names of the quantities of each preset
PRESETS = {
    "Position": ("position",),
    "Velocity": ("velocity", "speed"),
    "Attitude": ("attitude", "yaw"),
    "Inputs": (INPUTS,),
    "Battery": (BATTERY,),
    "Errors": ("error", "estimate"),
}
# setpoint of a column of the true state
SETPOINTS = {
    **dict(zip(POSITION_WORLD_M, SETPOINT_WORLD_M, strict=True)),
    **dict(zip(VELOCITY_WORLD_MPS, SETPOINT_VELOCITY_WORLD_MPS, strict=True)),
    ANGULAR_VELOCITY_BODY_RADPS[2]: "setpoint.yaw_rate_radps",
}


def trace_of(vehicle: str, columns: Sequence[str], rows: Rows) -> Trace:
    """Return the trace of rows of a vehicle; NaN for numbers of a diverging one."""
    values = np.where(np.abs(rows) < MEANINGLESS, rows, np.nan)
    return Trace(vehicle, 0, 1, Table(tuple(columns), values), None)


def chart_quantities(columns: Sequence[str]) -> dict[str, PlotQuantity]:
    """Return the quantities of a vehicle with these columns, by title with unit."""
    probe = trace_of("", columns, np.ones((2, len(columns))))
    known = [
        quantity
        for quantity in (VELOCITY, POSITION_ERROR, *ONE_VEHICLE)
        if np.isfinite(quantity.actual(probe)).any()
    ]
    inputs = [*_inputs(columns)]
    single = [_single(column, columns) for column in columns if column != STATE_COLUMNS[0]]
    found: dict[str, PlotQuantity] = {}
    for quantity in (*known, *inputs, *single):
        found.setdefault(title_of(quantity), quantity)
    return found


def title_of(quantity: PlotQuantity) -> str:
    """Return the label of a quantity with its unit: "Height [m]"."""
    # the name of a sensor is kept as it was given
    name = quantity.label if ":" in quantity.label else quantity.label.capitalize()
    return f"{name} [{quantity.unit}]" if quantity.unit else name


def preset(name: str, quantities: Iterable[PlotQuantity]) -> list[str]:
    """Return the titles of a preset's quantities."""
    wanted = PRESETS[name]
    return [title_of(one) for one in quantities if set(wanted) & set(one.names)]


def columns_read(quantity: PlotQuantity, columns: Sequence[str]) -> list[str]:
    """Return the columns that a quantity, its setpoint and its estimate are computed from."""
    read: set[str] = set()

    class ObservedTable(Table):
        """Table that notes the columns that are read."""

        @override
        def part(self, columns: Iterable[str]) -> Rows:
            names = tuple(columns)
            read.update(names)
            return super().part(names)

    trace = trace_of("", columns, np.ones((2, len(columns))))
    trace = replace(trace, table=ObservedTable(trace.table.columns, trace.table.values))
    for function in (quantity.actual, quantity.setpoint):
        if function is not None:
            function(trace)
    # estimated states are read under the names of the true ones
    read |= {f"{ESTIMATE_PREFIX}{column}" for column in read & {*STATE_COLUMNS[1:]}}
    return [column for column in columns if column in read and column != STATE_COLUMNS[0]]


def _inputs(columns: Sequence[str]) -> Iterable[PlotQuantity]:
    """Yield the actuators by unit with their commands, and commands without an actuator."""
    inputs = [
        column
        for column in columns
        if column.startswith((ACTUAL, COMMAND)) and not column.startswith(NOT_INPUTS)
    ]
    commands = {_setpoint_column(column, columns) for column in inputs}
    groups: dict[tuple[str, str], list[str]] = {}
    for column in sorted(inputs, key=lambda name: name.startswith(COMMAND)):
        label = column_label(column)
        single = label.name.startswith(BATTERY) or column.startswith(COMMAND)
        if column not in commands:
            groups.setdefault((column if single else INPUTS, label.unit), []).append(column)
    for group in groups.values():
        labels = [column_label(column) for column in group]
        whole = _name(group[0]) if len(group) == 1 else INPUTS
        kind = BATTERY if labels[0].name.startswith(BATTERY) else INPUTS
        yield _of_columns(kind, whole, group, columns, [label.short for label in labels])


def _single(column: str, columns: Sequence[str]) -> PlotQuantity:
    return _of_columns(column, _name(column), [column], columns, [column_label(column).short])


def _name(column: str) -> str:
    """Return the label of a column without its unit."""
    return replace(column_label(column), unit="").text


def _of_columns(
    name: str, label: str, group: Sequence[str], columns: Sequence[str], parts: Sequence[str]
) -> PlotQuantity:
    """Return the quantity of some columns of equal unit, with their setpoints and estimates."""
    labels = [column_label(column) for column in group]
    setpoints = [_setpoint_column(column, columns) for column in group]
    return PlotQuantity(
        (name,),
        label,
        labels[0].unit,
        tuple(parts),
        lambda trace: _shown(trace, group, labels),
        (lambda trace: _shown(trace, setpoints, labels)) if any(setpoints) else None,
        estimated=f"{ESTIMATE_PREFIX}{group[0]}" in columns,
    )


def _shown(trace: Trace, columns: Sequence[str], labels: Sequence[ColumnLabel]) -> Rows:
    return trace.table.part(columns) * np.array([label.factor for label in labels])


def _setpoint_column(column: str, columns: Sequence[str]) -> str:
    """Return the column of a column's setpoint or command; an empty text without one."""
    actuator = column.removeprefix(ACTUAL)
    candidates = (
        SETPOINTS.get(column, ""),
        COMMAND + actuator,
        COMMAND + actuator.replace("rotor_", "speeds_"),
    )
    is_actuator = column.startswith(ACTUAL)
    return next((c for c in candidates[: 3 if is_actuator else 1] if c in columns), "")
