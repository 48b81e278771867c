"""Resampling of a flight log to one table, for exports and recorded inputs."""

import math
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.export import export_parquet, write_csv
from kittiwake.analysis.flight_logs.column_names import COMMAND, SETPOINT, quaternion_of
from kittiwake.analysis.flight_logs.flight_log import FlightLog
from kittiwake.analysis.flight_logs.recorded_units import NUMBERS, units_of
from kittiwake.analysis.log import Log
from kittiwake.analysis.table import STATE_COLUMNS, Table
from kittiwake.core.errors import LogError

# numbers of a table that is made in memory
MAX_NUMBERS = 100_000_000


def to_table(log: FlightLog, rate_hz: float | None = None) -> Table:
    """Return the signals at common times, within the span that all of them have.

    Commands, setpoints and numbers without a unit, such as flags, are held; others are linear
    between samples.

    Args:
        log: the signals.
        rate_hz: the rate of the rows; the times of the fastest signal unless given.

    Raises:
        LogError: if the signals have no time in common, or the rows are too many.
    """
    first = [name for name in STATE_COLUMNS if name in log.signals]
    names = [*first, *(name for name in log.signals if name not in first)]
    times = _times(log, rate_hz, MAX_NUMBERS // (1 + len(names)))
    columns = {name: log.at(name, times, hold=_is_held(name)) for name in names}
    for name in names:
        _normalize([columns[part] for part in quaternion_of(name) if part in columns])
    return Table(("time_s", *names), np.stack([times, *columns.values()], axis=1))


def export_flight_log(log: FlightLog, to: str, path: Path, rate_hz: float | None = None) -> None:
    """Write the signals at common times into a file, as CSV or Parquet.

    Raises:
        LogError: if they have no time in common, or the file cannot be written.
    """
    name = Path(log.source).stem
    resampled = Log({name: to_table(log, rate_hz)})
    if to == "csv":
        write_csv(resampled, name, path)
    else:
        export_parquet(resampled, path)


def _times(log: FlightLog, rate_hz: float | None, most: int) -> Float64[np.ndarray, " rows"]:
    begin_s, end_s = log.span_s()
    if rate_hz is not None:
        # a last sample within the rounding of its time is included
        count = math.floor((end_s - begin_s) * rate_hz + 1e-6) + 1
        if count > most:
            signals = len(log.signals)
            message = f"{log.source}: {count:,} rows of {signals} signals; at most {most:,}"
            raise LogError(message)
        return np.minimum(begin_s + np.arange(float(count)) / rate_hz, end_s)
    fastest = max(log.signals.values(), key=lambda signal: _rate(signal.time_s)).time_s
    return fastest[(fastest >= begin_s) & (fastest <= end_s)]


def _rate(time_s: Float64[np.ndarray, " samples"]) -> float:
    return (time_s.size - 1) / float(time_s[-1] - time_s[0]) if time_s.size > 1 else 0.0


def _is_held(name: str) -> bool:
    commanded = name.startswith((COMMAND, SETPOINT))
    return commanded or (units_of(name) is NUMBERS and not quaternion_of(name))


def _normalize(parts: list[Float64[np.ndarray, " rows"]]) -> None:
    """Scale the parts of rotations to norm one, in place."""
    norm = np.linalg.norm(parts, axis=0) if parts else 1.0
    for part in parts:
        part /= norm
