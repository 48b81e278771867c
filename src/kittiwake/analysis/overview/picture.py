"""Page about a run: title, maps at the left, time series at the right, metrics below."""

from collections.abc import Mapping, Sequence
from math import degrees, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kittiwake.analysis.log import Log
from kittiwake.analysis.overview import look
from kittiwake.analysis.overview.events import draw_events, without_many_waypoints
from kittiwake.analysis.overview.maps import draw_key, draw_plan, draw_space
from kittiwake.analysis.overview.scene import build_map_scene, in_single_precision
from kittiwake.analysis.overview.series import (
    FEW_VEHICLES,
    RIGHT,
    TOP,
    draw_panels,
    fleet_panels,
    phase_patches,
    vehicle_panels,
)
from kittiwake.analysis.overview.static_objects import FlightConditions, StaticObjects
from kittiwake.analysis.overview.trace import Loss, Trace, find_losses, select_traces
from kittiwake.analysis.summary import in_digits
from kittiwake.core.errors import LogError

LEFT_IN, TITLE_IN, SUBTITLE_IN, FOOTER_IN = 0.45, 8.55, 8.26, 0.22
MAX_TITLE, MAX_SUBTITLE, MAX_NAME, MAX_METRICS = 90, 165, 18, 4


def draw_overview(log: Log, folder: Path | None = None) -> Figure:
    """Return the picture of a run.

    At most 100 vehicles and 2,000 rows are drawn, and only those obstacles from files whose files
    are in the folder; the line below the title reports what was left out.

    Raises:
        LogError: if there are no rows to draw.
    """
    if log.end_s is None:
        message = f"there is nothing to draw: {log.early_end or 'the log holds no rows'}"
        raise LogError(message)
    with style.context(["default", look.SETTINGS]):
        figure = look.PageFigure(look.PAGE_IN)
        _draw(figure, log, folder)
        # creates the ticks with the present settings
        figure.draw_without_rendering()
    return figure


def save_overview(log: Log, path: Path) -> None:
    """Write the picture of a run as a PNG file, usually into the run's folder."""
    with style.context(["default", look.SETTINGS]):
        look.save(draw_overview(log, path.parent), path)


def _draw(figure: Figure, log: Log, folder: Path | None) -> None:
    losses = find_losses(log)
    traces = select_traces(log, losses)
    shades = look.fleet_colors(len(log.names))
    colors = [shades[trace.place] for trace in traces]
    span_s = _span_s(traces)
    flown = FlightConditions(
        span_s, _seed(log) or 0, in_single_precision(traces, log.summary), folder
    )
    scene = build_map_scene(traces, log.scenario, flown)
    draw_space(figure, traces, colors, scene)
    draw_plan(figure, traces, colors, scene)
    draw_key(figure, traces, losses, scene)
    many = len(log.names) != 1
    panels = fleet_panels(traces, colors) if many else vehicle_panels(traces[0])
    drawn = draw_panels(figure, panels, span_s)
    shown, waypoints = without_many_waypoints(log.events)
    count, labeled = draw_events(drawn, shown, many=many)
    if many:
        _name_vehicles(figure, log.names, shades, phase_patches(traces, log.events))
    notes = _thinning(traces, len(log.names)) + _unread(scene.objects)
    if waypoints:
        notes.append(f"{waypoints} waypoints reached")
    if labeled < count:
        notes.append(f"{labeled} of {count:,} events named")
    _draw_title(figure, log, losses, notes)
    _draw_footer(figure, log.summary or {})


def _span_s(traces: Sequence[Trace]) -> tuple[float, float]:
    """Return the limits of the time axis: first and last row, with a minimum width."""
    times = np.concatenate([np.empty(0), *(trace.time_s for trace in traces)])
    times = times[np.isfinite(times)]
    if not times.size:
        return 0.0, 1.0
    low, high = float(times.min()), float(times.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _name_vehicles(
    figure: Figure, names: Sequence[str], shades: Sequence[str], parts: Sequence[Artist]
) -> None:
    """Draw names of a few vehicles and phase colors, or a color scale for many vehicles."""
    if len(names) <= FEW_VEHICLES:
        figure_key = figure.add_axes(look.box(RIGHT + 0.1, TOP - 3.0, look.PAGE_IN[0] - 0.1, TOP))
        figure_key.set_axis_off()
        handles: list[Artist] = [
            Line2D([], [], color=shade, linewidth=2.2, label=look.shortened(name, MAX_NAME))
            for name, shade in zip(names, shades, strict=True)
        ]
        handles += parts
        look.list_beside(figure_key, handles, at=(0.0, 1.0))
        return
    bar_axes = figure.add_axes(look.box(RIGHT + 0.35, TOP - 3.0, RIGHT + 0.5, TOP))
    scale = ScalarMappable(Normalize(1, len(names)), look.fleet_map())
    bar = figure.colorbar(scale, cax=bar_axes)
    bar.set_ticks(np.unique(np.linspace(1, len(names), 5).round()).tolist())
    bar.ax.set_ylabel("vehicle, in the scenario's order", fontsize=look.NORMAL)
    bar.ax.invert_yaxis()
    bar.outline.set_visible(False)


def _thinning(traces: Sequence[Trace], vehicles: int) -> list[str]:
    """Return notes about vehicles and rows that are not drawn."""
    notes = []
    if len(traces) < vehicles:
        notes.append(f"{len(traces)} of {vehicles:,} vehicles drawn")
    step = max((trace.step for trace in traces), default=1)
    if step > 1:
        notes.append(f"one row in {step:,} drawn")
    return notes


def _unread(objects: StaticObjects) -> list[str]:
    """Return notes about obstacles that are not drawn."""
    names = look.shortened(", ".join(objects.unread), MAX_NAME)
    return [f"not drawn: {names}, whose file is not in the folder"] if names else []


def _draw_title(figure: Figure, log: Log, losses: Mapping[str, Loss], notes: Sequence[str]) -> None:
    summary = log.summary or {}
    name = summary.get("scenario") or log.scenario.get("name") or "flight"
    status = str(summary.get("status") or "")
    reason = summary.get("reason")
    title = look.shortened(str(name), MAX_TITLE)
    figure.text(
        *look.place(LEFT_IN, TITLE_IN),
        title,
        fontsize=look.LARGE,
        fontweight="bold",
        parse_math=False,
    )
    # a reason such as "gull: diverged: ..." contains the status
    outcome = str(reason) if reason and status in str(reason) else status
    outcome = f"{status}: {reason}" if reason and outcome == status else outcome
    parts = [_vehicles_text(log), *_circumstances(log), outcome]
    if len(log.names) > 1 and losses:
        parts.append(f"{len(losses):,} lost")
    if not log.complete:
        parts.append(str(log.early_end))
    line = " · ".join(part for part in [*parts, *notes] if part)
    figure.text(
        *look.place(LEFT_IN, SUBTITLE_IN),
        look.shortened(line, MAX_SUBTITLE),
        fontsize=look.NORMAL + 1.5,
        color=look.GRAY if status in ("", "completed") else look.ALARM,
        parse_math=False,
    )


def _vehicles_text(log: Log) -> str:
    return log.names[0] if len(log.names) == 1 else f"{len(log.names):,} vehicles"


def _circumstances(log: Log) -> list[str]:
    """Return duration and seed, if known."""
    summary = log.summary or {}
    duration_s = _known(summary.get("duration_s"))
    if duration_s is None:
        ends = [float(table.values[-1, 0]) for table in log.tables.values() if len(table.values)]
        duration_s = max((end for end in ends if isfinite(end)), default=0.0)
    seed = _seed(log)
    return [f"{duration_s:.4g} s"] + ([] if seed is None else [f"seed {seed}"])


def _seed(log: Log) -> int | None:
    seed = (log.summary or {}).get("seed", log.scenario.get("seed"))
    return seed if isinstance(seed, int) else None


def _draw_footer(figure: Figure, summary: Mapping[str, Any]) -> None:
    vehicles = summary.get("vehicles") or {}
    parts = [
        _metric("tracking RMS", "m", vehicles, "tracking_rms_m"),
        _metric("max tilt", "°", vehicles, "max_tilt_rad", degrees(1.0)),
        _metric("distance flown", "m", vehicles, "distance_m"),
    ]
    separation_m = _known(summary.get("min_separation_m"))
    if separation_m is not None:
        parts.append(f"min separation {in_digits(separation_m)} m")
    metrics = list((summary.get("metrics") or {}).items())[:MAX_METRICS]
    parts += [f"{name} {value:.4g}" for name, value in metrics if _known(value) is not None]
    line = " · ".join(part for part in parts if part)
    figure.text(
        *look.place(LEFT_IN, FOOTER_IN),
        look.shortened(line, MAX_SUBTITLE + 20),
        fontsize=look.NORMAL + 0.5,
        color=look.INK,
        parse_math=False,
    )


def _metric(
    label: str, unit: str, vehicles: Mapping[str, Any], key: str, factor: float = 1.0
) -> str:
    """Return one vehicle's value, or the largest of all with its vehicle, and the median."""
    known = {name: _known(own.get(key)) for name, own in vehicles.items()}
    values = {name: factor * value for name, value in known.items() if value is not None}
    gap = "" if unit == "°" else " "
    if not values:
        return ""
    worst = max(values, key=lambda name: values[name])
    if len(vehicles) == 1:
        return f"{label} {in_digits(values[worst])}{gap}{unit}"
    median = float(np.median(list(values.values())))
    return (
        f"{label} {in_digits(values[worst])}{gap}{unit} ({look.shortened(worst, MAX_NAME)}),"
        f" median {in_digits(median)}{gap}{unit}"
    )


def _known(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None
