"""Panels of time series on a common time axis, of one vehicle or of many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kittiwake.analysis.overview.inputs import Input, input_panels
from kittiwake.analysis.overview.look import (
    GRAY,
    HUES,
    NORMAL,
    box,
    few_ticks,
    list_beside,
    listed_height_in,
)
from kittiwake.analysis.overview.resolution import readable_limits
from kittiwake.analysis.overview.trace import Trace
from kittiwake.analysis.summary import SETPOINT_WORLD_M
from kittiwake.analysis.table import Event

LEFT, RIGHT, BOTTOM, TOP, GAP = 8.35, 14.4, 0.95, 7.55, 0.14
SETPOINT_YAW = "setpoint.yaw_rad"
SETPOINT_HEIGHT = "setpoint.height_world_m"
SURFACE_DISTANCE = "setpoint.distance_m"
WANTED_SURFACE_DISTANCE = "setpoint.wanted_distance_m"
SETPOINT_VELOCITY_WORLD_MPS = tuple(f"setpoint.velocity_{axis}_world_mps" for axis in "xyz")
APART_FACTOR = 4.0
FEW_VEHICLES = 12
MAX_TURN_DEG = 1080.0
GUST_MPS = 0.1
# background colors of task phases, in turn
PHASE_COLORS = ("#FFFFFF", "#E3EEF7", "#FBE9DC", "#E1F2EB", "#F1E6F2", "#F7F1D5", "#E8E8E8")
MAX_PHASES = 40
# beginnings of events that do not start a task phase
NOT_PHASES = (
    "reached waypoint",
    "touched down",
    "turned over",
    "battery empty",
    "not finished",
    "lost",
    "diverged",
)
# commands of vessels, whose yaw follows from the course to a setpoint position
VESSEL_COMMANDS = ("cmd_rudder_rad", "cmd_left_radps")

Series = Float64[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class PlotLine:
    """Curve; setpoints and commands are dashed."""

    label: str
    time_s: Series
    values: Series
    color: str
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class PlotPanel:
    """Curves on one axis; ``listed`` is True if a legend names them.

    ``phases`` are shaded spans of time: start, end and color.
    """

    label: str
    lines: tuple[PlotLine, ...]
    unit: str
    notes: tuple[str, ...] = ()
    listed: bool = True
    phases: tuple[tuple[float, float, str], ...] = ()


def vehicle_panels(trace: Trace) -> list[PlotPanel]:
    """Return the panels of one vehicle: position, attitude, speed, variable wind, inputs."""
    return [
        *_position_panels(trace),
        _tilt_panel(trace),
        _yaw_panel(trace),
        _speed_panel(trace),
        *_surface_panels(trace),
        *_wind_panels(trace),
        *_input_panels(trace),
    ]


def fleet_panels(traces: Sequence[Trace], colors: Sequence[str]) -> list[PlotPanel]:
    """Return the panels of many vehicles: error, height, speed, and wind.

    The error is the distance to the setpoint or to the leg, or to the partner for vehicles that
    follow a deck; it is left out without setpoints, and the wind if it is constant. The height is
    shaded by task phases if exactly one vehicle has some.
    """
    panels = []
    if any(trace.partner_world_m is not None for trace in traces):
        panels.append(_partner_distance_panel(traces, colors))
    else:
        panels += _error_panels(traces, colors)
    heights = [trace.position_world_m[:, 2] for trace in traces]
    speeds = [trace.speed_mps for trace in traces]
    height = _fleet_panel("height z", "m", traces, heights, colors)
    panels.append(replace(height, phases=_phase_spans(traces)))
    panels.append(_fleet_panel("speed", "m/s", traces, speeds, colors))
    if any(_changeable(trace.wind_world_mps) for trace in traces):
        winds = [np.linalg.norm(trace.wind_world_mps, axis=1) for trace in traces]
        panels.append(_fleet_panel("wind met", "m/s", traces, winds, colors))
    return panels


def draw_panels(
    figure: Figure, panels: Sequence[PlotPanel], span_s: tuple[float, float]
) -> list[Axes]:
    """Draw the panels from top to bottom; the lowest one has the time labels."""
    height = (TOP - BOTTOM + GAP) / len(panels) - GAP
    drawn: list[Axes] = []
    for row, panel in enumerate(panels):
        top = TOP - row * (height + GAP)
        axes = figure.add_axes(
            box(LEFT, top - height, RIGHT, top), sharex=drawn[0] if drawn else None
        )
        _draw_panel(axes, panel, height)
        axes.tick_params(labelbottom=row == len(panels) - 1)
        drawn.append(axes)
    drawn[0].set_xlim(*span_s)
    drawn[-1].set_xlabel("time (s)", fontsize=NORMAL)
    return drawn


def readable_yaw_deg(yaw_deg: Series) -> Series:
    """Return yaw without jumps by 360 degrees; a spin is cut at the jumps instead.

    The continuous angle of a spin would make all else illegible.
    """
    known = np.isfinite(yaw_deg)
    if not known.any():
        return yaw_deg
    smooth = np.full_like(yaw_deg, np.nan)
    smooth[known] = np.unwrap(yaw_deg[known], period=360.0)
    return smooth if np.ptp(smooth[known]) <= MAX_TURN_DEG else cut_at_jumps(yaw_deg)


def cut_at_jumps(angle_deg: Series) -> Series:
    """Return an angle with NaN in each row after a jump of more than half a turn."""
    jumps = np.abs(np.diff(angle_deg, prepend=angle_deg[:1])) > 180.0
    return np.where(jumps, np.nan, angle_deg)


def _position_panels(trace: Trace) -> list[PlotPanel]:
    """Return one panel of all coordinates, or two if the height is far from the others."""
    setpoint = trace.setpoint_world_m
    if not np.isfinite(setpoint[:, 2]).any():
        setpoint[:, 2] = trace.table.part((SETPOINT_HEIGHT,))[:, 0]
    position = trace.position_world_m
    lines = _lines(trace, "xyz", position)
    if not _height_is_apart(position):
        return [PlotPanel("position\n(m)", lines + _setpoint_lines(trace, setpoint), "m")]
    return [
        PlotPanel("position\n(m)", lines[:2] + _setpoint_lines(trace, setpoint[:, :2]), "m"),
        PlotPanel(
            "height\n(m)", lines[2:] + _setpoint_lines(trace, setpoint[:, 2:], HUES[2:]), "m"
        ),
    ]


def _height_is_apart(position_m: Float64[np.ndarray, "rows 3"]) -> bool:
    known = position_m[np.isfinite(position_m).all(axis=1)]
    if not len(known):
        return False
    low, high = known.min(axis=0), known.max(axis=0)
    level = float(max(high[:2]) - min(low[:2]))
    return float(max(high) - min(low)) > APART_FACTOR * max(level, float(high[2] - low[2]))


def _tilt_panel(trace: Trace) -> PlotPanel:
    lines = _lines(trace, ("roll", "pitch"), trace.roll_pitch_yaw_deg[:, :2])
    lines += _setpoint_lines(trace, trace.commanded_roll_pitch_yaw_deg[:, :2])
    return PlotPanel("attitude\n(deg)", lines, "deg")


def _yaw_panel(trace: Trace) -> PlotPanel:
    yaw = readable_yaw_deg(trace.roll_pitch_yaw_deg[:, 2])
    setpoint = np.degrees(trace.table.part((SETPOINT_YAW,))[:, 0])
    setpoint = np.where(np.isfinite(setpoint), setpoint, trace.commanded_roll_pitch_yaw_deg[:, 2])
    # setpoints that differ by full turns are equal: the one nearest to the yaw is drawn
    nearest = setpoint + 360.0 * np.round((yaw - setpoint) / 360.0)
    if trace.has(SETPOINT_WORLD_M) and any(trace.has((column,)) for column in VESSEL_COMMANDS):
        nearest = np.full_like(yaw, np.nan)
    lines = _lines(trace, ("yaw",), yaw[:, None], HUES[2:])
    lines += _setpoint_lines(trace, cut_at_jumps(nearest)[:, None], HUES[2:])
    return PlotPanel("yaw\n(deg)", lines, "deg")


def _speed_panel(trace: Trace) -> PlotPanel:
    velocity = trace.table.part(SETPOINT_VELOCITY_WORLD_MPS)
    known = np.isfinite(velocity[:, 0])
    setpoint = np.where(known, np.sqrt(np.nansum(np.square(velocity), axis=1)), np.nan)
    if trace.has(SETPOINT_WORLD_M) and not np.nan_to_num(setpoint).any():
        setpoint = np.full_like(setpoint, np.nan)  # a setpoint position does not define a speed
    lines = _lines(trace, ("speed",), trace.speed_mps[:, None])
    return PlotPanel("speed\n(m/s)", lines + _setpoint_lines(trace, setpoint[:, None]), "m/s")


def _surface_panels(trace: Trace) -> list[PlotPanel]:
    """Return the panel of the distance to a followed surface, if there is one."""
    columns = (SURFACE_DISTANCE, WANTED_SURFACE_DISTANCE)
    if not trace.has(columns):
        return []
    measured, setpoint = trace.table.part(columns).T
    lines = _lines(trace, ("to surface",), measured[:, None]) + _setpoint_lines(
        trace, setpoint[:, None]
    )
    return [PlotPanel("distance\n(m)", lines, "m")]


def _wind_panels(trace: Trace) -> list[PlotPanel]:
    """Return the panel of the wind at the vehicle, if it is variable."""
    wind = trace.wind_world_mps
    return (
        [PlotPanel("wind\n(m/s)", _lines(trace, "xyz", wind), "m/s")] if _changeable(wind) else []
    )


def _changeable(wind_world_mps: Float64[np.ndarray, "rows 3"]) -> bool:
    known = wind_world_mps[np.isfinite(wind_world_mps).all(axis=1)]
    return bool(len(known)) and float(np.ptp(known, axis=0).max()) >= GUST_MPS


def _input_panels(trace: Trace) -> list[PlotPanel]:
    return [
        PlotPanel(panel.label, _input_lines(trace, panel.inputs), panel.unit, panel.notes)
        for panel in input_panels(trace)
    ]


def _input_lines(trace: Trace, inputs: Sequence[Input]) -> tuple[PlotLine, ...]:
    """Return curves of inputs; a command is dashed, in the color of its actuator."""
    followed = {
        place: next((o for o, other in enumerate(inputs) if item.is_command_for(other)), place)
        for place, item in enumerate(inputs)
    }
    colored = [place for place, leader in followed.items() if place == leader]
    colors = {place: HUES[i % len(HUES)] for i, place in enumerate(colored)}
    return tuple(
        PlotLine(item.label, trace.time_s, item.values, colors[place])
        if followed[place] == place
        else PlotLine("command", trace.time_s, item.values, colors[followed[place]], dashed=True)
        for place, item in enumerate(inputs)
    )


def _lines(
    trace: Trace,
    labels: Sequence[str],
    values: Float64[np.ndarray, "rows lines"],
    colors: Sequence[str] = HUES,
) -> tuple[PlotLine, ...]:
    return tuple(
        PlotLine(label, trace.time_s, values[:, i], colors[i % len(colors)])
        for i, label in enumerate(labels)
    )


def _setpoint_lines(
    trace: Trace, values: Float64[np.ndarray, "rows lines"], colors: Sequence[str] = HUES
) -> tuple[PlotLine, ...]:
    """Return dashed curves of the columns with finite numbers."""
    return tuple(
        PlotLine("set point", trace.time_s, column, colors[i], dashed=True)
        for i, column in enumerate(values.T)
        if np.isfinite(column).any()
    )


def _fleet_panel(
    label: str,
    unit: str,
    traces: Sequence[Trace],
    values: Sequence[Float64[np.ndarray, " _"]],
    colors: Sequence[str],
) -> PlotPanel:
    rows = zip(traces, values, colors, strict=True)
    lines = tuple(PlotLine(trace.name, trace.time_s, own, color) for trace, own, color in rows)
    return PlotPanel(f"{label} ({unit})", lines, unit, listed=False)


def _error_panels(traces: Sequence[Trace], colors: Sequence[str]) -> list[PlotPanel]:
    """Return panels of distances to the leg, or to the setpoint for vehicles without legs.

    On a leg, the distance to the next waypoint is not an error.
    """
    across: list[PlotLine] = []
    errors: list[PlotLine] = []
    for trace, color in zip(traces, colors, strict=True):
        cross_track_m = trace.cross_track_m
        if cross_track_m is not None:
            across.append(PlotLine(trace.name, trace.time_s, cross_track_m, color))
        elif trace.has(SETPOINT_WORLD_M):
            error_m = np.linalg.norm(trace.position_world_m - trace.setpoint_world_m, axis=1)
            errors.append(PlotLine(trace.name, trace.time_s, error_m, color))
    named = (("cross-track error (m)", across), ("position error (m)", errors))
    return [PlotPanel(label, tuple(lines), "m", listed=False) for label, lines in named if lines]


def _partner_distance_panel(traces: Sequence[Trace], colors: Sequence[str]) -> PlotPanel:
    """Return the panel of horizontal distances from followed decks."""
    lines = tuple(
        PlotLine(trace.name, trace.time_s, trace.partner_distance_m, color)
        for trace, color in zip(traces, colors, strict=True)
        if trace.partner_distance_m is not None
    )
    return PlotPanel("beside the deck (m)", lines, "m", listed=False)


def phase_patches(traces: Sequence[Trace], events: Sequence[Event]) -> list[Artist]:
    """Return legend entries of shaded phases, named by the events at their start."""
    trace = _trace_with_phases(traces)
    if trace is None:
        return []
    labels: dict[str, dict[str, None]] = {}
    for begin_s, _, color in _phase_spans(traces):
        # the start is the first drawn row after the event
        events_before = [
            event.event
            for event in events
            if event.vehicle == trace.name
            and event.time_s <= begin_s
            and not event.event.startswith(NOT_PHASES)
        ]
        if events_before:
            labels.setdefault(color, {})[events_before[-1]] = None
    return [
        Patch(facecolor=color, edgecolor=GRAY, linewidth=0.4, label="\n".join(words))
        for color, words in labels.items()
    ]


def _trace_with_phases(traces: Sequence[Trace]) -> Trace | None:
    """Return the vehicle with task phases if there is exactly one."""
    with_phases = [trace for trace in traces if (np.nan_to_num(trace.phase) > 0.0).any()]
    return with_phases[0] if len(with_phases) == 1 else None


def _phase_spans(traces: Sequence[Trace]) -> tuple[tuple[float, float, str], ...]:
    """Return start, end and color of the task phases of the only vehicle that has some."""
    trace = _trace_with_phases(traces)
    if trace is None:
        return ()
    phase, time_s = np.nan_to_num(trace.phase, nan=-1.0), trace.time_s
    begins = np.flatnonzero(np.diff(phase, prepend=np.nan) != 0.0)
    if len(begins) > MAX_PHASES:
        return ()
    ends = [*begins[1:], len(phase) - 1]
    return tuple(
        (
            float(time_s[begin]),
            float(time_s[end]),
            PHASE_COLORS[int(phase[begin]) % len(PHASE_COLORS)],
        )
        for begin, end in zip(begins, ends, strict=True)
    )


def _draw_panel(axes: Axes, panel: PlotPanel, height_in: float) -> None:
    width = 1.3 if len(panel.lines) <= FEW_VEHICLES else 0.6
    for begin_s, end_s, color in panel.phases:
        axes.axvspan(begin_s, end_s, facecolor=color, edgecolor="none", zorder=0.5)
    for line in panel.lines:
        alone = (
            np.count_nonzero(np.isfinite(line.values)) == 1
        )  # a line of a single point is invisible
        axes.plot(
            line.time_s,
            line.values,
            color=line.color,
            linewidth=1.0 if line.dashed else width,
            linestyle=(0, (4, 2.5)) if line.dashed else "-",
            marker="." if alone else "",
            alpha=0.7 if len(panel.lines) > FEW_VEHICLES else 1.0,
            zorder=2.5 if line.dashed else 2.0,
        )
    axes.set_ylim(*readable_limits(axes.get_ylim(), panel.unit))
    few_ticks(axes)
    axes.set_ylabel(panel.label, fontsize=NORMAL, parse_math=False)
    axes.yaxis.set_label_coords(-0.085, 0.5)
    if panel.listed:
        list_beside(axes, _legend_entries(panel, height_in + GAP), at=(1.015, 1.0))


def _legend_entries(panel: PlotPanel, room_in: float) -> list[Artist]:
    """Return the legend beside a panel: as many curves as fit, one setpoint, and notes."""
    plain = [line for line in panel.lines if not line.dashed]
    dashed = [line.label for line in panel.lines if line.dashed][:1]
    room_in -= sum(map(listed_height_in, [*dashed, *panel.notes]))
    ends_in = np.cumsum([listed_height_in(line.label) for line in plain])
    count = len(plain)
    if len(plain) and ends_in[-1] > room_in:
        count = int(np.count_nonzero(ends_in + listed_height_in("more") <= room_in))
    more = len(plain) - count
    notes = [f"and {more} more"] if more else []
    curves: list[Artist] = [
        Line2D([], [], color=line.color, label=line.label) for line in plain[:count]
    ]
    dashes = (0, (3, 2))
    setpoints = [
        Line2D([], [], color=GRAY, linewidth=1.0, linestyle=dashes, label=label) for label in dashed
    ]
    texts = [Line2D([], [], linestyle="", label=note) for note in [*notes, *panel.notes]]
    return [*curves, *setpoints, *texts]
