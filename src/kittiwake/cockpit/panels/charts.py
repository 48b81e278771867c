"""Charts of the log in a strip below the scene."""

from collections.abc import Callable
from math import inf
from time import monotonic

import viser

from kittiwake.analysis.plots.quantities import PlotQuantity
from kittiwake.analysis.plots.traces import Trace
from kittiwake.cockpit.chart import Chart
from kittiwake.cockpit.chart_data import to_csv, to_png
from kittiwake.cockpit.chart_quantities import (
    PRESETS,
    chart_quantities,
    columns_read,
    preset,
    trace_of,
)
from kittiwake.cockpit.discarded_controls import RemovableControl
from kittiwake.cockpit.page_styles import CHARTS_STYLE, STRIP_PX
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.replay import Replay
from kittiwake.scene.scene_state import SceneState

# width of the scene below which the strip is closed at first
NARROW_PX = 500.0
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
        self._charts: list[Chart] = []
        self._controls: list[RemovableControl] = []
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
        with self._tab:
            for chart in self._charts:
                trace = self._trace(chart)
                if len(trace.time_s) > 1:
                    chart.draw(trace, points, now_s if whole else None)

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
        context.discarded.add(*self._controls)
        for chart in self._charts:
            chart.discard()
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
            self._charts.append(Chart(context, vehicle, title, quantity, columns))
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

    def _trace(self, chart: Chart) -> Trace:
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
