"""Data of charts: thinned curves for a browser, and tables and pictures for files."""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import SHARED_KINDS, PlotLine, TimePanel
from kittiwake.analysis.plots.quantities import PlotQuantity
from kittiwake.analysis.plots.style import ESTIMATED, HUES, REPORT
from kittiwake.analysis.plots.traces import Trace
from kittiwake.cockpit.chart_quantities import title_of

# digits and decimals of shown values; smaller changes are rounding
DIGITS, MAX_DECIMALS = 5, 5

Times = Float64[np.ndarray, " rows"]
Curves = Float64[np.ndarray, "rows curves"]


class CurveKey(NamedTuple):
    """Place of a part in its quantity, and the kind of a curve as in ``CURVES``."""

    place: int
    kind: str


def chart_curves(quantity: PlotQuantity, trace: Trace) -> dict[CurveKey, Times]:
    """Return the values of a quantity's parts, and of their setpoints and estimates if known."""
    kinds = {
        "actual": quantity.actual,
        "setpoint": quantity.setpoint,
        ESTIMATED: quantity.estimate if quantity.estimated else None,
    }
    with np.errstate(over="ignore", invalid="ignore"):
        found = {
            CurveKey(place, kind): values
            for kind, read in kinds.items()
            if read is not None
            for place, values in enumerate(read(trace).T)
            if kind == "actual" or np.isfinite(values).any()
        }
    return dict(sorted(found.items(), key=lambda item: item[0].place))


def curve_name(quantity: PlotQuantity, key: CurveKey) -> str:
    """Return the legend of a curve: "x", or "x setpoint"."""
    kind = "" if key.kind == "actual" else key.kind
    return " ".join(filter(None, (quantity.parts[key.place], kind))) or quantity.label


def curve_color(quantity: PlotQuantity, key: CurveKey) -> str:
    """Return the color of a curve, the same one for a part and its setpoint."""
    return HUES[(quantity.first + key.place) % len(HUES)]


def thinned(times_s: Times, curves: Curves, points: int) -> tuple[Times, Curves]:
    """Return at most about ``points`` rows, with the extreme values of equal intervals.

    The intervals begin at multiples of their length, so that a moving window does not flicker.
    """
    if len(times_s) <= points:
        return times_s, curves
    width_s = (times_s[-1] - times_s[0]) / max(points // 2, 1)
    numbers = np.floor(times_s / width_s) if width_s > 0.0 else np.zeros(len(times_s))
    starts = np.flatnonzero(np.diff(numbers, prepend=-np.inf))
    ends = np.append(starts[1:], len(times_s)) - 1
    with np.errstate(invalid="ignore"):
        low = np.fmin.reduceat(curves, starts, axis=0)
        high = np.fmax.reduceat(curves, starts, axis=0)
        rising = curves[ends] >= curves[starts]
    pairs = np.where(rising, low, high), np.where(rising, high, low)
    times = np.stack([times_s[starts], times_s[ends]], axis=1).ravel()
    return times, np.stack(pairs, axis=1).reshape(len(times), -1)


def rounded(values: Curves) -> Curves:
    """Return values with as many digits as a legend shows."""
    size = np.nanmax(np.abs(values), initial=0.0, where=np.isfinite(values))
    decimals = DIGITS - int(np.ceil(np.log10(size))) if size > 0.0 else DIGITS
    return np.round(values, min(max(decimals, 0), MAX_DECIMALS)) + 0.0


def filled(curves: Curves) -> Curves:
    """Return curves with the nearest earlier known value, or else the first one, for unknown ones.

    uPlot finds no limits of an axis with NaN. A curve without known values is zero.
    """
    rows = np.arange(len(curves))[:, None]
    known = np.isfinite(curves)
    first = np.argmax(known, axis=0)
    last = np.maximum.accumulate(np.where(known, rows, first), axis=0)
    return np.nan_to_num(np.take_along_axis(curves, last, axis=0))


def to_csv(charts: Sequence[tuple[str, PlotQuantity, Trace]]) -> bytes:
    """Return the curves of charts as a table with a column for each, by time.

    Args:
        charts: vehicle, quantity and rows of each chart.
    """
    titles, curves = ["time [s]"], []
    for vehicle, quantity, trace in charts:
        for key, values in chart_curves(quantity, trace).items():
            titles.append(f"{vehicle}: {title_of(quantity)}: {curve_name(quantity, key)}")
            curves.append((trace.time_s, values))
    times = np.unique(np.concatenate([np.empty(0), *(time_s for time_s, _ in curves)]))
    table = np.full((len(times), len(titles)), np.nan)
    table[:, 0] = times
    for place, (time_s, values) in enumerate(curves):
        table[np.searchsorted(times, time_s), 1 + place] = values
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(["" if x != x else f"{x:.10g}" for x in row] for row in table.tolist())
    return text.getvalue().encode()


def to_png(title: str, charts: Sequence[tuple[str, PlotQuantity, Trace]]) -> bytes:
    """Return a picture of charts, one below the other over the same time."""
    vehicles = {vehicle for vehicle, _, _ in charts}
    panels = tuple(
        TimePanel(
            f"{quantity.label}\n({quantity.unit})" if quantity.unit else quantity.label,
            tuple(_plot_lines(quantity, trace)),
            title=vehicle if len(vehicles) > 1 else "",
        )
        for vehicle, quantity, trace in charts
    )
    times = np.concatenate([trace.time_s for _, _, trace in charts])
    column = PanelColumn(panels, 1.0, (float(times.min()), float(times.max())))
    figure = compose(PlotPage(title, (", ".join(sorted(vehicles)),), (column,)), REPORT)
    return figure.png()


def _plot_lines(quantity: PlotQuantity, trace: Trace) -> Iterator[PlotLine]:
    for key, values in chart_curves(quantity, trace).items():
        label = key.kind if key.kind in SHARED_KINDS else quantity.parts[key.place]
        yield PlotLine(label, trace.time_s, values, curve_color(quantity, key), key.kind)
