"""How well a flight followed what was asked for: the figures by which controllers are compared.

A step is a flight towards one place that stays. Its figures are read off the progress along the
straight way, s = (p - p_0) (p_1 - p_0) / |p_1 - p_0|^2: the rise time from s = 0.1 to 0.9 for the
first time, the overshoot max(s) - 1, and the settling time, after which the vehicle stays within
2 % of the way around the place (Ogata 2010, "Modern Control Engineering", section 5.3).

Roughness is the residual standard error of a LOESS curve of span 1 and degree 2 through a quantity
over time (Cleveland and Devlin 1988), as Micklisch et al. (2021) rate attitude controllers: what is
not one smooth bend is residual. It depends on the units and on the length of the flight, so only
flights of one scenario can be compared by it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from jaxtyping import Bool, Float64

from kittiwake.analysis.summary import SETPOINT_WORLD_M
from kittiwake.analysis.table import POSITION_WORLD_M, STATE_COLUMNS, Table

RISE = (0.1, 0.9)
SETTLED = 0.02
# shorter than this a way is none
LEAST_WAY_M = 1e-6
# of its range, that a command is at its bound
AT_BOUND = 1e-6
# a command that changes by less, in its SI unit, stays the same but for rounding
LEAST_CHANGE = 1e-9
LOESS_SPAN, LOESS_DEGREE, LOESS_POINTS = 1.0, 2, 1000
LEAST_POINTS = 20
COMMAND = "cmd_"
QUANTITIES = {"x": "m", "y": "m", "z": "m", "roll": "deg", "pitch": "deg", "yaw": "deg"}

Series = Float64[np.ndarray, " rows"]
Points = Float64[np.ndarray, "rows 3"]


@dataclass(frozen=True)
class ResponseMetrics:
    """The figures of one vehicle's flight; None for what it does not have.

    Attributes:
        rise_time_s: from a tenth to nine tenths of the way.
        settling_time_s: until it stays within 2 % of the way.
        overshoot_percent: beyond the place, of the way.
        tracking_rms_m: distance to the set point.
        effort_percent: how far commands stray from their means, RMS, of their ranges, or of their
            largest spans where they have no range. Commands that never change do not count.
        saturated_percent: of the time, with any command at a bound; those that never change do not
            count beside others.
        roughness: by quantity, in meters and degrees.
    """

    rise_time_s: float | None
    settling_time_s: float | None
    overshoot_percent: float | None
    tracking_rms_m: float | None
    effort_percent: float | None
    saturated_percent: float | None
    roughness: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Trial:
    """One vehicle's flight with one of the controllers that are compared."""

    controllers: str
    vehicle: str
    seed: int
    status: str
    response: ResponseMetrics
    table: Table


def response(
    table: Table,
    bounds: Mapping[str, tuple[float, float]],
    spans: Mapping[str, float] | None = None,
) -> ResponseMetrics:
    """The figures of a vehicle.

    Args:
        table: its flight.
        bounds: of its native command, by column.
        spans: of the flights with which it is compared, from ``command_spans``; its own if None.
    """
    flown = _flown(table)
    time_s, position_m = flown.part(("time_s",))[:, 0], flown.part(POSITION_WORLD_M)
    wanted_m = flown.part(SETPOINT_WORLD_M)
    towards_a_place = bool(np.isfinite(wanted_m).all()) and len(wanted_m) > 0
    step = _step(time_s, position_m, wanted_m) if towards_a_place else (None, None, None)
    moved = _changing(flown, bounds)
    widths = _widths(bounds, command_spans([table], bounds) if spans is None else spans)
    return ResponseMetrics(
        *step,
        tracking_rms_m=_rms(wanted_m - position_m) if towards_a_place else None,
        effort_percent=_effort(flown, moved, widths),
        saturated_percent=_saturated(flown, moved, bounds),
        roughness=_roughness(time_s, position_m, flown.roll_pitch_yaw_deg),
    )


def command_spans(tables: Sequence[Table], columns: Iterable[str]) -> dict[str, float]:
    """From the least to the largest value of each command, of the flight where that is most."""
    flights = [_flown(table) for table in tables]
    return {
        column: max(
            (float(np.ptp(_command(t, column))) for t in flights if len(t.values)), default=0.0
        )
        for column in columns
    }


def _flown(table: Table) -> Table:
    """The rows in which the vehicle's state is finite."""
    known = np.isfinite(table.part(STATE_COLUMNS)).all(axis=1)
    return Table(table.columns, table.values[known])


def _rms(vectors: Points) -> float:
    return float(np.sqrt((vectors**2).sum(axis=1).mean()))


def _step(
    time_s: Series, position_m: Points, wanted_m: Points
) -> tuple[float | None, float | None, float | None]:
    """Rise time, settling time and overshoot of a flight to a place that stays."""
    way = wanted_m[0] - position_m[0]
    length = float(np.linalg.norm(way))
    if np.ptp(wanted_m, axis=0).max() > 0.0 or length < LEAST_WAY_M:
        return None, None, None
    progress = (position_m - position_m[0]) @ way / length**2
    begins, ends = (_first(time_s, progress >= share) for share in RISE)
    rise_s = None if begins is None or ends is None else ends - begins
    outside = np.linalg.norm(position_m - wanted_m, axis=1) > SETTLED * length
    settling_s = None if outside[-1] else _after(time_s, outside)
    return rise_s, settling_s, 100.0 * max(float(progress.max()) - 1.0, 0.0)


def _first(time_s: Series, holds: Bool[np.ndarray, " rows"]) -> float | None:
    return float(time_s[holds.argmax()]) if holds.any() else None


def _after(time_s: Series, outside: Bool[np.ndarray, " rows"]) -> float:
    """How long until it is outside no more."""
    last = np.flatnonzero(outside)
    return float(time_s[last[-1] + 1] - time_s[0]) if last.size else 0.0


def _command(table: Table, column: str) -> Series:
    return table.part((f"{COMMAND}{column}",))[:, 0]


def _changing(table: Table, columns: Iterable[str]) -> list[str]:
    """The commands that do not stay what they are all the time."""
    return [name for name in columns if command_spans([table], [name])[name] > LEAST_CHANGE]


def _widths(
    bounds: Mapping[str, tuple[float, float]], spans: Mapping[str, float]
) -> dict[str, float]:
    """What each command is measured by: its range, or the largest span if it has none."""
    return {
        column: high - low if high - low < inf else spans[column]
        for column, (low, high) in bounds.items()
    }


def _effort(table: Table, moved: Sequence[str], widths: Mapping[str, float]) -> float | None:
    if not widths or not len(table.values):
        return None
    strays = [float(np.var(_command(table, column) / widths[column])) for column in moved]
    return 100.0 * float(np.sqrt(np.mean(strays))) if strays else 0.0


def _saturated(
    table: Table, moved: Sequence[str], bounds: Mapping[str, tuple[float, float]]
) -> float | None:
    ranges = {column: (low, high) for column, (low, high) in bounds.items() if high - low < inf}
    if not ranges or not len(table.values):
        return None
    counted = [column for column in ranges if column in moved] or list(ranges)
    low, high = np.array([ranges[column] for column in counted]).T
    values = np.column_stack([_command(table, column) for column in counted])
    shares = (values - low) / (high - low)
    at_bound = ((shares <= AT_BOUND) | (shares >= 1.0 - AT_BOUND)).any(axis=1)
    return 100.0 * float(at_bound.mean())


def _roughness(time_s: Series, position_m: Points, angles_deg: Points) -> dict[str, float]:
    series = np.column_stack([position_m, np.unwrap(angles_deg, axis=0, period=360.0)])
    # the curve is one bend; more points than these cost time and say nothing new
    thin = slice(None, None, max(1, -(-len(time_s) // LOESS_POINTS)))
    if len(time_s[thin]) < LEAST_POINTS:
        return {}
    return {
        name: _loess_error(time_s[thin], values[thin])
        for name, values in zip(QUANTITIES, series.T, strict=True)
    }


def _loess_error(time_s: Series, values: Series) -> float:
    from skmisc.loess import loess

    curve = loess(time_s, values, span=LOESS_SPAN, degree=LOESS_DEGREE)
    curve.fit()
    return float(curve.outputs.residual_scale)
