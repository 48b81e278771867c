"""Published figures, drawn again from our flights, with published points beside them."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.style import (
    ALARM,
    GRAY,
    HUES,
    INK,
    REPORT,
    PageFigure,
    PlotStyle,
)
from kittiwake.analysis.reproduction.publication import FigurePanel, FigureTable, PublishedItem
from kittiwake.analysis.reproduction.quantities import Series, quantity
from kittiwake.analysis.reproduction.reference_tables import reference_column
from kittiwake.analysis.reproduction.verdict import JudgedNumber

TIME = "time_s"
ROW_IN, MAP_IN, BAR_IN = 2.0, 4.5, 0.35
# points of a line that are drawn
MAX_POINTS = 2000
# largest ratio of values of the same unit that bars show on a linear scale
LARGEST_RATIO = 20.0


def line(log: Log, over: str, name: str, vehicle: str | None) -> tuple[Series, Series]:
    """Return the points of a line of a panel."""
    times_s, values = quantity(log, name, vehicle)
    return (times_s if over == TIME else quantity(log, over, vehicle)[1]), values


def table_points(table: FigureTable) -> tuple[Series, Series]:
    """Return the published points of a panel that are in a reference table."""
    values = reference_column(table.table, table.column)
    at = reference_column(table.table, table.over) if table.over else np.arange(float(len(values)))
    rows = slice(None, None, table.every)
    return table.scale[0] * at[rows], table.scale[1] * values[rows]


def draw_figure(
    item: PublishedItem,
    logs: Mapping[str, Log],
    numbers: Sequence[JudgedNumber],
    style: PlotStyle = REPORT,
) -> PageFigure:
    """Draw the figure of an item from the flights by name, or bars of its numbers."""
    figure = item.figure
    assert figure is not None, "items without a figure are not drawn"
    with style.context():
        if figure.bars:
            page = PageFigure(style, 1.2 + BAR_IN * len(numbers))
            _draw_bars(page.subplots(), numbers)
        else:
            heights = [ROW_IN if panel.over == TIME else MAP_IN for panel in figure.panels]
            page = PageFigure(style, 0.6 + sum(heights))
            axes = page.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
            for ax, panel in zip(axes, figure.panels, strict=True):
                _draw_panel(ax, panel, logs)
        page.suptitle(f"{item.place}: {item.title}", x=0.01, ha="left")
        page.tight_layout()
    return page


def _draw_panel(ax: Axes, panel: FigurePanel, logs: Mapping[str, Log]) -> None:
    hues = iter(HUES * (1 + len(panel.lines) // len(HUES)))
    for own in panel.lines:
        at, values = line(logs[own.flight], panel.over, own.quantity, own.vehicle)
        thin = slice(None, None, max(1, len(at) // MAX_POINTS))
        ax.plot(at[thin], values[thin], color=next(hues), label=own.label or own.flight)
    for table in panel.tables:
        points = table_points(table)
        ax.plot(*points, "x", color=INK, markersize=4, label=table.label, zorder=5)
    for number, mark in enumerate(panel.marks):
        label = "published" if number == 0 else None
        ax.plot(*mark.at, "x", color=INK, markersize=7, label=label, zorder=5)
        if mark.label:
            ax.annotate(mark.label, mark.at, (5, 4), textcoords="offset points", color=GRAY)
    ax.set(ylabel=panel.label, xlabel=panel.over_label)
    if panel.over != TIME and panel.equal_axes:
        ax.set_aspect("equal", adjustable="datalim")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _draw_bars(ax: Axes, numbers: Sequence[JudgedNumber]) -> None:
    shown = [own for own in numbers if own.published is not None]
    places = np.arange(len(shown))[::-1]
    ours = np.array([own.ours.value for own in shown])
    published = np.array([own.published or 0.0 for own in shown])
    ax.barh(places + 0.2, published, 0.38, color=GRAY, label="published")
    ax.barh(places - 0.2, ours, 0.38, color=HUES[0], label="ours")
    spans = np.array(
        [[own.ours.value - own.ours.low, own.ours.high - own.ours.value] for own in shown]
    )
    ax.errorbar(ours, places - 0.2, xerr=np.nan_to_num(spans).clip(0.0).T, fmt="none", ecolor=ALARM)
    values = np.abs(np.concatenate([ours, published]))
    if values.max() > LARGEST_RATIO * max(values.min(), 1e-300):
        ax.set_xscale("symlog", linthresh=max(float(values[values > 0.0].min()), 1e-12))
    ax.set_yticks(places, [own.number.name for own in shown])
    units = {own.number.unit for own in shown}
    ax.set_xlabel(", ".join(sorted(filter(None, units))) or "value")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
