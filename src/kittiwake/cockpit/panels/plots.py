"""Panel of plots: signals of the selected vehicle over the last seconds."""

import numpy as np
import viser
from viser import uplot

from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.scene.scene_state import SceneState

# initially plotted columns, if logged
INITIAL = (("x_m", "y_m", "z_m"), ("vx_mps", "vy_mps", "vz_mps"))
COLORS = ("#3b7dd8", "#d8603b", "#3ba55d")
SPAN_S = 20.0
NO_SIGNAL = "none"
HEIGHT_PX = 180
MAX_POINTS = 600


class PlotsPanel:
    """Two plots of three signals each, selectable from all log columns."""

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._folder: viser.GuiFolderHandle | None = None
        self._plots: list[_Plot] = []
        context.build(self._build)

    def update(self, scene_state: SceneState) -> None:
        """Redraw the plots from the history."""
        del scene_state
        for plot in self._plots:
            plot.draw()

    def _build(self) -> None:
        if self._folder is not None:
            self._folder.remove()
        self._folder = self._context.gui.add_folder(f"Signals of {self._context.selected}")
        with self._folder:
            self._plots = [_Plot(self._context, names) for names in INITIAL]


class _Plot:
    def __init__(self, context: PanelContext, names: tuple[str, ...]) -> None:
        self._context = context
        gui = context.gui
        columns = [name for name in context.logged_columns if name != "time_s"]
        self._choices = [
            gui.add_dropdown(
                f"signal {index + 1}",
                (NO_SIGNAL, *columns),
                initial_value=name if name in columns else NO_SIGNAL,
            )
            for index, name in enumerate(names)
        ]
        self._names: tuple[str, ...] = ()
        self._plot = gui.add_uplot(
            (np.zeros(1), *(np.zeros(1) for _ in names)),
            ({}, *({"stroke": color} for color in COLORS)),
            scales={"x": uplot.Scale(time=False)},
            height=HEIGHT_PX,
        )

    def draw(self) -> None:
        """Redraw the selected signals."""
        names = tuple(choice.value for choice in self._choices)
        if names != self._names:
            self._names = names
            self._plot.series = (
                uplot.Series(label="time [s]"),
                *(
                    uplot.Series(label=name, stroke=color, show=name != NO_SIGNAL)
                    for name, color in zip(names, COLORS, strict=True)
                ),
            )
        columns = [name for name in names if name != NO_SIGNAL]
        rows = self._context.source.history(self._context.selected, columns, SPAN_S)
        if len(rows) < 2:
            return
        rows = rows[:: 1 + len(rows) // MAX_POINTS]
        values = {name: rows[:, 1 + index] for index, name in enumerate(columns)}
        blank = np.full(len(rows), np.nan)
        self._plot.data = (rows[:, 0], *(values.get(name, blank) for name in names))
