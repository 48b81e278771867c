"""Page of percentiles over time of many runs: height, speed and distance to the setpoint."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float64
from matplotlib.axes import Axes

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.style import HUES, REPORT, PageFigure, PlotStyle
from kittiwake.analysis.table import POSITION_WORLD_M, SETPOINT_WORLD_M, VELOCITY_WORLD_MPS, Table
from kittiwake.core.errors import LogError

PICTURE = "bands"
ROW_IN, NARROW_ROW_IN = 2.3, 1.4
MAX_VEHICLES = 3
TIMES = 400
# of the runs that still fly, where there are percentiles
LEAST_SHARE = 0.1
# outer and inner band in percent, and the line
BANDS, MEDIAN = ((5.0, 95.0), (25.0, 75.0)), 50.0
QUANTITIES = ("height (m)", "speed (m/s)", "distance to the setpoint (m)")


def draw_bands(logs: Iterable[Log], style: PlotStyle = REPORT) -> PageFigure:
    """Draw percentiles over time of the runs' vehicles, of the first three if there are more.

    They are those of the runs that still fly, as long as a tenth of them do, and of a vehicle
    those of the runs that have it.

    Args:
        logs: logs of runs.
        style: size and arrangement.

    Raises:
        LogError: without any log.
    """
    series = [_series(log) for log in logs]
    if not series:
        message = "no run can be flown again; 'kittiwake run DIR --run N' gives the reason"
        raise LogError(message)
    names = [*dict.fromkeys(name for own in series for name in own)][:MAX_VEHICLES]
    end_s = max(time_s[-1] for own in series for time_s, _ in own.values())
    times_s = np.linspace(0.0, end_s, TIMES)
    columns = len(QUANTITIES) if style.wide else 1
    rows = len(names) * len(QUANTITIES) // columns
    with style.context():
        page = PageFigure(style, 0.6 + (ROW_IN if style.wide else NARROW_ROW_IN) * rows)
        axes = page.subplots(rows, columns, squeeze=False, sharex=True)
        places = iter(axes.ravel())
        for name in names:
            runs = [own[name] for own in series if name in own]
            for index, label in enumerate(QUANTITIES):
                values = [_at(times_s, own_s, quantities[:, index]) for own_s, quantities in runs]
                ax = next(places)
                _draw_percentiles(ax, times_s, np.array(values))
                ax.set(title=f"{name}: {label}")
        for ax in axes[-1]:
            ax.set(xlabel="time (s)")
        if style.titled:
            words = "5 to 95 % pale, 25 to 75 % dark, median"
            page.suptitle(f"{len(series)} runs: {words}", x=0.01, ha="left")
        page.tight_layout()
    return page


def _series(log: Log) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return times and quantities of a run's first vehicles."""
    return {
        name: (table.part(("time_s",))[:, 0], _quantities(table))
        for name, table in [*log.tables.items()][:MAX_VEHICLES]
    }


def _quantities(table: Table) -> Float64[np.ndarray, "rows 3"]:
    position_m = table.part(POSITION_WORLD_M)
    errors_m = position_m - table.part(SETPOINT_WORLD_M)
    speed_mps = np.linalg.norm(table.part(VELOCITY_WORLD_MPS), axis=1)
    return np.column_stack([position_m[:, 2], speed_mps, np.linalg.norm(errors_m, axis=1)])


def _at(times_s: np.ndarray, own_s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return values at other times; NaN after the end of the run."""
    return np.interp(times_s, own_s, values, right=np.nan)


def _draw_percentiles(ax: Axes, times_s: np.ndarray, values: np.ndarray) -> None:
    known = np.isfinite(values).mean(axis=0) >= LEAST_SHARE
    if not known.any():
        ax.text(0.5, 0.5, "none is logged", ha="center", transform=ax.transAxes)
        return
    for (low, high), alpha in zip(BANDS, (0.25, 0.5), strict=True):
        ends = np.nanpercentile(values[:, known], (low, high), axis=0)
        ax.fill_between(times_s[known], *ends, color=HUES[0], alpha=alpha, linewidth=0.0)
    middle = np.nanpercentile(values[:, known], MEDIAN, axis=0)
    ax.plot(times_s[known], middle, color=HUES[0])
