"""Overview of a run: maps at the left, time series with events at the right, metrics below."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import degrees, isfinite
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D

from kittiwake.analysis.log import COMPLETED, Log
from kittiwake.analysis.plots.events import (
    MAX_MARKS,
    EventPanel,
    moments,
    phase_entries,
    phase_shades,
    without_many_waypoints,
)
from kittiwake.analysis.plots.legs import with_legs
from kittiwake.analysis.plots.map_objects import FlightConditions
from kittiwake.analysis.plots.map_scene import MapScene, build_map_scene, in_single_precision
from kittiwake.analysis.plots.maps import (
    PlanPanel,
    SpacePanel,
    loss_entry,
    map_paths,
    path_entries,
    scene_entries,
)
from kittiwake.analysis.plots.page import PanelColumn, PlotPage, compose
from kittiwake.analysis.plots.panels import MANY_CURVES, AbstractPanel, TimePanel
from kittiwake.analysis.plots.quantities import panels_over_time
from kittiwake.analysis.plots.style import (
    CURVES,
    ESTIMATED,
    GRAY,
    REPORT,
    SECOND_RUN,
    Looks,
    PageFigure,
    PlotStyle,
    check_names,
    fleet_colors,
    fleet_map,
    shortened,
)
from kittiwake.analysis.plots.traces import (
    Loss,
    Trace,
    find_losses,
    select_traces,
    time_span_s,
    without_value,
)
from kittiwake.analysis.run_outcome import outcome_text
from kittiwake.analysis.summary import in_digits
from kittiwake.core.errors import LogError

MAX_NAME, MAX_METRICS, MAX_REASONS = 18, 4, 3
# number of vehicles of which percentiles are computed
MOST = 1000


@dataclass(frozen=True, eq=False)
class SecondRun:
    """Run that is drawn over another one, the names of both in the key, and its folder."""

    log: Log
    names: tuple[str, str] = ("first run", "second run")
    folder: Path | None = None


def draw_overview(
    log: Log,
    folder: Path | None = None,
    *,
    style: PlotStyle = REPORT,
    only: Sequence[str] = (),
    second: SecondRun | None = None,
) -> PageFigure:
    """Return the picture of a run.

    At most 100 vehicles and 2,000 rows are drawn, and only those obstacles from files whose files
    are in the folder; the lines below the title report what was left out.

    Args:
        log: the log of the run.
        folder: the folder of the run.
        style: the style of the picture.
        only: the names of the panels to draw; all if empty.
        second: a second run, whose vehicles of the same names are drawn dashed.

    Raises:
        LogError: if there are no rows to draw, no panel has a name in ``only``, or the runs have no
            vehicle in common.
    """
    if log.end_s is None:
        message = f"there is nothing to draw: {log.early_end or 'the log holds no rows'}"
        raise LogError(message)
    losses = find_losses(log)
    traces = select_traces(log, losses)
    traces = with_legs(traces, folder)
    everyone = traces if len(traces) == len(log.names) else select_traces(log, losses, MOST)
    seconds = {} if second is None else _second_traces(log, second, traces)
    shades = fleet_colors(len(log.names))
    colors = [shades[trace.place] for trace in traces]
    span_s = time_span_s([*traces, *seconds.values()])
    single = in_single_precision(traces, log.summary)
    flown = FlightConditions(span_s, _seed(log) or 0, single, folder)
    scene = build_map_scene(traces, log.scenario, flown, tuple(seconds.values()))
    paths = tuple(map_paths(traces, colors, scene, list(seconds.values())))
    few = len(traces) <= MANY_CURVES
    shadows = tuple(trace.position_world_m for trace in traces) if few else ()
    maps = [SpacePanel(paths, shadows, scene), PlanPanel(paths, scene.low, scene.high, scene)]
    of_all = fleet_colors(len(everyone)) if everyone is not traces else colors
    over_time, waypoints = _panels_over_time(log, everyone, of_all, seconds)
    available = [*maps, *(panel for panel, _ in over_time)]
    check_names("only", only, list(dict.fromkeys(n for panel in available for n in panel.names)))
    maps = [panel for panel in maps if _is_selected(panel, only)]
    curves = [panel for panel, shown in over_time if _is_selected(panel, only, shown=shown)]
    key: list[Artist] = [*path_entries(paths), *_loss_entries(losses)] if maps else []
    key += scene_entries(scene, shadows=few and isinstance(maps[0], SpacePanel)) if maps else []
    key += _vehicle_entries(log, shades)
    key += _estimate_entries(curves)
    if any(isinstance(panel, TimePanel) and panel.shades for panel in curves):
        key += phase_entries(traces, log.events)
    key += [] if second is None else _run_entries(second)
    notes = _notes(log, traces, scene, waypoints)
    scale = (ScalarMappable(Normalize(1, len(log.names)), fleet_map()), "vehicle, in order")
    runs = [log] if second is None else [log, second.log]
    names = (None,) if second is None else second.names
    described = [_named(name, _description(run)) for name, run in zip(names, runs, strict=True)]
    metrics = [_named(name, _metrics(run)) for name, run in zip(names, runs, strict=True)]
    page = PlotPage(
        title=" and ".join(dict.fromkeys(map(_title, runs))),
        notes=(*described, *(_named(names[0], note) for note in notes)),
        columns=(PanelColumn(tuple(maps), 0.75), PanelColumn(tuple(curves), 1.0, span_s)),
        key=tuple(key),
        metrics=tuple(line for line in metrics if line),
        scale=scale if len(log.names) > MANY_CURVES else None,
        alarms=tuple(
            line for line, run in zip(described, runs, strict=True) if _status(run) != COMPLETED
        ),
    )
    return compose(page, style)


def save_overview(
    log: Log,
    path: Path,
    *,
    style: PlotStyle = REPORT,
    only: Sequence[str] = (),
    second: SecondRun | None = None,
) -> None:
    """Write the picture of a run, usually into the run's folder; the ending is its format."""
    draw_overview(log, path.parent, style=style, only=only, second=second).save(path)


def _is_selected(panel: AbstractPanel, only: Sequence[str], *, shown: bool = True) -> bool:
    return any(name in only for name in panel.names) if only else shown


def _second_traces(log: Log, second: SecondRun, traces: Sequence[Trace]) -> dict[str, Trace]:
    """Return the vehicles of a second run that are drawn in the first one, too.

    Raises:
        LogError: if the runs have no vehicle in common.
    """
    other = second.log
    if not set(log.names) & set(other.names):
        names = (shortened(", ".join(run.names), 60) for run in (log, other))
        found = "; ".join(f"{run} has {own}" for run, own in zip(second.names, names, strict=True))
        message = f"the runs have no vehicle in common: {found}. Give two runs with equal names."
        raise LogError(message)
    drawn = {trace.name for trace in traces}
    common = replace(other, tables={n: t for n, t in other.tables.items() if n in drawn})
    found = with_legs(select_traces(common, find_losses(common)), second.folder)
    return {trace.name: trace for trace in found}


def _panels_over_time(
    log: Log, traces: Sequence[Trace], colors: Sequence[str], seconds: Mapping[str, Trace]
) -> tuple[list[tuple[AbstractPanel, bool]], int]:
    """Return the panels over time below the events, with marks of these and shades of phases.

    Returns:
        The panels and whether each one is drawn by default, and the number of reached waypoints
        if those are too many to be marked.
    """
    many = len(log.names) != 1
    events, waypoints = without_many_waypoints(log.events)
    found = moments(events, many=many)
    marks = tuple((moment.time_s, moment.is_loss) for moment in found[:MAX_MARKS])
    shades = phase_shades(traces)
    panels: list[tuple[AbstractPanel, bool]] = [
        (replace(panel, marks=marks, shades=shades if "height" in panel.names else ()), shown)
        for panel, shown in panels_over_time(traces, colors, seconds, many=many)
    ]
    return [(EventPanel(tuple(found)), bool(found)), *panels], waypoints


def _notes(log: Log, traces: Sequence[Trace], scene: MapScene, waypoints: int) -> list[str]:
    """Return a line about everything that is not drawn."""
    step = max((trace.step for trace in traces), default=1)
    names = shortened(", ".join(scene.objects.unread), MAX_NAME)
    count = f"paths of {len(traces)} of {len(log.names):,} vehicles drawn"
    notes = {
        count: len(traces) < len(log.names),
        f"one row in {step:,} drawn": step > 1,
        f"not drawn: {names}, whose file is not in the folder": bool(names),
        f"setpoints outside the map: {scene.beyond:,}": scene.beyond > 0,
        f"{waypoints} waypoints reached": waypoints > 0,
    }
    line = " · ".join(note for note, applies in notes.items() if applies)
    return [line] if line else []


def _vehicle_entries(log: Log, shades: Sequence[str]) -> list[Artist]:
    """Return the entries of the key for a few vehicles."""
    if not 1 < len(log.names) <= MANY_CURVES:
        return []
    return [
        Line2D([], [], color=shade, linewidth=2.2, label=shortened(name, MAX_NAME))
        for name, shade in zip(log.names, shades, strict=True)
    ]


def _estimate_entries(curves: Sequence[AbstractPanel]) -> list[Artist]:
    """Return the entry of the key for estimates in panels without legends."""
    lines = [
        line
        for panel in curves
        if isinstance(panel, TimePanel) and not panel.listed
        for line in panel.lines
        if line.kind == ESTIMATED
    ]
    looks: Looks = CURVES[ESTIMATED] | {"color": GRAY}
    return [Line2D([], [], label=line.label, **looks) for line in lines[:1]]


def _run_entries(second: SecondRun) -> list[Artist]:
    solid, dashed = second.names
    looks: Looks = CURVES[SECOND_RUN] | {"color": GRAY}
    return [Line2D([], [], label=solid, color=GRAY), Line2D([], [], label=dashed, **looks)]


def _loss_entries(losses: Mapping[str, Loss]) -> list[Artist]:
    """Return an entry of the key for each reason of losses, the most frequent first."""
    counted = Counter(without_value(loss.reason) for loss in losses.values()).most_common()
    labels = [f"{n} {reason}" if len(losses) > 1 else reason for reason, n in counted]
    if len(labels) > MAX_REASONS:
        others = sum(n for _, n in counted[MAX_REASONS:])
        labels = [*labels[:MAX_REASONS], f"{others} lost for other reasons"]
    return [loss_entry(label) for label in labels]


def _title(log: Log) -> str:
    """Return the name of a run's scenario."""
    return str((log.summary or {}).get("scenario") or log.scenario.get("name") or "flight")


def _status(log: Log) -> str:
    """Return the status of a run; a log without summary has no other than ``COMPLETED``."""
    return str((log.summary or {}).get("status") or COMPLETED)


def _named(name: str | None, line: str) -> str:
    """Return a line about a run, with the name of the run if it is one of two."""
    return f"{name}: {line}" if name and line else line


def _description(log: Log) -> str:
    """Return vehicles, duration, seed and outcome of a run."""
    summary, losses = log.summary or {}, find_losses(log)
    outcome = outcome_text(summary)
    duration_s = _known(summary.get("duration_s"))
    if duration_s is None:
        ends = [float(table.values[-1, 0]) for table in log.tables.values() if len(table.values)]
        duration_s = max((end for end in ends if isfinite(end)), default=0.0)
    seed = _seed(log)
    parts = [
        log.names[0] if len(log.names) == 1 else f"{len(log.names):,} vehicles",
        f"{duration_s:.4g} s",
        "" if seed is None else f"seed {seed}",
        outcome,
        f"{len(losses):,} lost" if len(log.names) > 1 and losses else "",
        "" if log.complete else str(log.early_end),
    ]
    return " · ".join(part for part in parts if part)


def _seed(log: Log) -> int | None:
    seed = (log.summary or {}).get("seed", log.scenario.get("seed"))
    return seed if isinstance(seed, int) else None


def _metrics(log: Log) -> str:
    summary = log.summary or {}
    vehicles = summary.get("vehicles") or {}
    parts = [
        _metric("tracking RMS", " m", vehicles, "tracking_rms_m"),
        _metric("max tilt", "°", vehicles, "max_tilt_rad", degrees(1.0)),
        _metric("distance flown", " m", vehicles, "distance_m"),
    ]
    separation_m = _known(summary.get("min_separation_m"))
    if separation_m is not None:
        parts.append(f"min separation {in_digits(separation_m)} m")
    metrics = list((summary.get("metrics") or {}).items())[:MAX_METRICS]
    parts += [f"{name} {value:.4g}" for name, value in metrics if _known(value) is not None]
    return " · ".join(part for part in parts if part)


def _metric(
    label: str, unit: str, vehicles: Mapping[str, Any], key: str, factor: float = 1.0
) -> str:
    """Return one vehicle's value, or the largest of all with its vehicle, and the median."""
    known = {name: _known(own.get(key)) for name, own in vehicles.items()}
    values = {name: factor * value for name, value in known.items() if value is not None}
    if not values:
        return ""
    worst = max(values, key=lambda name: values[name])
    if len(vehicles) == 1:
        return f"{label} {in_digits(values[worst])}{unit}"
    median = float(np.median(list(values.values())))
    return (
        f"{label} {in_digits(values[worst])}{unit} ({shortened(worst, MAX_NAME)}),"
        f" median {in_digits(median)}{unit}"
    )


def _known(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None
