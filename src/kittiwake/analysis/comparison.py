"""What a comparison of controllers leaves behind: a table of figures, and a picture."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kittiwake.analysis.overview import look
from kittiwake.analysis.response import QUANTITIES, Response, Trial
from kittiwake.analysis.summary import SETPOINT_WORLD_M, in_digits
from kittiwake.analysis.table import POSITION_WORLD_M, Table

TABLE_FILE, PICTURE_FILE = "comparison.csv", "comparison.png"
# what people compare, by the column of the table, with what it is called above a bar
SHOWN = {
    "rise_time_s": "rise time (s)",
    "settling_time_s": "settling time (s)",
    "overshoot_percent": "overshoot (%)",
    "tracking_rms_m": "tracking error, RMS (m)",
    "effort_percent": "control effort (% of range)",
    "saturated_percent": "at a bound (% of time)",
    "roughness_m": "roughness, position (m)",
    "roughness_deg": "roughness, attitude (deg)",
}
CURVES = 600
PAGE_IN = (14.0, 8.5)
BAND = 0.18

Series = Float64[np.ndarray, " rows"]


def figures(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """A row for each trial: what flew, how it ended, and the figures; None for what it has not."""
    return [_figures(trial) for trial in trials]


def _figures(trial: Trial) -> dict[str, Any]:
    found = trial.response
    rough = {
        f"roughness_{quantity}_{unit}": found.roughness.get(quantity)
        for quantity, unit in QUANTITIES.items()
    }
    return {
        "controllers": trial.controllers,
        "vehicle": trial.vehicle,
        "seed": trial.seed,
        "status": trial.status,
        "rise_time_s": found.rise_time_s,
        "settling_time_s": found.settling_time_s,
        "overshoot_percent": found.overshoot_percent,
        "tracking_rms_m": found.tracking_rms_m,
        "effort_percent": found.effort_percent,
        "saturated_percent": found.saturated_percent,
        "roughness_m": _mean_of(found, "m"),
        "roughness_deg": _mean_of(found, "deg"),
        **rough,
    }


def _mean_of(found: Response, unit: str) -> float | None:
    """The mean roughness of all quantities in this unit."""
    own = [value for name, value in found.roughness.items() if QUANTITIES[name] == unit]
    return float(np.mean(own)) if own else None


def summaries(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """By controllers and vehicle, mean and deviation of each figure over the seeds.

    A figure that some flights do not have, such as the settling time of one that did not settle, is
    that of the others; ``flights`` and ``completed`` say how many there were.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in figures(trials):
        groups.setdefault((row["controllers"], row["vehicle"]), []).append(row)
    return [
        {
            "controllers": controllers,
            "vehicle": vehicle,
            "flights": len(rows),
            "completed": sum(row["status"] == "completed" for row in rows),
            **{name: _mean_and_deviation([row[name] for row in rows]) for name in SHOWN},
        }
        for (controllers, vehicle), rows in groups.items()
    ]


def _mean_and_deviation(values: Sequence[float | None]) -> tuple[float, float] | None:
    known = [value for value in values if value is not None]
    return (float(np.mean(known)), float(np.std(known))) if known else None


def save_comparison(trials: Sequence[Trial], folder: Path) -> None:
    """Write the table with a row for each flight, and the picture."""
    rows = figures(trials)
    with (folder / TABLE_FILE).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with style.context(["default", look.SETTINGS]):
        draw_comparison(trials).savefig(folder / PICTURE_FILE, dpi=look.DPI, format="png")


def draw_comparison(trials: Sequence[Trial]) -> Figure:
    """Curves over time to the left, with a band over the seeds; the figures as bars to the right.

    Of several vehicles the first one's flights are drawn.
    """
    first = [trial for trial in trials if trial.vehicle == trials[0].vehicle]
    names = list(dict.fromkeys(trial.controllers for trial in first))
    colours = dict(zip(names, look.fleet_colours(len(names)), strict=True))
    figure = Figure(figsize=PAGE_IN, dpi=look.DPI, facecolor="white")
    FigureCanvasAgg(figure)
    seeds = len({trial.seed for trial in first})
    flights = "1 flight" if seeds == 1 else f"{seeds} flights"
    figure.suptitle(
        f"{trials[0].vehicle}: {', '.join(names)}; {flights} of each",
        x=0.02,
        ha="left",
        size=look.LARGE,
        weight="bold",
    )
    halves = figure.subfigures(1, 2, squeeze=False, width_ratios=(1.25, 1.0))
    _draw_curves(halves[0, 0], first, colours)
    _draw_bars(halves[0, 1], summaries(first), colours)
    return figure


def _draw_curves(figure: Any, trials: Sequence[Trial], colours: dict[str, str]) -> None:
    known = [trial for trial in trials if np.isfinite(_errors_m(trial.table)).any()]
    quantities = [
        *([("distance to the set point (m)", _errors_m)] if known else []),
        ("height z (m)", lambda table: table.part(("z_m",))[:, 0]),
        ("tilt (deg)", _tilts_deg),
        ("yaw (deg)", _yaws_deg),
    ]
    panels = figure.subplots(len(quantities), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (title, quantity) in zip(panels, quantities, strict=True):
        axes.set_title(title, loc="left", size=look.NORMAL)
        for name, colour in colours.items():
            flights = [trial.table for trial in trials if trial.controllers == name]
            _draw_band(axes, flights, quantity, name, colour)
        look.few_ticks(axes)
    panels[-1].set_xlabel("time (s)")
    figure.subplots_adjust(left=0.09, right=0.97, top=0.86, bottom=0.07, hspace=0.35)
    handles, labels = panels[0].get_legend_handles_labels()
    legend = figure.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0.07, 0.935), ncols=4, frameon=False
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_band(axes: Axes, flights: Sequence[Table], quantity: Any, name: str, colour: str) -> None:
    """The mean of the flights, and between the least and the largest of them a band."""
    longest = max((table.part(("time_s",))[:, 0] for table in flights), key=len)
    time_s = longest[:: max(1, -(-len(longest) // CURVES))]
    curves = np.stack([_at(time_s, table, quantity(table)) for table in flights])
    known = np.isfinite(curves).any(axis=0)
    axes.plot(time_s[known], np.nanmean(curves[:, known], axis=0), color=colour, label=name)
    if len(flights) > 1:
        low, high = np.nanmin(curves[:, known], axis=0), np.nanmax(curves[:, known], axis=0)
        axes.fill_between(time_s[known], low, high, color=colour, alpha=BAND, linewidth=0.0)


def _at(time_s: Series, table: Table, values: Series) -> Series:
    """Values at these times; none after the flight has ended."""
    own = table.part(("time_s",))[:, 0]
    return np.interp(time_s, own, values, right=np.nan)


def _errors_m(table: Table) -> Series:
    return np.linalg.norm(table.part(SETPOINT_WORLD_M) - table.part(POSITION_WORLD_M), axis=1)


def _tilts_deg(table: Table) -> Series:
    _, x, y, _ = table.part(("qw", "qx", "qy", "qz")).T
    return np.degrees(2.0 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0)))


def _yaws_deg(table: Table) -> Series:
    return np.unwrap(table.roll_pitch_yaw_deg[:, 2], period=360.0)


def _draw_bars(figure: Any, rows: Sequence[dict[str, Any]], colours: dict[str, str]) -> None:
    shown = {
        name: title for name, title in SHOWN.items() if any(any(row[name] or ()) for row in rows)
    }
    panels = figure.subplots(-(-len(shown) // 2), 2, squeeze=False).ravel()
    for axes, (name, title) in zip(panels, shown.items(), strict=False):
        axes.set_title(title, loc="left", size=look.NORMAL)
        _draw_figure(
            axes, [row[name] for row in rows], [row["controllers"] for row in rows], colours
        )
    for axes in panels[len(shown) :]:
        axes.set_axis_off()
    figure.subplots_adjust(left=0.14, right=0.97, top=0.86, bottom=0.07, hspace=0.55, wspace=0.5)


def _draw_figure(
    axes: Axes,
    values: Sequence[tuple[float, float] | None],
    names: Sequence[str],
    colours: dict[str, str],
) -> None:
    for place, (value, name) in enumerate(zip(values, names, strict=True)):
        mean, deviation = value or (0.0, 0.0)
        axes.barh(place, mean, xerr=deviation or None, color=colours[name], height=0.7)
        said = "none" if value is None else f" {in_digits(mean)}"
        axes.annotate(
            said,
            (mean + deviation, place),
            xytext=(3.0, 0.0),
            textcoords="offset points",
            va="center",
            size=look.SMALL,
        )
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.25)
    look.few_ticks(axes, x=3, y=len(names))
    axes.set_yticks(range(len(names)), names, parse_math=False)
