"""Logs of Kittiwake: a run folder, or the MCAP file in one."""

from pathlib import Path

import numpy as np

from kittiwake.analysis.flight_logs.flight_log import FlightLog, Signal
from kittiwake.analysis.flight_logs.recorded import RecordedColumns, RecordedSignal
from kittiwake.analysis.log_reader import files_beside, read_log_file
from kittiwake.analysis.output_file import LOG_FILE
from kittiwake.analysis.table import Table
from kittiwake.core.errors import LogError, did_you_mean

TIME = "time_s"


def is_own_log(path: Path) -> bool:
    """Return True for a run folder, and for an MCAP file of Kittiwake."""
    if path.is_dir():
        return (path / LOG_FILE).is_file()
    return path.suffix == ".mcap" and path.is_file() and files_beside(path) is not None


def vehicle_table(path: Path, vehicle: str | None) -> Table:
    """Return the rows of the given vehicle, or of the only one.

    Raises:
        LogError: if the log cannot be read, has no such vehicle, or has several and none is given.
    """
    tables, _, _ = read_log_file(path / LOG_FILE if path.is_dir() else path)
    if vehicle is None and len(tables) != 1:
        message = f"{path.name} has {len(tables)} vehicles; choose one by `vehicle`: "
        raise LogError(message + ", ".join(tables))
    name = next(iter(tables)) if vehicle is None else vehicle
    if name not in tables:
        message = f"`vehicle`: {path.name} has no vehicle '{name}'. {did_you_mean(name, tables)}"
        raise LogError(message)
    if not len(tables[name].values):
        message = f"{path.name}: '{name}' has no rows"
        raise LogError(message)
    return tables[name]


def all_columns(source: str, table: Table) -> FlightLog:
    """Return all columns of a vehicle, at the times of the simulation."""
    time_s = table.part((TIME,))[:, 0]
    signals: dict[str, Signal] = {}
    dropped: dict[str, int] = {}
    for name, values in zip(table.columns, table.values.T, strict=True):
        finite = np.isfinite(values)
        if name != TIME and finite.any():
            signals[name] = Signal(time_s[finite], values[finite])
        if not finite.all():
            dropped[name] = int(np.sum(~finite))
    return FlightLog(source, signals, dropped)


def recorded_columns(source: str, table: Table, time: str) -> RecordedColumns:
    """Return all columns of a vehicle as recorded, at the times of a column."""
    time = time or TIME
    if time not in table.columns:
        message = f"{source} has no column '{time}'. {did_you_mean(time, table.columns)}"
        raise LogError(message)
    times = table.part((time,))[:, 0]
    signals = {
        name: RecordedSignal(times, values)
        for name, values in zip(table.columns, table.values.T, strict=True)
    }
    return RecordedColumns(signals, lambda: table.columns)
