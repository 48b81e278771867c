"""Page of panels in columns, with title, key and metrics."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.layout_engine import ConstrainedLayoutEngine

from kittiwake.analysis.plots.panels import AbstractPanel
from kittiwake.analysis.plots.style import (
    ALARM,
    GRAY,
    POINTS_PER_INCH,
    ROW_FACTOR,
    PageFigure,
    PlotStyle,
    fitting_columns,
    shortened,
)

TITLE_PT = 15.0
# heights of title, notes and metrics, and of a panel's labels
TITLE_IN, LINE_IN, LABELS_IN = 0.42, 0.22, 0.12
LEFT_IN = 0.1
LEAST_IN = 5.4


@dataclass(frozen=True, eq=False)
class PanelColumn:
    """Panels from top to bottom; those over time share their axis with ``span_s`` as limits."""

    panels: tuple[AbstractPanel, ...]
    width: float = 1.0
    span_s: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class PlotPage:
    """Title, lines of notes, columns of panels, key of marks, and lines of metrics.

    ``scale`` are the colors of many vehicles, with a label; ``alarms`` are the colored notes;
    ``width`` is the share of the width of a wide page; ``in_rows`` aligns the panels of columns.
    """

    title: str
    notes: tuple[str, ...]
    columns: tuple[PanelColumn, ...]
    key: tuple[Artist, ...] = ()
    metrics: tuple[str, ...] = ()
    scale: tuple[ScalarMappable, str] | None = None
    alarms: tuple[str, ...] = ()
    width: float = 1.0
    in_rows: bool = False


def compose(page: PlotPage, style: PlotStyle) -> PageFigure:
    """Draw a page."""
    columns = [column for column in page.columns if column.panels]
    if style.wide:
        style = replace(style, width_in=page.width * style.width_in)
    if not style.wide:
        columns = [_stacked(columns, in_rows=page.in_rows)]
    with style.context():
        columns_of_key = fitting_columns([str(e.get_label()) for e in page.key], style.width_in)
        rows = -(-len(page.key) // columns_of_key)
        key_in = (ROW_FACTOR * rows + 0.6) * style.font_pt / POINTS_PER_INCH if rows else 0.0
        heights_in = [
            sum(panel.height_in(style) + LABELS_IN for panel in column.panels) for column in columns
        ]
        head_in = TITLE_IN + LINE_IN * len(page.notes) if style.titled else 0.0
        foot_in = LINE_IN * len(page.metrics) if style.titled else 0.0
        foot_in += key_in
        body_in = max([*heights_in, LEAST_IN if style.titled else 0.0]) + 0.4
        height_in = head_in + body_in + foot_in
        figure = PageFigure(style, height_in)
        rect = (0.0, foot_in / height_in, 1.0, body_in / height_in)
        layout = ConstrainedLayoutEngine(rect=rect)
        figure.set_layout_engine(layout)
        drawn = _draw_columns(figure, columns, style, in_rows=page.in_rows and style.wide)
        if style.titled:
            _draw_texts(figure, page, height_in)
        _draw_key(figure, page, columns_of_key, foot_in / height_in)
        _draw_scale_of_vehicles(figure, page, drawn)
        # gives the sizes that texts depend on, which may require more room
        layout.execute(figure)
        if any([panel.finish(axes) for panel, axes in drawn]):
            layout.execute(figure)
        _freeze(figure)
    return figure


def _freeze(figure: PageFigure) -> None:
    """Fix the layout, without the last digits, in which the solver is not reproducible."""
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())


def _stacked(columns: Sequence[PanelColumn], *, in_rows: bool) -> PanelColumn:
    """Return one column of all panels, row by row if they are in rows."""
    panels = [column.panels for column in columns]
    together = chain.from_iterable(zip(*panels, strict=True) if in_rows else panels)
    spans = [column.span_s for column in columns if column.span_s is not None]
    return PanelColumn(tuple(together), 1.0, spans[0] if spans else None)


def _draw_columns(
    figure: PageFigure, columns: Sequence[PanelColumn], style: PlotStyle, *, in_rows: bool
) -> list[tuple[AbstractPanel, Axes]]:
    widths = [column.width for column in columns]
    if in_rows:
        heights = [panel.height_in(style) for panel in columns[0].panels]
        grid = figure.add_gridspec(
            len(heights), len(columns), width_ratios=widths, height_ratios=heights
        )
        cells = [[grid[row, i] for row in range(len(heights))] for i in range(len(columns))]
    else:
        outer = figure.add_gridspec(1, len(columns), width_ratios=widths)
        cells = []
        for i, column in enumerate(columns):
            heights = [panel.height_in(style) for panel in column.panels]
            inner = outer[i].subgridspec(len(heights), 1, height_ratios=heights)
            cells.append([inner[row] for row in range(len(heights))])
    drawn: list[tuple[AbstractPanel, Axes]] = []
    for column, places in zip(columns, cells, strict=True):
        own: list[tuple[AbstractPanel, Axes]] = []
        for panel, place in zip(column.panels, places, strict=True):
            axes = figure.add_subplot(place, projection=panel.projection)
            panel.draw(axes, style)
            own.append((panel, axes))
        _share_time(column, [axes for panel, axes in own if panel.over_time])
        drawn += own
    return drawn


def _share_time(column: PanelColumn, over_time: Sequence[Axes]) -> None:
    for axes in over_time:
        if axes is not over_time[0]:
            axes.sharex(over_time[0])
        axes.tick_params(labelbottom=axes is over_time[-1])
    if over_time:
        over_time[-1].set_xlabel("time (s)")
        if column.span_s is not None:
            over_time[0].set_xlim(*column.span_s)


def _draw_texts(figure: PageFigure, page: PlotPage, height_in: float) -> None:
    left, width_pt = LEFT_IN / figure.plot_style.width_in, figure.plot_style.width_in * 72.0
    figure.text(
        left,
        1.0 - 0.32 / height_in,
        shortened(page.title, 90),
        fontsize=TITLE_PT,
        fontweight="bold",
        parse_math=False,
    )
    # letters are narrower than half of their size on average
    fitting = int(width_pt / (0.53 * figure.plot_style.font_pt))
    for row, note in enumerate(page.notes):
        color = ALARM if note in page.alarms else GRAY
        y = 1.0 - (TITLE_IN + LINE_IN * row + 0.1) / height_in
        figure.text(left, y, shortened(note, fitting), color=color, parse_math=False)
    for row, line in enumerate(reversed(page.metrics)):
        y = (LINE_IN * row + 0.06) / height_in
        figure.text(left, y, shortened(line, fitting), parse_math=False)


def _draw_key(figure: PageFigure, page: PlotPage, columns: int, top: float) -> None:
    """Draw the key between the panels and the metrics."""
    if not page.key:
        return
    legend = figure.legend(
        handles=list(page.key),
        loc="upper left",
        bbox_to_anchor=(LEFT_IN / figure.plot_style.width_in, top),
        ncols=columns,
    )
    legend.set_in_layout(False)
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_scale_of_vehicles(
    figure: PageFigure, page: PlotPage, drawn: Sequence[tuple[AbstractPanel, Axes]]
) -> None:
    """Draw the scale of many vehicles beside their map."""
    maps = [axes for panel, axes in drawn if not panel.over_time and panel.projection is None]
    if page.scale is None or not maps:
        return
    colors, label = page.scale
    bar = figure.colorbar(colors, ax=maps, pad=0.02, fraction=0.04, aspect=30)
    bar.set_label(label)
    bar.ax.invert_yaxis()
    bar.ax.grid(visible=False)
    bar.outline.set_visible(False)
