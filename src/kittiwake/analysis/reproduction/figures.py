"""Published figures, drawn again from our flights, with published points beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np
from jaxtyping import Bool
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kittiwake.analysis.log import Log
from kittiwake.analysis.plots.style import (
    ALARM,
    GRAY,
    HALO,
    HUES,
    INK,
    PALE,
    REPORT,
    Looks,
    PageFigure,
    PlotStyle,
)
from kittiwake.analysis.reproduction.publication import (
    FigureLine,
    FigurePanel,
    FigureTable,
    PublishedItem,
)
from kittiwake.analysis.reproduction.quantities import Series, quantity
from kittiwake.analysis.reproduction.reference_tables import reference_column
from kittiwake.analysis.reproduction.verdict import JudgedNumber
from kittiwake.analysis.table import PHASE

# as wide as the text of a page
NARROW = replace(REPORT, width_in=9.0)
TIME = "time_s"
ROW_IN, SEQUENCE_IN, MAP_IN, BAR_IN = 2.0, 4.0, 4.5, 0.35
# points of a line that are drawn
MAX_POINTS = 2000
# largest ratio of values of the same unit that bars show on a linear scale
LARGEST_RATIO = 20.0
# share of the axis from which on labels stand to the left of their points
RIGHT_SHARE = 0.85
# colors of a task's phases in order, behind the lines
SHADES = ("#FFFFFF", "#E3EEF6", "#FBE3D3", "#DFF1E8")


def line(
    log: Log,
    over: str,
    name: str,
    vehicle: str | None,
    begin_s: float = -np.inf,
    end_s: float = np.inf,
) -> tuple[Series, Series]:
    """Return the points of a line of a panel."""
    times_s, values = quantity(log, name, vehicle)
    at = times_s if over == TIME else quantity(log, over, vehicle)[1]
    shown = _shown(times_s, begin_s, end_s)
    return at[shown], values[shown]


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
    style: PlotStyle = NARROW,
) -> PageFigure:
    """Draw the figure of an item from the flights by name, or bars of its numbers."""
    figure = item.figure
    assert figure is not None, "items without a figure are not drawn"
    with style.context():
        if figure.bars:
            page = PageFigure(style, 1.2 + BAR_IN * len(numbers))
            _draw_bars(page.subplots(), numbers)
        else:
            page = _draw_panels(figure.panels, logs, style)
        page.suptitle(f"{item.place}: {item.title}", x=0.01, ha="left")
        page.tight_layout()
    return page


def _draw_panels(
    panels: Sequence[FigurePanel], logs: Mapping[str, Log], style: PlotStyle
) -> PageFigure:
    """Draw panels below each other; two maps next to each other stand side by side."""
    rows: list[list[FigurePanel]] = []
    for panel in panels:
        beside = rows and _is_map(panel) and len(rows[-1]) == 1 and _is_map(rows[-1][0])
        if beside:
            rows[-1].append(panel)
        else:
            rows.append([panel])
    heights = [_height_in(row[0]) for row in rows]
    page = PageFigure(style, 0.6 + sum(heights))
    grid = page.add_gridspec(len(rows), 2, height_ratios=heights)
    for number, row in enumerate(rows):
        for column, panel in enumerate(row):
            place = grid[number, column] if len(row) == 2 else grid[number, :]
            _draw_panel(page.add_subplot(place), panel, logs, aside=len(row) == 1)
    return page


def _is_map(panel: FigurePanel) -> bool:
    return panel.over != TIME and not panel.instants_s


def _height_in(panel: FigurePanel) -> float:
    if panel.instants_s:
        return SEQUENCE_IN
    return MAP_IN if _is_map(panel) else ROW_IN


def _draw_panel(ax: Axes, panel: FigurePanel, logs: Mapping[str, Log], *, aside: bool) -> None:
    """Draw a panel, with its legend aside or below."""
    if panel.phases:
        _shade_phases(ax, panel, logs)
    for own, hue in zip(panel.lines, cycle(HUES), strict=False):
        at, values = line(
            logs[own.flight], panel.over, own.quantity, own.vehicle, panel.begin_s, panel.end_s
        )
        thin = slice(None, None, max(1, len(at) // MAX_POINTS))
        looks: Looks = {"linestyle": ":", "linewidth": 1.8} if own.dotted else {}
        if panel.instants_s:
            looks = {"linewidth": 1.0, "alpha": 0.7}
            _draw_bodies(ax, panel, own, logs[own.flight], hue)
        ax.plot(at[thin], values[thin], color=hue, label=own.label or own.flight, **looks)
    for table in panel.tables:
        points = table_points(table)
        ax.plot(*points, "x", color=INK, markersize=4, label=table.label, zorder=5)
    ax.set(ylabel=panel.label, xlabel=panel.over_label)
    if panel.over != TIME and panel.equal_axes:
        ax.set_aspect("equal", adjustable="box", anchor="W" if aside else "C")
    else:
        ax.margins(x=0.01)
    _draw_marks(ax, panel)
    if aside:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))
    else:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)


def _draw_marks(ax: Axes, panel: FigurePanel) -> None:
    for number, mark in enumerate(panel.marks):
        label = "published" if number == 0 else None
        x, y = mark.at
        if y is None:
            ax.axvline(x, color=INK, linestyle="--", linewidth=0.9, label=label, zorder=1.5)
            place, coordinates = (x, 0.9), ("data", "axes fraction")
        else:
            ax.plot(x, y, "x", color=INK, markersize=7, linestyle="", label=label, zorder=5)
            place, coordinates = (x, y), "data"
        left, right = ax.get_xlim()
        side = -1 if x > left + RIGHT_SHARE * (right - left) else 1
        ax.annotate(
            mark.label,
            place,
            (5 * side, 4),
            xycoords=coordinates,
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            color=GRAY,
            path_effects=HALO,
            zorder=6,
        )


def _shade_phases(ax: Axes, panel: FigurePanel, logs: Mapping[str, Log]) -> None:
    """Shade the phases of the first line's vehicle, each with an entry in the legend."""
    first = panel.lines[0]
    times_s, phases = quantity(logs[first.flight], PHASE, first.vehicle)
    shown = _shown(times_s, panel.begin_s, panel.end_s)
    times_s, phases = times_s[shown], phases[shown].astype(int)
    begins = np.flatnonzero(np.diff(phases, prepend=-1))
    named: set[int] = set()
    for begin, end in zip(begins, [*begins[1:], len(times_s) - 1], strict=True):
        phase = int(phases[begin])
        label = None if phase in named else panel.phases[phase]
        named.add(phase)
        shade = SHADES[phase % len(SHADES)]
        span = (float(times_s[begin]), float(times_s[end]))
        ax.axvspan(*span, facecolor=shade, edgecolor=PALE, linewidth=0.5, label=label, zorder=0.5)


def _draw_bodies(ax: Axes, panel: FigurePanel, own: FigureLine, log: Log, hue: str) -> None:
    """Draw a vehicle in side view at the instants, the later the stronger, with their times."""
    if own.body_m is None:
        return
    times_s, heights = quantity(log, own.quantity, own.vehicle)
    places = quantity(log, panel.over, own.vehicle)[1]
    pitches = quantity(log, "pitch_deg", own.vehicle)[1]
    length, bottom, top = own.body_m
    for number, instant_s in enumerate(panel.instants_s):
        row = min(int(np.searchsorted(times_s, instant_s)), len(times_s) - 1)
        x, z = places[row], heights[row]
        strength = 0.25 + 0.6 * (number + 1) / len(panel.instants_s)
        ax.add_patch(
            Rectangle(
                (x - length / 2.0, z + bottom),
                length,
                top - bottom,
                angle=-pitches[row],
                rotation_point=(x, z),
                facecolor=hue,
                alpha=strength,
                zorder=3.0,
            )
        )
        if own is panel.lines[-1]:
            ax.annotate(
                f"{instant_s:g} s",
                (x, z + top),
                (0, 4),
                textcoords="offset points",
                ha="center",
                color=GRAY,
            )


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
    for place, value in zip([*(places + 0.2), *(places - 0.2)], [*published, *ours], strict=True):
        ax.annotate(f"{value:.3g}", (value, place), (4, 0), textcoords="offset points", va="center")
    ax.margins(x=0.12)
    ax.set_yticks(places, [own.number.name for own in shown])
    units = {own.number.unit for own in shown}
    ax.set_xlabel(", ".join(sorted(filter(None, units))) or "value")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def _shown(times_s: Series, begin_s: float, end_s: float) -> Bool[np.ndarray, " rows"]:
    return (begin_s <= times_s) & (times_s <= end_s)
