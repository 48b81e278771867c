"""Reading of a flight log of any format."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from kittiwake.analysis.flight_logs import csv_log, dataflash, kittiwake_log, ros_bag, ulog
from kittiwake.analysis.flight_logs.column_table import (
    ColumnTable,
    default_table,
    read_column_table,
    table_of_own_names,
)
from kittiwake.analysis.flight_logs.conversion import to_flight_log
from kittiwake.analysis.flight_logs.flight_log import FlightLog
from kittiwake.analysis.flight_logs.recorded import RecordedColumns
from kittiwake.core.errors import LogError


class LogFormat(NamedTuple):
    """Format of a log.

    Attributes:
        read: returns the given columns of a file, at the times of a column; empty for the default.
        time_unit: the unit of its times.
        default_table: the file with the columns that such a log may have; empty without one.
        own_names: returns the places of Kittiwake's columns in a log that needs no table.
    """

    read: Callable[[Path, Collection[str], str], RecordedColumns]
    time_unit: str
    default_table: str = ""
    own_names: Callable[[Path], Mapping[str, str]] | None = None


CSV = LogFormat(csv_log.read, "s", own_names=csv_log.own_names)
ROS_BAG = LogFormat(ros_bag.read, "ns")
ULOG = LogFormat(ulog.read, "us", "px4.yaml")
DATAFLASH = LogFormat(dataflash.read, "us", "ardupilot.yaml")
FORMATS = {
    ".csv": CSV,
    ".mcap": ROS_BAG,
    ".bag": ROS_BAG,
    ".db3": ROS_BAG,
    ".ulg": ULOG,
    ".bin": DATAFLASH,
}


def read_flight_log(
    path: str | Path,
    columns: str | Path | Mapping[str, Any] | None = None,
    *,
    vehicle: str | None = None,
) -> FlightLog:
    """Return a log that another program, or Kittiwake, recorded in flight.

    Args:
        path: a CSV file, a run folder or its log, a ROS bag, a ULog or a DataFlash log.
        columns: a YAML file, or a mapping, from Kittiwake's columns to those of the log. Logs of
            Kittiwake, of PX4 and of ArduPilot can be read without one.
        vehicle: the vehicle of a log of Kittiwake; needed if it has several.

    Raises:
        LogError: if the log or the table is invalid, or a column is missing.
        MissingExtraError: if the library that reads this format is not installed.
    """
    path = Path(path)
    if kittiwake_log.is_own_log(path):
        return _own_log(path, columns, vehicle)
    if vehicle is not None:
        message = f"`vehicle`: only allowed for logs of Kittiwake, which {path.name} is not"
        raise LogError(message)
    log_format = _format_of(path)
    table = _table(path, columns, log_format)
    time = table.entries.time.column or ""
    wanted = [entry.recorded for entry in table.entries.columns.values() if entry.recorded]
    recorded = log_format.read(path, wanted, time)
    return to_flight_log(path.name, table, recorded, log_format.time_unit)


def _own_log(
    path: Path, columns: str | Path | Mapping[str, Any] | None, vehicle: str | None
) -> FlightLog:
    own = kittiwake_log.vehicle_table(path, vehicle)
    if columns is None:
        return kittiwake_log.all_columns(path.name, own)
    table = read_column_table(columns)
    recorded = kittiwake_log.recorded_columns(path.name, own, table.entries.time.column or "")
    return to_flight_log(path.name, table, recorded, "s")


def _format_of(path: Path) -> LogFormat:
    if not path.exists():
        message = f"'{path}' does not exist. Give a flight log or a folder of 'kittiwake run'."
        raise LogError(message)
    if (path / ros_bag.METADATA_FILE).is_file():
        return ROS_BAG
    if path.is_dir():
        message = (
            f"'{path}' is neither a folder that 'kittiwake run' has written nor a bag of ROS 2"
        )
        raise LogError(message)
    if path.suffix.lower() not in FORMATS:
        allowed = ", ".join(FORMATS)
        message = f"'{path}' is of an unknown format. The ends of names that are read: {allowed}."
        raise LogError(message)
    return FORMATS[path.suffix.lower()]


def _table(
    path: Path, columns: str | Path | Mapping[str, Any] | None, log_format: LogFormat
) -> ColumnTable:
    if columns is not None:
        return read_column_table(columns)
    if log_format.default_table:
        return default_table(log_format.default_table)
    if log_format.own_names is not None:
        return table_of_own_names(log_format.own_names(path), path.name)
    message = f"{path.name}: give a table of its columns: --columns TABLE.yaml"
    raise LogError(message)
