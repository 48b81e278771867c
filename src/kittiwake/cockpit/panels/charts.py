"""Charts of the log in a strip below the scene."""

from collections.abc import Callable
from math import inf, isnan, nan
from time import monotonic
from typing import Protocol

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
    rounded,
    thinned,
    to_csv,
    to_png,
)
from kittiwake.cockpit.chart_quantities import (
    PRESETS,
    chart_quantities,
    columns_read,
    preset,
    trace_of,
)
from kittiwake.cockpit.page_styles import CHARTS_STYLE, STRIP_PX
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.replay import Replay
from kittiwake.scene.scene_state import SceneState

# initial height of a chart, and width of the scene below which the strip is closed at first
HEIGHT_PX, NARROW_PX = 120, 500.0
MAX_CHARTS = 8
# updates per second, and bytes per second that they may need together
RATE_HZ, BYTES_PER_S = 2.0, 28_000
# of a number in a browser
NUMBER_BYTES = 8
LEAST_POINTS, MOST_POINTS = 30, 400
SPANS = {"10 s": 10.0, "20 s": 20.0, "60 s": 60.0}
INITIAL_SPAN, WHOLE = "20 s", "whole log"
ADD, REMOVE, OWN, SELECTED = "add a chart", "remove a chart", "own charts", "selected vehicle"
CSV, PNG = "CSV", "PNG"
WIDTH_PX = {"actual": 1.5, "setpoint": 1.5, ESTIMATED: 1.0}
DASHES = {"setpoint": (2.0, 3.0), ESTIMATED: (7.0, 3.0)}
MARK, MARK_SCALE = "time", "mark"


class _Removable(Protocol):
    def remove(self) -> None: ...


class ChartsPanel:
    """Charts that each show a quantity or a column of a vehicle.

    Args:
        context: data shared by the panels.
        on_change: called when other vehicles are charted.
    """

    def __init__(self, context: PanelContext, on_change: Callable[[], None]) -> None:
        self._context, self._on_change = context, on_change
        # vehicle and title of each chart; no vehicle is the selected one
        self._choices: list[tuple[str | None, str]] = []
        self._charts: list[_Chart] = []
        self._controls: list[_Removable] = []
        self._preset, self._drawn_s = "Position", -inf
        replayed = isinstance(context.source, Replay)
        self._span, self._owner = (WHOLE if replayed else INITIAL_SPAN), SELECTED
        gui = context.gui
        self._panel = gui.add_panel()
        self._tab = context.tab = self._panel.add_tab("Charts")
        self._panel.float(x=0.0, y=-0.001, width=2.0 * NARROW_PX, height=STRIP_PX)
        for client in context.clients():
            self._fit(client)
        with self._tab:
            context.build(self._build)

    def update(self, scene_state: SceneState) -> None:
        """Draw the charts, at a lower rate than other panels."""
        wall_s = monotonic()
        if wall_s - self._drawn_s < 1.0 / RATE_HZ - 0.02:
            return
        self._drawn_s = wall_s
        numbers = sum(chart.columns for chart in self._charts)
        points = BYTES_PER_S / (RATE_HZ * NUMBER_BYTES * max(numbers, 1))
        points = round(min(max(points, LEAST_POINTS), MOST_POINTS))
        now_s, whole = scene_state.time_s, self._span == WHOLE
        begin_s = max(now_s - SPANS.get(self._span, 0.0), 0.0)
        window = None if whole else (begin_s, begin_s + SPANS[self._span])
        for chart in self._charts:
            trace = self._trace(chart)
            if len(trace.time_s) > 1:
                chart.draw(trace, points, window, now_s if whole else None)

    def _fit(self, client: viser.ClientHandle) -> None:
        """Keep the strip as wide as the scene; a narrow page begins without it."""
        width_px = 0.0

        async def on_update(camera: viser.CameraHandle) -> None:
            nonlocal width_px
            now_px = float(getattr(camera, "image_width", 0.0))
            if now_px == width_px or now_px <= 0.0:
                return
            if now_px < NARROW_PX and width_px == 0.0:
                self._panel.minimize()
            width_px = now_px
            self._panel.set_width(now_px)

        client.camera.on_update(on_update)

    def _vehicle(self, choice: tuple[str | None, str]) -> str:
        return choice[0] or self._context.selected

    def _quantities(self, vehicle: str) -> dict[str, PlotQuantity]:
        return chart_quantities(self._context.logged_columns(vehicle))

    def _build(self) -> None:
        """Create controls and charts of the selected vehicle and of the others that fly."""
        context = self._context
        for thing in (*self._controls, *self._charts):
            thing.remove()
        if self._preset != OWN:
            titles = preset(self._preset, self._quantities(context.selected).values())
            self._choices = [(None, title) for title in titles[:MAX_CHARTS]]
        flying = context.flight.columns
        self._choices = [
            choice
            for choice in self._choices
            if self._vehicle(choice) in flying
            and choice[1] in self._quantities(self._vehicle(choice))
        ]
        self._charts = []
        self._build_controls()
        self._controls.append(context.gui.add_html(CHARTS_STYLE))
        for choice in self._choices:
            vehicle, title = self._vehicle(choice), choice[1]
            quantity = self._quantities(vehicle)[title]
            columns = columns_read(quantity, context.logged_columns(vehicle))
            self._charts.append(_Chart(context.gui, vehicle, title, quantity, columns))
        context.charted = frozenset(vehicle for vehicle, _ in self._choices if vehicle)
        self._drawn_s = -inf

    def _build_controls(self) -> None:
        context, gui = self._context, self._context.gui
        spans = (*SPANS, WHOLE) if isinstance(context.source, Replay) else (*SPANS,)
        owners = (SELECTED, *context.flight.columns)
        self._owner = self._owner if self._owner in owners else SELECTED
        owner = context.selected if self._owner == SELECTED else self._owner
        charts = {self._name(choice): choice for choice in self._choices}

        def dropdown(
            label: str, options: tuple[str, ...], initial: str, action: Callable[[str], None]
        ) -> None:
            control = gui.add_dropdown(label, options, initial_value=initial)
            control.on_update(context.user_action(lambda event: self._act(action, event)))
            self._controls.append(control)

        self._controls = []
        dropdown("Show", (*PRESETS, OWN), self._preset, self._show)
        dropdown("Add", (ADD, *self._quantities(owner)), ADD, self._add)
        dropdown("of", owners, self._owner, self._own)
        dropdown("Remove", (REMOVE, *charts), REMOVE, lambda name: self._remove(charts[name]))
        dropdown("Last", spans, self._span, self._set_span)
        save = gui.add_button_group("Save", (CSV, PNG))
        save.on_click(context.user_action(self._save))
        self._controls.append(save)

    def _name(self, choice: tuple[str | None, str]) -> str:
        return f"{choice[0]}: {choice[1]}" if choice[0] else choice[1]

    def _act(self, action: Callable[[str], None], event: ControlEvent) -> None:
        with self._context.lock, self._tab:
            action(event.target.value)
            self._build()
        self._on_change()

    def _show(self, name: str) -> None:
        self._preset = name

    def _own(self, vehicle: str) -> None:
        self._owner = vehicle

    def _set_span(self, span: str) -> None:
        self._span = span

    def _add(self, title: str) -> None:
        choice = (None if self._owner == SELECTED else self._owner, title)
        if title == ADD or choice in self._choices:
            return
        if len(self._choices) >= MAX_CHARTS:
            self._context.notify("Charts", f"There are {MAX_CHARTS} charts; remove one first.")
            return
        self._preset = OWN
        self._choices.append(choice)

    def _remove(self, choice: tuple[str | None, str]) -> None:
        self._preset = OWN
        self._choices.remove(choice)

    def _trace(self, chart: "_Chart") -> Trace:
        """Return the rows of a chart's vehicle in the selected span."""
        source, context = self._context.source, self._context
        columns = ["time_s", *chart.read]
        if self._span == WHOLE and isinstance(source, Replay):
            places = [context.flight.columns[chart.vehicle].index(one) for one in columns]
            rows = source.playback.tracks[chart.vehicle].values[:, places]
        else:
            rows = source.history(chart.vehicle, chart.read, SPANS.get(self._span, inf))
        return trace_of(chart.vehicle, columns, rows)

    def _save(self, event: ControlEvent) -> None:
        """Send the charts to the browser as a file."""
        with self._context.lock:
            charts = [(chart.vehicle, chart.quantity, self._trace(chart)) for chart in self._charts]
        if not any(len(trace.time_s) for _, _, trace in charts):
            self._context.notify("Charts", "There is nothing to save.")
            return
        name = self._context.flight.scenario.name
        file_format = event.target.value
        content = to_csv(charts) if file_format == CSV else to_png(name, charts)
        file_name = f"{name}-charts.{file_format.lower()}"
        event.client.send_file_download(file_name, content, save_immediately=True)


class _Chart:
    """Chart of one quantity of a vehicle; curves that once appeared stay in its legend."""

    def __init__(
        self,
        gui: viser.GuiApi,
        vehicle: str,
        title: str,
        quantity: PlotQuantity,
        read: list[str],
    ) -> None:
        self.vehicle, self.quantity, self.read = vehicle, quantity, read
        self._keys = [CurveKey(place, "actual") for place in range(len(quantity.parts))]
        self._marked, self._level = False, nan
        self._sent: tuple[np.ndarray, ...] = ()
        empty = np.full(2, np.nan)
        self._plot = gui.add_uplot(
            (np.array([0.0, SPANS[INITIAL_SPAN]]), *(empty for _ in self._keys)),
            self._series(),
            title=f"{title} · {vehicle}",
            scales=_scales(nan),
            axes=(uplot.Axis(), uplot.Axis(space=18, size=52)),
            cursor=uplot.Cursor(
                sync=uplot.Cursor_Sync(key="time"),
                drag=uplot.Cursor_Drag(x=True, y=False, setScale=True),
            ),
            height=HEIGHT_PX,
            padding=(0, 8, 0, 0),
        )

    @property
    def columns(self) -> int:
        """Number of arrays in the browser."""
        return 1 + len(self._keys) + self._marked

    def remove(self) -> None:
        """Remove the chart."""
        self._plot.remove()

    def draw(
        self,
        trace: Trace,
        points: int,
        window_s: tuple[float, float] | None,
        mark_s: float | None,
    ) -> None:
        """Draw rows.

        Args:
            trace: the rows.
            points: number of points that the browser gets.
            window_s: limits of the time axis; those of the rows by default.
            mark_s: time of a vertical mark.
        """
        curves = chart_curves(self.quantity, trace)
        new = [key for key in curves if key not in self._keys]
        if new or self._marked != (mark_s is not None):
            self._keys = sorted([*self._keys, *new], key=lambda key: key.place)
            self._marked = mark_s is not None
            self._plot.series = self._series()
        unknown = np.full(len(trace.time_s), np.nan)
        values = np.stack([curves.get(key, unknown) for key in self._keys], axis=1)
        times_s, values = thinned(trace.time_s, values, points)
        values = rounded(values)
        self._set_level(values)
        if window_s is not None:
            times_s, values = _within(times_s, values, window_s)
        data = (np.round(times_s, 4), *values.T)
        data = data if mark_s is None else _with_mark(data, mark_s)
        if len(data) != len(self._sent) or not all(map(_equal, data, self._sent)):
            self._plot.data = self._sent = data

    def _set_level(self, values: np.ndarray) -> None:
        """Center the axis at values that are all equal, for which uPlot has no good limits."""
        known = values[np.isfinite(values)]
        level = float(known[0]) if known.size and np.ptp(known) == 0.0 else nan
        if level != self._level and not (isnan(level) and isnan(self._level)):
            self._level = level
            self._plot.scales = _scales(level)

    def _series(self) -> tuple[uplot.Series, ...]:
        curves = [
            uplot.Series(
                label=curve_name(self.quantity, key),
                stroke=curve_color(self.quantity, key),
                width=WIDTH_PX[key.kind],
                dash=DASHES.get(key.kind, ()),
                points=uplot.Series_Points(show=False),
            )
            for key in self._keys
        ]
        mark = uplot.Series(label=MARK, stroke=GRAY, scale=MARK_SCALE, width=1.5)
        return uplot.Series(label="t [s]"), *curves, *([mark] if self._marked else [])


def _scales(level: float) -> dict[str, uplot.Scale]:
    """Return the scales of a chart, around a level unless it is NaN."""
    values = uplot.Scale() if isnan(level) else uplot.Scale(range=(level - 1.0, level + 1.0))
    return {
        "x": uplot.Scale(time=False),
        "y": values,
        MARK_SCALE: uplot.Scale(range=(0.0, 1.0)),
    }


def _within(
    times_s: np.ndarray, values: np.ndarray, window_s: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with empty ones at the limits of a window, whose length is constant.

    viser keeps a zoom relative to the data, which would drift with data of growing length.
    """
    empty = np.full((1, values.shape[1]), np.nan)
    begin_s, end_s = window_s
    if times_s[0] > begin_s:
        times_s, values = np.append(begin_s, times_s), np.append(empty, values, axis=0)
    if times_s[-1] < end_s:
        times_s, values = np.append(times_s, end_s), np.append(values, empty, axis=0)
    return times_s, values


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
