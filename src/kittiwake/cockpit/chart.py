"""Chart of one quantity of a vehicle over time, drawn by uPlot in the browser."""

import numpy as np
import viser
from viser import uplot

from kittiwake.analysis.plots.quantities import PlotQuantity
from kittiwake.analysis.plots.style import ESTIMATED, GRAY
from kittiwake.analysis.plots.traces import Trace
from kittiwake.cockpit.chart_data import (
    CurveKey,
    chart_curves,
    curve_color,
    curve_name,
    filled,
    rounded,
    thinned,
)
from kittiwake.cockpit.panel_context import PanelContext

HEIGHT_PX = 120
WIDTH_PX = {"actual": 1.5, "setpoint": 1.5, ESTIMATED: 1.0}
DASHES = {"setpoint": (2.0, 3.0), ESTIMATED: (7.0, 3.0)}
MARK, MARK_SCALE = "time", "mark"
ORDER = {"actual": 0, "setpoint": 1, ESTIMATED: 2}


class Chart:
    """Chart whose curves stay in its legend once they have appeared.

    Another set of curves is another plot: viser loses the limits of the time axis if the curves of
    a plot change together with its data.

    Attributes:
        vehicle: name of the vehicle.
        quantity: the quantity.
        read: columns that the quantity is computed from.
    """

    def __init__(
        self,
        context: PanelContext,
        vehicle: str,
        title: str,
        quantity: PlotQuantity,
        read: list[str],
    ) -> None:
        self.vehicle, self.quantity, self.read = vehicle, quantity, read
        self._context, self._title = context, f"{title} · {vehicle}"
        self._keys: list[CurveKey] = []
        # what the plot was built for: its curves, the level of equal values, and a mark
        self._built: tuple[tuple[CurveKey, ...], float | None, bool] | None = None
        self._plot: viser.GuiUplotHandle | None = None
        self._sent: tuple[np.ndarray, ...] = ()

    @property
    def columns(self) -> int:
        """Number of arrays in the browser."""
        return max(len(self._sent), 1 + 2 * len(self.quantity.parts))

    def discard(self) -> None:
        """Remove the chart."""
        if self._plot is not None:
            self._context.discarded.add(self._plot)

    def draw(
        self,
        trace: Trace,
        points: int,
        mark_s: float | None,
    ) -> None:
        """Draw rows, in the container that is active if a new plot is needed.

        Args:
            trace: the rows.
            points: number of points that the browser gets.
            mark_s: time of a vertical mark.
        """
        curves = chart_curves(self.quantity, trace)
        self._keys = sorted({*self._keys, *curves}, key=lambda key: (key.place, ORDER[key.kind]))
        values = np.stack(
            [curves.get(key, curves[CurveKey(key.place, "actual")]) for key in self._keys], axis=1
        )
        times_s, values = thinned(trace.time_s, values, points)
        values = filled(rounded(values))
        level = _level(values)
        data = (np.round(times_s, 4), *values.T)
        data = data if mark_s is None else _with_mark(data, mark_s)
        self._show(data, level, marked=mark_s is not None)

    def _show(self, data: tuple[np.ndarray, ...], level: float | None, *, marked: bool) -> None:
        """Send data to the plot, or to a new one if the plot was built for others."""
        built = (tuple(self._keys), level, marked)
        if self._plot is not None and built == self._built:
            if not all(map(_equal, data, self._sent)):
                self._plot.data = data
        else:
            order = None if self._plot is None else self._plot.order
            self.discard()
            self._plot = self._build(data, level, order, marked=marked)
            self._built = built
        self._sent = data

    def _build(
        self,
        data: tuple[np.ndarray, ...],
        level: float | None,
        order: float | None,
        *,
        marked: bool,
    ) -> viser.GuiUplotHandle:
        # uPlot has no good limits for equal values
        scale = uplot.Scale() if level is None else uplot.Scale(range=(level - 1.3, level + 1.3))
        return self._context.gui.add_uplot(
            data,
            self._series(marked=marked),
            title=self._title,
            scales={
                "x": uplot.Scale(time=False),
                "y": scale,
                MARK_SCALE: uplot.Scale(range=(0.0, 1.0)),
            },
            axes=(uplot.Axis(), uplot.Axis(space=18, size=52)),
            cursor=uplot.Cursor(
                sync=uplot.Cursor_Sync(key="time"),
                drag=uplot.Cursor_Drag(x=True, y=False, setScale=True),
            ),
            height=HEIGHT_PX,
            # labels at the ends of the axes are not cut off
            padding=(8, 14, 0, 0),
            order=order,
        )

    def _series(self, *, marked: bool) -> tuple[uplot.Series, ...]:
        curves = [
            uplot.Series(
                label=curve_name(self.quantity, key),
                stroke=curve_color(self.quantity, key),
                width=WIDTH_PX[key.kind],
                dash=DASHES.get(key.kind, ()),
                points=uplot.Series_Points(show=False),
                # whole pixels would show slow changes as steps
                pxAlign=0,
            )
            for key in self._keys
        ]
        mark = uplot.Series(label=MARK, stroke=GRAY, scale=MARK_SCALE, width=1.5)
        return uplot.Series(label="t [s]"), *curves, *([mark] if marked else [])


def _level(values: np.ndarray) -> float | None:
    """Return the value of curves that are all equal; None for others."""
    return float(values[0, 0]) if np.ptp(values) == 0.0 else None


def _with_mark(data: tuple[np.ndarray, ...], time_s: float) -> tuple[np.ndarray, ...]:
    """Return data with a vertical line: two rows of equal time, from 0 to 1 of its own scale."""
    place = int(np.searchsorted(data[0], time_s))
    rows = [np.insert(data[0], place, [time_s, time_s])]
    for values in data[1:]:
        now = np.interp(time_s, data[0], values)
        rows.append(np.insert(values, place, [now, now]))
    mark = np.full(len(rows[0]), np.nan)
    mark[place : place + 2] = 0.0, 1.0
    return *rows, mark


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return np.array_equal(one, other, equal_nan=True)
