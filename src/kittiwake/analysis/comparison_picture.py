"""Picture of a comparison: flights over time with a band over the seeds, metrics as bars."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float64
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kittiwake.analysis.comparison import SHOWN, Spread, summaries
from kittiwake.analysis.overview import look
from kittiwake.analysis.response import Trial
from kittiwake.analysis.summary import SETPOINT_WORLD_M
from kittiwake.analysis.table import POSITION_WORLD_M, Table

# maximum number of drawn vehicles, as a picture takes seconds
MAX_PICTURES = 6
CURVES = 600
BAND = 0.18
MAX_NAME = 36

# page layout, from the left and from the top
WIDTH_IN, LEAST_HEIGHT_IN = 14.0, 8.5
CURVES_IN, BARS_IN, RIGHT_IN = (0.7, 7.2), 7.6, 13.8
TITLE_IN, LEGEND_IN, LEGEND_ROW_IN, HEAD_IN = 0.15, 0.55, 0.2, 0.45
BOTTOM_IN, BAR_IN, BETWEEN_IN = 0.5, 0.16, 0.55
HANDLE_IN = 0.7

Series = Float64[np.ndarray, " rows"]
Quantity: TypeAlias = Callable[[Table], Series]


def save_pictures(trials: Sequence[Trial], folder: Path) -> list[str]:
    """Write a picture of each of the first vehicles; returns the file names."""
    vehicles = list(dict.fromkeys(trial.vehicle for trial in trials))
    drawn = vehicles[:MAX_PICTURES]
    files = ["comparison.png"] if len(vehicles) == 1 else [f"comparison-{v}.png" for v in drawn]
    with style.context(["default", look.SETTINGS]):
        for vehicle, file in zip(drawn, files, strict=True):
            picture = draw_comparison([trial for trial in trials if trial.vehicle == vehicle])
            look.save(picture, folder / file)
    return files


def draw_comparison(trials: Sequence[Trial]) -> Figure:
    """Draw one vehicle's flights: curves over time at the left, metrics as bars at the right."""
    names = list(dict.fromkeys(trial.controllers for trial in trials))
    colors = dict(zip(names, look.fleet_colors(len(names)), strict=True))
    rows = summaries(trials)
    columns = _legend_columns(names)
    top_in = LEGEND_IN + LEGEND_ROW_IN * -(-len(names) // columns) + HEAD_IN
    bars_in = -(-len(_shown(rows)) // 2) * (BAR_IN * len(names) + BETWEEN_IN)
    height_in = max(LEAST_HEIGHT_IN, top_in + bars_in + BOTTOM_IN)
    figure = look.PageFigure((WIDTH_IN, height_in))
    flights = rows[0]["flights"]
    subject = (
        f"{len(names)} controllers, {flights} flights of each"
        if flights > 1
        else ("1 controller" if len(names) == 1 else f"{len(names)} controllers")
    )
    figure.text(
        CURVES_IN[0] / WIDTH_IN,
        1.0 - TITLE_IN / height_in,
        f"{look.shortened(trials[0].vehicle, 2 * MAX_NAME)}: {subject}",
        va="top",
        size=look.LARGE,
        weight="bold",
        parse_math=False,
    )
    room = {"top": 1.0 - top_in / height_in, "bottom": BOTTOM_IN / height_in}
    _draw_curves(figure, trials, colors, room)
    _draw_legend(figure, columns, 1.0 - LEGEND_IN / height_in)
    _draw_bars(figure, rows, colors, room)
    return figure


def _legend_columns(names: Sequence[str]) -> int:
    """Return the number of legend columns that fit the page."""
    widest_in = max(look.width_in(name, look.NORMAL) for name in names) + HANDLE_IN
    return max(1, min(len(names), int((RIGHT_IN - CURVES_IN[0]) / widest_in)))


def _draw_legend(figure: Figure, columns: int, top: float) -> None:
    legend = figure.legend(
        *figure.axes[0].get_legend_handles_labels(),
        loc="upper left",
        bbox_to_anchor=(CURVES_IN[0] / WIDTH_IN, top),
        ncols=columns,
        borderaxespad=0.0,
        borderpad=0.0,
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_curves(
    figure: Figure, trials: Sequence[Trial], colors: dict[str, str], room: dict[str, float]
) -> None:
    has_setpoint = any(np.isfinite(_errors_m(trial.table)).any() for trial in trials)
    quantities: dict[str, Quantity] = {
        **({"distance to the set point (m)": _errors_m} if has_setpoint else {}),
        "height z (m)": lambda table: table.part(("z_m",))[:, 0],
        "tilt (deg)": _tilts_deg,
        "yaw (deg)": _yaws_deg,
    }
    left, right = (at / WIDTH_IN for at in CURVES_IN)
    grid = figure.add_gridspec(len(quantities), 1, left=left, right=right, hspace=0.35, **room)
    panels = grid.subplots(sharex=True, squeeze=False)[:, 0]
    for axes, (title, quantity) in zip(panels, quantities.items(), strict=True):
        axes.set_title(title, loc="left", size=look.NORMAL)
        for name, color in colors.items():
            flights = [trial.table for trial in trials if trial.controllers == name]
            _draw_band(axes, flights, quantity, name, color)
        look.few_ticks(axes)
    panels[-1].set_xlabel("time (s)")


def _draw_band(
    axes: Axes, flights: Sequence[Table], quantity: Quantity, name: str, color: str
) -> None:
    """Draw the mean of the flights, and a band between the smallest and the largest value."""
    longest = max((table.part(("time_s",))[:, 0] for table in flights), key=len)
    time_s = longest[:: max(1, -(-len(longest) // CURVES))]
    curves = np.stack([_at(time_s, table, quantity(table)) for table in flights])
    known = np.isfinite(curves).any(axis=0)
    axes.plot(time_s[known], np.nanmean(curves[:, known], axis=0), color=color, label=name)
    if len(flights) > 1:
        low, high = np.nanmin(curves[:, known], axis=0), np.nanmax(curves[:, known], axis=0)
        axes.fill_between(time_s[known], low, high, color=color, alpha=BAND, linewidth=0.0)


def _at(time_s: Series, table: Table, values: Series) -> Series:
    """Return values interpolated at these times; NaN after the end of the flight."""
    own = table.part(("time_s",))[:, 0]
    return np.interp(time_s, own, values, right=np.nan)


def _errors_m(table: Table) -> Series:
    return np.linalg.norm(table.part(SETPOINT_WORLD_M) - table.part(POSITION_WORLD_M), axis=1)


def _tilts_deg(table: Table) -> Series:
    _, x, y, _ = table.part(("qw", "qx", "qy", "qz")).T
    return np.degrees(2.0 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0)))


def _yaws_deg(table: Table) -> Series:
    return np.unwrap(table.roll_pitch_yaw_deg[:, 2], period=360.0)


def _shown(rows: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Return the metrics that are not zero in all rows, with their titles."""
    return {
        name: title
        for name, title in SHOWN.items()
        if any(row[name] is not None and row[name].mean > 0.0 for row in rows)
    }


def _draw_bars(
    figure: Figure,
    rows: Sequence[dict[str, Any]],
    colors: dict[str, str],
    room: dict[str, float],
) -> None:
    shown = _shown(rows)
    labels = [look.shortened(row["controllers"], MAX_NAME) for row in rows]
    left_in = BARS_IN + max(look.width_in(label) for label in labels)
    lines = max(1, -(-len(shown) // 2))
    grid = figure.add_gridspec(
        lines,
        2,
        left=left_in / WIDTH_IN,
        right=RIGHT_IN / WIDTH_IN,
        hspace=0.55,
        wspace=0.2,
        **room,
    )
    panels = grid.subplots(squeeze=False)
    for axes, (name, title) in zip(panels.ravel(), shown.items(), strict=False):
        axes.set_title(title, loc="left", size=look.NORMAL)
        _draw_figure(axes, name, rows, colors)
    for axes in panels[:, 0]:
        axes.set_yticks(range(len(labels)), labels, parse_math=False)
    for axes in panels.ravel()[len(shown) :]:
        axes.set_axis_off()


def _draw_figure(
    axes: Axes, name: str, rows: Sequence[dict[str, Any]], colors: dict[str, str]
) -> None:
    """Draw a metric's bars, without the controllers' names."""
    ends: list[float] = []
    words: list[str] = []
    for place, row in enumerate(rows):
        spread: Spread | None = row[name]
        mean, deviation = (0.0, 0.0) if spread is None else (spread.mean, spread.deviation)
        color = colors[row["controllers"]]
        axes.barh(place, mean, xerr=deviation or None, color=color, height=0.7)
        ends.append(mean + deviation)
        words.append("none" if spread is None else spread.in_words(row["flights"]))
        axes.annotate(
            words[-1],
            (ends[-1], place),
            xytext=(4.0, 0.0),
            textcoords="offset points",
            va="center",
            size=look.SMALL,
        )
    axes.grid(visible=False, axis="y")
    look.few_ticks(axes, x=3)
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    _leave_room(axes, max(ends), max(look.width_in(word) for word in words))


def _leave_room(axes: Axes, largest: float, words_in: float) -> None:
    """Set the axis limit so that the label behind the longest bar fits."""
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    width_in = axes.get_position().width * figure.get_figwidth()
    axes.set_xlim(0.0, largest / max(0.25, 1.0 - (words_in + 0.15) / width_in))
