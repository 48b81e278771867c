"""Samples of sensors that did not arrive, or that are not valid.

A log with fewer rows than a sensor has samples does not count them: then only gaps of several rows
are seen, and the share of lost samples is unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kittiwake.analysis.table import Table

# relative rounding of times between rows
ROUNDING = 1e-6


@dataclass(frozen=True)
class FlownSensor:
    """Sensor of a flight: its period, and True if a sample without a solution is a failure."""

    period_s: float
    always_valid: bool = False


@dataclass(frozen=True)
class SensorGaps:
    """Samples that are missing in a flight.

    Attributes:
        samples: rows with a new sample.
        lost_share: share of the expected samples that did not arrive; None if the log has fewer
            rows than the sensor has samples.
        invalid_share: share of the new samples that are not valid; None for a sensor whose samples
            always are.
        longest_gap_s: longest time without a new sample.
        gap_from_s: time at which it begins.
        longest_invalid_s: longest time without a new valid sample; None as for the share.
    """

    samples: int
    lost_share: float | None
    invalid_share: float | None
    longest_gap_s: float
    gap_from_s: float
    longest_invalid_s: float | None


def sensor_gaps(table: Table, sensors: Mapping[str, FlownSensor]) -> dict[str, SensorGaps]:
    """Return what is missing of each sensor's samples."""
    if len(table.values) < 2:
        return {}
    return {name: _gaps(table, name, sensor.period_s) for name, sensor in sensors.items()}


def _gaps(table: Table, name: str, period_s: float) -> SensorGaps:
    time_s = table.part(("time_s",))[:, 0]
    fresh = table.part((f"sensor.{name}.fresh",))[:, 0] > 0.0
    prefix = f"sensor.{name}.valid"
    flags = [c for c in table.columns if c == prefix or c.startswith(f"{prefix}_")]
    gap_s, from_s = _longest_gap(time_s, fresh)
    row_s = float(np.median(np.diff(time_s)))
    expected = int((time_s[-1] - time_s[0]) / period_s + ROUNDING) + 1
    counted = row_s <= period_s * (1.0 + ROUNDING)
    count = int(fresh.sum())
    lost = max(0.0, 1.0 - count / expected) if counted else None
    if not flags:
        return SensorGaps(count, lost, None, gap_s, from_s, None)
    valid = fresh & (table.part(flags) > 0.0).any(axis=1)
    invalid = 1.0 - float(valid.sum()) / count if count else None
    return SensorGaps(count, lost, invalid, gap_s, from_s, _longest_gap(time_s, valid)[0])


def _longest_gap(time_s: np.ndarray, arrives: np.ndarray) -> tuple[float, float]:
    """Return the longest time without an arrival, and when it begins."""
    ends_s = np.concatenate([time_s[:1], time_s[arrives], time_s[-1:]])
    gaps_s = np.diff(ends_s)
    longest = int(gaps_s.argmax())
    return float(gaps_s[longest]), float(ends_s[longest])
