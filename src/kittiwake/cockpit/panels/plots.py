"""Signals of the picked vehicle over the last seconds."""

import numpy as np
import viser
from viser import uplot

from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.scene.frame import Frame

# what is plotted first, where there is such
FIRST = (("x_m", "y_m", "z_m"), ("vx_mps", "vy_mps", "vz_mps"))
COLORS = ("#3b7dd8", "#d8603b", "#3ba55d")
SPAN_S = 20.0
NOTHING = "none"
HEIGHT_PX = 180
MOST_POINTS = 600


class PlotsPanel:
    """Two plots of three signals each, to choose from all columns of the log."""

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._folder: viser.GuiFolderHandle | None = None
        self._plots: list[_Plot] = []
        context.build(self._build)

    def update(self, frame: Frame) -> None:
        """The signals up to now."""
        del frame
        for plot in self._plots:
            plot.draw()

    def _build(self) -> None:
        if self._folder is not None:
            self._folder.remove()
        self._folder = self._context.gui.add_folder(f"Signals of {self._context.picked}")
        with self._folder:
            self._plots = [_Plot(self._context, names) for names in FIRST]


class _Plot:
    def __init__(self, context: PanelContext, names: tuple[str, ...]) -> None:
        self._context = context
        gui = context.gui
        columns = [name for name in context.logged_columns if name != "time_s"]
        self._choices = [
            gui.add_dropdown(
                f"signal {place + 1}",
                (NOTHING, *columns),
                initial_value=name if name in columns else NOTHING,
            )
            for place, name in enumerate(names)
        ]
        self._names: tuple[str, ...] = ()
        self._plot = gui.add_uplot(
            (np.zeros(1), *(np.zeros(1) for _ in names)),
            ({}, *({"stroke": color} for color in COLORS)),
            scales={"x": uplot.Scale(time=False)},
            height=HEIGHT_PX,
        )

    def draw(self) -> None:
        """What is chosen now."""
        names = tuple(choice.value for choice in self._choices)
        if names != self._names:
            self._names = names
            self._plot.series = (
                uplot.Series(label="time [s]"),
                *(
                    uplot.Series(label=name, stroke=color, show=name != NOTHING)
                    for name, color in zip(names, COLORS, strict=True)
                ),
            )
        wanted = [name for name in names if name != NOTHING]
        rows = self._context.source.history(self._context.picked, wanted, SPAN_S)
        if len(rows) < 2:
            return
        rows = rows[:: 1 + len(rows) // MOST_POINTS]
        told = {name: rows[:, 1 + place] for place, name in enumerate(wanted)}
        blank = np.full(len(rows), np.nan)
        self._plot.data = (rows[:, 0], *(told.get(name, blank) for name in names))
