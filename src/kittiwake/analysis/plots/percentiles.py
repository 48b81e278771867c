"""Percentiles over time of a quantity of many vehicles, in place of their curves."""

from collections.abc import Sequence

import numpy as np

from kittiwake.analysis.plots.panels import PlotLine
from kittiwake.analysis.plots.style import EXTREMES, HUES, MOST

TIMES = 400
# share of the vehicles up to which there are percentiles
LEAST_SHARE = 0.1
MEDIAN, BAND = 50.0, (5.0, 95.0)
LABELS = ("median", "5 to 95 %", "extremes")


def percentile_lines(lines: Sequence[PlotLine]) -> tuple[PlotLine, ...]:
    """Return the median of some curves with the band of 5 to 95 %, and the band of the extremes.

    They are those of the vehicles that still fly, as long as a tenth of them do.
    """
    lines = [line for line in lines if line.kind == "actual"]
    if not lines:
        return ()
    times = [line.time_s for line in lines]
    time_s = np.linspace(min(own[0] for own in times), max(own[-1] for own in times), TIMES)
    values = np.array(
        [np.interp(time_s, line.time_s, line.values, left=np.nan, right=np.nan) for line in lines]
    )
    shown = np.isfinite(values).mean(axis=0) >= LEAST_SHARE
    levels = np.full((5, TIMES), np.nan)
    if shown.any():
        wanted = (0.0, BAND[0], MEDIAN, BAND[1], 100.0)
        levels[:, shown] = np.nanpercentile(values[:, shown], wanted, axis=0)
    lowest, low, median, high, highest = levels
    color = HUES[0]
    return (
        PlotLine(LABELS[2], time_s, np.full(TIMES, np.nan), color, EXTREMES, (lowest, highest)),
        PlotLine(LABELS[1], time_s, np.full(TIMES, np.nan), color, MOST, (low, high)),
        PlotLine(LABELS[0], time_s, median, color),
    )
