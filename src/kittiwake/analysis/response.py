"""Response metrics of a flight, by which controllers are compared.

A step response is a flight to a constant setpoint. Its metrics follow from the progress along the
straight line, s = (p - p_0) (p_1 - p_0) / |p_1 - p_0|^2: the rise time from the first s = 0.1 to
the first s = 0.9, the overshoot max(s) - 1, and the settling time, after which the vehicle stays
within 2 % of the step from the setpoint (Ogata 2010, "Modern Control Engineering", section 5.3).

Roughness is the residual standard error of a LOESS curve of span 1 and degree 2 through a quantity
over time (Cleveland and Devlin 1988), as Micklisch et al. (2021) rate attitude controllers: it
measures deviations from one smooth curve. It depends on the units and on the length of the flight,
so only flights of one scenario can be compared by it. A position is relative to its setpoint, whose
own motion is no roughness. That of the attitude includes the turns that a moving setpoint requires.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from jaxtyping import Bool, Float64
from typing_extensions import override

from kittiwake.analysis.saturation import COMMAND, at_limits
from kittiwake.analysis.table import POSITION_WORLD_M, SETPOINT_WORLD_M, STATE_COLUMNS, Table
from kittiwake.core.errors import MissingExtraError
from kittiwake.core.extras import import_optional

RISE = (0.1, 0.9)
SETTLED = 0.02
# shorter steps have no metrics
LEAST_STEP_M = 1e-6
# smaller changes of a command, in its SI unit, are rounding
LEAST_CHANGE = 1e-9
LOESS, EXTRA = "skmisc.loess", "statistics"
LOESS_SPAN, LOESS_DEGREE, LOESS_POINTS = 1.0, 2, 1000
LEAST_POINTS = 20
QUANTITIES = {"x": "m", "y": "m", "z": "m", "roll": "deg", "pitch": "deg", "yaw": "deg"}

Series = Float64[np.ndarray, " rows"]
Points = Float64[np.ndarray, "rows 3"]


@dataclass(frozen=True)
class ResponseMetrics:
    """Metrics of one vehicle's flight; None for those that do not apply.

    Attributes:
        rise_time_s: the time from 10 % to 90 % of the step.
        settling_time_s: the time until the vehicle stays within 2 % of the step.
        overshoot_percent: the distance beyond the setpoint, as a share of the step.
        tracking_rms_m: the RMS distance to the setpoint.
        effort_percent: the RMS deviation of commands from their means, as a share of their ranges,
            or of their largest spans if they have no range. Constant commands do not count.
        saturated_percent: the share of time with any command at a bound; constant commands count
            only if there are no others.
        roughness: the roughness by quantity, in meters and degrees.
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
    """Flight of one vehicle with one of the compared controllers.

    ``reason`` is that of a flight that ended early.
    """

    controllers: str
    vehicle: str
    seed: int
    status: str
    response: ResponseMetrics
    table: Table
    reason: str | None = None

    @override
    def __repr__(self) -> str:
        return (
            f"<Trial: {self.controllers} flies '{self.vehicle}', seed {self.seed}, {self.status}>"
        )


def response(
    table: Table,
    bounds: Mapping[str, tuple[float, float]],
    spans: Mapping[str, float] | None = None,
) -> ResponseMetrics:
    """Return the response metrics of a vehicle.

    Args:
        table: the log of its flight.
        bounds: the bounds of its actuator command, by column.
        spans: the spans in all compared flights, from ``command_spans``; its own if None.
    """
    flown = _flown(table)
    time_s, position_m = flown.part(("time_s",))[:, 0], flown.part(POSITION_WORLD_M)
    setpoint_m = flown.part(SETPOINT_WORLD_M)
    has_setpoint = bool(np.isfinite(setpoint_m).all()) and len(setpoint_m) > 0
    step = _step(time_s, position_m, setpoint_m) if has_setpoint else (None, None, None)
    changing = _changing(flown, bounds)
    widths = _widths(bounds, command_spans([table], bounds) if spans is None else spans)
    return ResponseMetrics(
        *step,
        tracking_rms_m=_rms(setpoint_m - position_m) if has_setpoint else None,
        effort_percent=_effort(flown, changing, widths),
        saturated_percent=_saturated(flown, changing, bounds),
        roughness=_roughness(
            time_s,
            position_m - setpoint_m if has_setpoint else position_m,
            flown.roll_pitch_yaw_deg,
        ),
    )


def command_spans(tables: Sequence[Table], columns: Iterable[str]) -> dict[str, float]:
    """Return the range of each command's values, in the flight where it is largest."""
    flights = [_flown(table) for table in tables]
    return {
        column: max(
            (float(np.ptp(_command(t, column))) for t in flights if len(t.values)), default=0.0
        )
        for column in columns
    }


def _flown(table: Table) -> Table:
    """Return the rows in which the vehicle's state is finite."""
    known = np.isfinite(table.part(STATE_COLUMNS)).all(axis=1)
    return Table(table.columns, table.values[known])


def _rms(vectors: Points) -> float:
    return float(np.sqrt((vectors**2).sum(axis=1).mean()))


def _step(
    time_s: Series, position_m: Points, setpoint_m: Points
) -> tuple[float | None, float | None, float | None]:
    """Return rise time, settling time and overshoot of a flight to a constant setpoint."""
    step = setpoint_m[0] - position_m[0]
    length = float(np.linalg.norm(step))
    if np.ptp(setpoint_m, axis=0).max() > 0.0 or length < LEAST_STEP_M:
        return None, None, None
    progress = (position_m - position_m[0]) @ step / length**2
    begins, ends = (_first(time_s, progress >= share) for share in RISE)
    rise_s = None if begins is None or ends is None else ends - begins
    outside = np.linalg.norm(position_m - setpoint_m, axis=1) > SETTLED * length
    settling_s = None if outside[-1] else _after(time_s, outside)
    return rise_s, settling_s, 100.0 * max(float(progress.max()) - 1.0, 0.0)


def _first(time_s: Series, holds: Bool[np.ndarray, " rows"]) -> float | None:
    return float(time_s[holds.argmax()]) if holds.any() else None


def _after(time_s: Series, outside: Bool[np.ndarray, " rows"]) -> float:
    """Return the time from the start to the first sample after the last one outside."""
    last = np.flatnonzero(outside)
    return float(time_s[last[-1] + 1] - time_s[0]) if last.size else 0.0


def _command(table: Table, column: str) -> Series:
    return table.part((f"{COMMAND}{column}",))[:, 0]


def _changing(table: Table, columns: Iterable[str]) -> list[str]:
    """Return the commands that are not constant."""
    return [name for name in columns if command_spans([table], [name])[name] > LEAST_CHANGE]


def _widths(
    bounds: Mapping[str, tuple[float, float]], spans: Mapping[str, float]
) -> dict[str, float]:
    """Return the scale of each command: its range, or the largest span if it has none."""
    return {
        column: high - low if high - low < inf else spans[column]
        for column, (low, high) in bounds.items()
    }


def _effort(table: Table, changing: Sequence[str], widths: Mapping[str, float]) -> float | None:
    if not widths or not len(table.values):
        return None
    variances = [float(np.var(_command(table, column) / widths[column])) for column in changing]
    return 100.0 * float(np.sqrt(np.mean(variances))) if variances else 0.0


def _saturated(
    table: Table, changing: Sequence[str], bounds: Mapping[str, tuple[float, float]]
) -> float | None:
    ranges = {column: (low, high) for column, (low, high) in bounds.items() if high - low < inf}
    if not ranges or not len(table.values):
        return None
    counted = [column for column in ranges if column in changing] or list(ranges)
    low, high = np.array([ranges[column] for column in counted]).T
    values = np.column_stack([_command(table, column) for column in counted])
    return 100.0 * float(at_limits(values, low, high).any(axis=1).mean())


def _roughness(time_s: Series, position_m: Points, angles_deg: Points) -> dict[str, float]:
    series = np.column_stack([position_m, np.unwrap(angles_deg, axis=0, period=360.0)])
    if len(time_s) < LEAST_POINTS or missing_roughness() is not None:
        return {}
    return {
        name: loess_error(time_s, values) for name, values in zip(QUANTITIES, series.T, strict=True)
    }


def missing_roughness() -> str | None:
    """Return the warning that flights have no roughness without the extra ``statistics``."""
    try:
        import_optional(LOESS, EXTRA)
    except MissingExtraError as error:
        return f"the roughness is left out, as {error}"
    return None


def loess_error(time_s: Series, values: Series) -> float:
    """Return the residual standard error of a LOESS curve through values over time.

    Raises:
        MissingExtraError: without scikit-misc.
    """
    library = import_optional(LOESS, EXTRA)
    # the curve is smooth, so that more points would only take time
    thin = slice(None, None, max(1, -(-len(time_s) // LOESS_POINTS)))
    curve = library.loess(time_s[thin], values[thin], span=LOESS_SPAN, degree=LOESS_DEGREE)
    curve.fit()
    return float(curve.outputs.residual_scale)
