"""Pages of a comparison: flights over time with a band over the seeds, and metrics as bars."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.lines import Line2D

from kittiwake.analysis.comparison_metrics import SHOWN, Spread, summaries
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import Bar, BarPanel, PlotLine, TimePanel
from kittiwake.analysis.plots.style import (
    INK,
    REPORT,
    PageFigure,
    PlotStyle,
    fleet_colors,
    shortened,
)
from kittiwake.analysis.response import Trial
from kittiwake.analysis.table import POSITION_WORLD_M, SETPOINT_WORLD_M, Table

# maximum number of drawn vehicles, as a picture takes seconds
MAX_PICTURES = 6
CURVE_ROWS = 600
MAX_NAME = 36
# smaller spans of a coordinate, relative to the largest one, are no motion
LEAST_SHARE = 1e-3
# time axis of a step response, in settling times
SETTLING_TIMES = 2.0

Series = Float64[np.ndarray, " rows"]
Quantity = Callable[[Table], Series]


def save_pictures(
    trials: Sequence[Trial], folder: Path, *, style: PlotStyle = REPORT, file_format: str = "png"
) -> list[str]:
    """Write a picture of each of the first vehicles; returns the file names."""
    vehicles = list(dict.fromkeys(trial.vehicle for trial in trials))
    drawn = vehicles[:MAX_PICTURES]
    stems = ["comparison"] if len(vehicles) == 1 else [f"comparison-{v}" for v in drawn]
    for vehicle, stem in zip(drawn, stems, strict=True):
        own = [trial for trial in trials if trial.vehicle == vehicle]
        draw_comparison(own, style).save(folder / f"{stem}.{file_format}")
    return [f"{stem}.{file_format}" for stem in stems]


def draw_comparison(trials: Sequence[Trial], style: PlotStyle = REPORT) -> PageFigure:
    """Draw one vehicle's flights: curves over time at the left, metrics as bars at the right."""
    names = list(dict.fromkeys(trial.controllers for trial in trials))
    colors = dict(zip(names, fleet_colors(len(names)), strict=True))
    rows = summaries(trials)
    flights = rows[0]["flights"]
    controllers = "1 controller" if len(names) == 1 else f"{len(names)} controllers"
    note = f"{controllers}, {flights} flights of each: mean, smallest and largest value"
    bars = _bar_panels(rows, colors)
    half = -(-len(bars) // 2)
    return compose(
        PlotPage(
            title=f"{shortened(trials[0].vehicle, 2 * MAX_NAME)}: {controllers}",
            notes=(note,) if flights > 1 else (),
            columns=(
                PanelColumn(tuple(_time_panels(trials, colors)), 1.3, _span_s(trials)),
                PanelColumn(tuple(bars[:half])),
                PanelColumn(tuple(bars[half:]), 0.8),
            ),
            key=tuple(
                Line2D([], [], color=color, linewidth=2.2, label=shortened(name, MAX_NAME))
                for name, color in colors.items()
            ),
        ),
        style,
    )


def _span_s(trials: Sequence[Trial]) -> tuple[float, float]:
    """Return the time axis: of step responses that all settle, only some settling times."""
    times = np.concatenate([trial.table.part(("time_s",))[:, 0] for trial in trials])
    begin_s, end_s = float(times.min()), float(times.max())
    settling_s = [trial.response.settling_time_s for trial in trials]
    known = [time_s for time_s in settling_s if time_s is not None]
    if len(known) == len(trials) and max(known) > 0.0:
        end_s = min(end_s, begin_s + SETTLING_TIMES * max(known))
    return begin_s, end_s


def _time_panels(trials: Sequence[Trial], colors: dict[str, str]) -> list[TimePanel]:
    tables = [trial.table for trial in trials]
    quantities: dict[str, Quantity] = {}
    if any(np.isfinite(_errors_m(table)).any() for table in tables):
        quantities["to setpoint\n(m)"] = _errors_m
    spans = [np.ptp(_known(table.part(POSITION_WORLD_M)), axis=0) for table in tables]
    most = np.max(spans, axis=0)
    for axis, name in enumerate("xyz"):
        if most[axis] > LEAST_SHARE * most.max() or name == "z":
            quantities[f"{name}\n(m)"] = _coordinate(axis)
    quantities |= {"tilt\n(deg)": _tilts_deg, "yaw\n(deg)": _yaws_deg}
    panels = []
    for label, quantity in quantities.items():
        lines = [_mean_line(trials, name, color, quantity) for name, color in colors.items()]
        if label[0] in "xyz" and label[1] == "\n":
            setpoint = tables[0].part((SETPOINT_WORLD_M["xyz".index(label[0])],))[:, 0]
            if np.isfinite(setpoint).any():
                time_s = tables[0].part(("time_s",))[:, 0]
                lines.append(PlotLine("setpoint", time_s, setpoint, INK, "setpoint"))
        panels.append(TimePanel(label, tuple(lines), listed=False))
    return panels


def _known(places: Float64[np.ndarray, "rows 3"]) -> Float64[np.ndarray, "rows 3"]:
    known = places[np.isfinite(places).all(axis=1)]
    return known if len(known) else np.zeros((1, 3))


def _mean_line(trials: Sequence[Trial], name: str, color: str, quantity: Quantity) -> PlotLine:
    """Return the mean of the flights, and a band between the smallest and the largest value."""
    flights = [trial.table for trial in trials if trial.controllers == name]
    longest = max((table.part(("time_s",))[:, 0] for table in flights), key=len)
    time_s = longest[:: max(1, -(-len(longest) // CURVE_ROWS))]
    curves = np.stack([_at(time_s, table, quantity(table)) for table in flights])
    known = np.isfinite(curves).any(axis=0)
    curves = curves[:, known]
    band = (np.nanmin(curves, axis=0), np.nanmax(curves, axis=0)) if len(flights) > 1 else None
    return PlotLine(name, time_s[known], np.nanmean(curves, axis=0), color, band=band)


def _at(time_s: Series, table: Table, values: Series) -> Series:
    """Return values interpolated at these times; NaN after the end of the flight."""
    own = table.part(("time_s",))[:, 0]
    return np.interp(time_s, own, values, right=np.nan)


def _coordinate(axis: int) -> Quantity:
    return lambda table: table.part(POSITION_WORLD_M)[:, axis]


def _errors_m(table: Table) -> Series:
    return np.linalg.norm(table.part(SETPOINT_WORLD_M) - table.part(POSITION_WORLD_M), axis=1)


def _tilts_deg(table: Table) -> Series:
    _, x, y, _ = table.part(("qw", "qx", "qy", "qz")).T
    return np.degrees(2.0 * np.arcsin(np.clip(np.hypot(x, y), 0.0, 1.0)))


def _yaws_deg(table: Table) -> Series:
    return np.unwrap(table.roll_pitch_yaw_deg[:, 2], period=360.0)


def _bar_panels(rows: Sequence[dict[str, Any]], colors: dict[str, str]) -> list[BarPanel]:
    """Return the metrics that are not zero in all rows; those at the left are labeled."""
    shown = [
        (name, title)
        for name, title in SHOWN.items()
        if any(row[name] is not None and row[name].mean > 0.0 for row in rows)
    ]
    half = -(-len(shown) // 2)
    return [
        BarPanel(title, tuple(_bar(row, name, colors) for row in rows), labeled=place < half)
        for place, (name, title) in enumerate(shown)
    ]


def _bar(row: dict[str, Any], name: str, colors: dict[str, str]) -> Bar:
    spread: Spread | None = row[name]
    label, color = row["controllers"], colors[row["controllers"]]
    if spread is None:
        return Bar(label, color, 0.0, 0.0, "none")
    text = spread.in_words(row["flights"])
    return Bar(label, color, spread.mean, spread.deviation, text)
