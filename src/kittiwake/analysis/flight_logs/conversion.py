"""Conversion of recorded columns to a flight log: units, axes, attitudes and times."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.flight_logs.axes import attitude_enu_flu, axis_rule, from_euler_zyx
from kittiwake.analysis.flight_logs.column_names import euler_of, quaternion_of
from kittiwake.analysis.flight_logs.column_table import ColumnEntry, ColumnTable
from kittiwake.analysis.flight_logs.flight_log import FlightLog, Signal
from kittiwake.analysis.flight_logs.recorded import RecordedColumns, RecordedSignal
from kittiwake.analysis.flight_logs.recorded_units import TIMES, units_of
from kittiwake.core.errors import LogError, did_you_mean

# deviation of a quaternion's norm from one, above that of any rounding
NORM_TOLERANCE = 0.1


class _Quantity(NamedTuple):
    """Columns of one quantity at the same times, in SI units."""

    names: tuple[str, ...]
    time: np.ndarray
    values: Float64[np.ndarray, "samples columns"]
    dropped: int


def to_flight_log(
    source: str, table: ColumnTable, recorded: RecordedColumns, time_unit: str
) -> FlightLog:
    """Return the signals of a table from the columns of a log.

    Args:
        source: the name of the log.
        table: the table of columns.
        recorded: the columns of the log.
        time_unit: the unit of its times, if the table does not have one.

    Raises:
        LogError: if a column is missing, has no samples, or goes back in time.
    """
    parts = [
        part
        for names in _quantities(table, recorded, source)
        for part in _converted(source, table, names, recorded)
    ]
    if not parts:
        message = (
            f"{source}: has none of the columns of {table.document.name}. Give a table of its "
            f"columns: --columns TABLE.yaml. {did_you_mean('', recorded.names())}"
        )
        raise LogError(message)
    time = table.entries.time
    start = 0 if time.keep_start else min(part.time[0] for part in parts)
    factor = TIMES[time.unit or time_unit]
    signals: dict[str, Signal] = {}
    dropped: dict[str, int] = {}
    for part in parts:
        time_s = (part.time - start) * factor
        for name, values in zip(part.names, part.values.T, strict=True):
            signals[name] = Signal(time_s, np.ascontiguousarray(values))
            if part.dropped:
                dropped[name] = part.dropped
    for part in _constants(source, table, parts):
        time_s = (part.time - start) * factor
        for name, values in zip(part.names, part.values.T, strict=True):
            signals[name] = Signal(time_s, np.ascontiguousarray(values))
    return FlightLog(source, signals, dropped)


def _constants(source: str, table: ColumnTable, parts: Sequence[_Quantity]) -> Iterator[_Quantity]:
    """Yield the constant quantities, from the first to the last time of what is recorded."""
    ends = np.array([min(part.time[0] for part in parts), max(part.time[-1] for part in parts)])
    for names in _whole_quantities(table):
        entries = [table.entries.columns[name] for name in names]
        if all(entry.value is not None for entry in entries):
            values = [_constant(name, entry) for name, entry in zip(names, entries, strict=True)]
            yield _in_own_axes(source, table, _Quantity(names, ends, np.tile(values, (2, 1)), 0))


def _constant(name: str, entry: ColumnEntry) -> float:
    """Return a constant in the unit of its column; NaN for a recorded column."""
    value = float("nan") if entry.value is None else entry.value
    return (entry.scale * value + entry.offset) * _factor(name, entry.unit)


def _whole_quantities(table: ColumnTable) -> Iterator[tuple[str, ...]]:
    """Yield the columns of each quantity: the parts of an attitude, or one column."""
    columns = table.entries.columns
    for name in columns:
        whole = quaternion_of(name) or euler_of(name) or (name,)
        if name == next(part for part in columns if part in whole):
            yield whole


def _quantities(
    table: ColumnTable, recorded: RecordedColumns, source: str
) -> Iterator[tuple[str, ...]]:
    """Yield the columns of each quantity that is recorded; parts of an attitude may be constant."""
    columns = table.entries.columns
    for name, entry in columns.items():
        name_in_log = entry.recorded
        if name_in_log and name_in_log not in recorded.signals and not table.for_any_log:
            known = did_you_mean(name_in_log, recorded.names())
            message = f"{source} has no column '{name_in_log}'. {known}"
            raise table.error(("columns", name), message)
    for whole in _whole_quantities(table):
        parts = [columns[part] for part in whole if columns[part].value is None]
        if parts and all(part.recorded in recorded.signals for part in parts):
            yield whole


def _converted(
    source: str, table: ColumnTable, names: tuple[str, ...], recorded: RecordedColumns
) -> Iterator[_Quantity]:
    """Yield one quantity in Kittiwake's units and axes; nothing if a default has no samples."""
    entries = {name: table.entries.columns[name] for name in names}
    signals = {
        name: recorded.signals[entry.recorded]
        for name, entry in entries.items()
        if entry.value is None
    }
    first, time = next((name, signal.time) for name, signal in signals.items())
    if any(not np.array_equal(other.time, time) for other in signals.values()):
        message = "the parts of an attitude must be recorded at the same times"
        raise table.error(("columns", names[0]), message)
    values = np.stack(
        [
            (entry.scale * signals[name].values + entry.offset) * _factor(name, entry.unit)
            if name in signals
            else np.full(len(time), _constant(name, entry))
            for name, entry in entries.items()
        ],
        axis=1,
    )
    column = entries[first].recorded
    chosen = _chosen(source, column, RecordedSignal(time, values.sum(axis=1)))
    if not chosen.any():
        if table.for_any_log:
            return
        empty = [name for name, signal in signals.items() if not np.isfinite(signal.values).any()]
        column = entries[empty[0] if empty else first].recorded
        message = f"{source}: '{column}' has no finite samples"
        raise table.error(("columns", names[0]), message)
    part = _Quantity(names, time[chosen], values[chosen], int(np.sum(~chosen)))
    yield _in_own_axes(source, table, part)


def _factor(name: str, unit: str | None) -> float:
    return 1.0 if unit is None else units_of(name)[unit]


def _chosen(source: str, column: str, signal: RecordedSignal) -> Bool[np.ndarray, " samples"]:
    """Return which samples are finite and later than those before them."""
    steps = np.diff(signal.time)
    if not (steps >= 0).all():
        at = int(np.argmin(steps >= 0))
        message = (
            f"{source}: the time of '{column}' goes back from {signal.time[at]} to "
            f"{signal.time[at + 1]}, after {at + 1:,} samples"
        )
        raise LogError(message)
    chosen = np.isfinite(signal.values)
    times = signal.time[chosen]
    chosen[chosen] = np.diff(times, prepend=times[:1] - 1) > 0
    return chosen


def _in_own_axes(source: str, table: ColumnTable, part: _Quantity) -> _Quantity:
    """Return a quantity in ENU and FLU; attitudes as quaternions."""
    world_axes, body_axes = table.entries.world_axes, table.entries.body_axes
    name = part.names[0]
    if euler_of(name):
        names = quaternion_of(f"{name.removesuffix('roll_rad')}qw")
        q = attitude_enu_flu(from_euler_zyx(part.values), world_axes, body_axes)
        return part._replace(names=names, values=q)
    if quaternion_of(name):
        norms = np.linalg.norm(part.values, axis=1, keepdims=True)
        off = np.abs(norms[:, 0] - 1.0)
        if (off > NORM_TOLERANCE).any():
            given = float(norms[np.argmax(off > NORM_TOLERANCE), 0])
            message = f"{source}: the norm of {', '.join(part.names)} is {given:g}; must be 1"
            raise table.error(("columns", name), message)
        return part._replace(values=attitude_enu_flu(part.values / norms, world_axes, body_axes))
    rule = axis_rule(name, world_axes, body_axes)
    return part._replace(names=(rule.name,), values=rule.sign * part.values + rule.offset)
