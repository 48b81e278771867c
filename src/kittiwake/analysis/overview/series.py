"""Time series below each other on one time axis: of one vehicle, or of many compared."""

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
# of the parts of a task, in turn
TINTS = ("#FFFFFF", "#E3EEF7", "#FBE9DC", "#E1F2EB", "#F1E6F2", "#F7F1D5", "#E8E8E8")
MAX_PARTS = 40
# how events begin that tell of no part of a task
NOT_PARTS = (
    *("reached waypoint", "touched down", "turned over", "battery empty", "not finished"),
    *("lost", "diverged"),
)
# of what floats: it goes where it has to, so that a place asks for no yaw of it
OF_VESSELS = ("cmd_rudder_rad", "cmd_left_radps")

Series = Float64[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class PlotLine:
    """One curve; a dashed one is what was asked for."""

    label: str
    time_s: Series
    values: Series
    color: str
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class PlotPanel:
    """Curves on one axis; ``listed`` says whether they are named beside it.

    ``parts`` are spans of time that are shaded, by their first and last time and their tint.
    """

    label: str
    lines: tuple[PlotLine, ...]
    unit: str
    notes: tuple[str, ...] = ()
    listed: bool = True
    parts: tuple[tuple[float, float, str], ...] = ()


def vehicle_panels(trace: Trace) -> list[PlotPanel]:
    """All of one vehicle: position, attitude, speed, wind if it changes, and inputs."""
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
    """What compares vehicles: distance to the set point or to the leg, height, speed, and wind.

    The first is left out if there is no set point, the last if the wind never changes. Where
    vehicles follow the decks of others, their distance from those stands in place of the first. The
    height is shaded by the parts of its task if one vehicle alone has some.
    """
    panels = []
    if any(trace.partner_world_m is not None for trace in traces):
        panels.append(_beside_panel(traces, colors))
    else:
        panels += _error_panels(traces, colors)
    heights = [trace.position_world_m[:, 2] for trace in traces]
    speeds = [trace.speed_mps for trace in traces]
    height = _fleet_panel("height z", "m", traces, heights, colors)
    panels.append(replace(height, parts=_parts(traces)))
    panels.append(_fleet_panel("speed", "m/s", traces, speeds, colors))
    if any(_changeable(trace.wind_world_mps) for trace in traces):
        winds = [np.linalg.norm(trace.wind_world_mps, axis=1) for trace in traces]
        panels.append(_fleet_panel("wind met", "m/s", traces, winds, colors))
    return panels


def draw_panels(
    figure: Figure, panels: Sequence[PlotPanel], span_s: tuple[float, float]
) -> list[Axes]:
    """The panels from top to bottom; the lowest one has the time axis' labels."""
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
    """Yaw from where it begins without jumps by 360 degrees; of a spin, cut where it jumps.

    Turned on without limit, a spin's angle would leave no room to read anything else.
    """
    known = np.isfinite(yaw_deg)
    if not known.any():
        return yaw_deg
    smooth = np.full_like(yaw_deg, np.nan)
    smooth[known] = np.unwrap(yaw_deg[known], period=360.0)
    return smooth if np.ptp(smooth[known]) <= MAX_TURN_DEG else cut_at_jumps(yaw_deg)


def cut_at_jumps(angle_deg: Series) -> Series:
    """An angle with NaN in each row that comes after a jump of more than half a turn."""
    jumps = np.abs(np.diff(angle_deg, prepend=angle_deg[:1])) > 180.0
    return np.where(jumps, np.nan, angle_deg)


def _position_panels(trace: Trace) -> list[PlotPanel]:
    """All coordinates together, unless the height is so far off that they would look constant."""
    wanted = trace.setpoint_world_m
    if not np.isfinite(wanted[:, 2]).any():
        wanted[:, 2] = trace.table.part((SETPOINT_HEIGHT,))[:, 0]
    position = trace.position_world_m
    lines = _lines(trace, "xyz", position)
    if not _height_is_apart(position):
        return [PlotPanel("position\n(m)", lines + _wanted(trace, wanted), "m")]
    return [
        PlotPanel("position\n(m)", lines[:2] + _wanted(trace, wanted[:, :2]), "m"),
        PlotPanel("height\n(m)", lines[2:] + _wanted(trace, wanted[:, 2:], HUES[2:]), "m"),
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
    lines += _wanted(trace, trace.commanded_roll_pitch_yaw_deg[:, :2])
    return PlotPanel("attitude\n(deg)", lines, "deg")


def _yaw_panel(trace: Trace) -> PlotPanel:
    yaw = readable_yaw_deg(trace.roll_pitch_yaw_deg[:, 2])
    wanted = np.degrees(trace.table.part((SETPOINT_YAW,))[:, 0])
    wanted = np.where(np.isfinite(wanted), wanted, trace.commanded_roll_pitch_yaw_deg[:, 2])
    # a yaw and the same one turn on are one wish: the one nearest to what is drawn is meant
    nearest = wanted + 360.0 * np.round((yaw - wanted) / 360.0)
    if trace.has(SETPOINT_WORLD_M) and any(trace.has((column,)) for column in OF_VESSELS):
        nearest = np.full_like(yaw, np.nan)
    lines = _lines(trace, ("yaw",), yaw[:, None], HUES[2:])
    lines += _wanted(trace, cut_at_jumps(nearest)[:, None], HUES[2:])
    return PlotPanel("yaw\n(deg)", lines, "deg")


def _speed_panel(trace: Trace) -> PlotPanel:
    velocity = trace.table.part(SETPOINT_VELOCITY_WORLD_MPS)
    asked = np.isfinite(velocity[:, 0])
    wanted = np.where(asked, np.sqrt(np.nansum(np.square(velocity), axis=1)), np.nan)
    if trace.has(SETPOINT_WORLD_M) and not np.nan_to_num(wanted).any():
        wanted = np.full_like(wanted, np.nan)  # it is to be at a place, at whatever speed
    lines = _lines(trace, ("speed",), trace.speed_mps[:, None])
    return PlotPanel("speed\n(m/s)", lines + _wanted(trace, wanted[:, None]), "m/s")


def _surface_panels(trace: Trace) -> list[PlotPanel]:
    """The distance to the surface that is followed, if one is."""
    columns = (SURFACE_DISTANCE, WANTED_SURFACE_DISTANCE)
    if not trace.has(columns):
        return []
    measured, wanted = trace.table.part(columns).T
    lines = _lines(trace, ("to surface",), measured[:, None]) + _wanted(trace, wanted[:, None])
    return [PlotPanel("distance\n(m)", lines, "m")]


def _wind_panels(trace: Trace) -> list[PlotPanel]:
    """The air that the vehicle met, if it did not blow evenly: the map's arrow says that."""
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
    """Curves of inputs; a command is dashed, in the color of what it commands."""
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


def _wanted(
    trace: Trace, values: Float64[np.ndarray, "rows lines"], colors: Sequence[str] = HUES
) -> tuple[PlotLine, ...]:
    """Dashed curves of those columns that hold a number."""
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
    """Distances to the leg, or to the set point of vehicles without waypoints.

    On its way along a leg a vehicle's distance to the next waypoint is no error.
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


def _beside_panel(traces: Sequence[Trace], colors: Sequence[str]) -> PlotPanel:
    """How far vehicles are from those whose decks they follow, across."""
    lines = tuple(
        PlotLine(trace.name, trace.time_s, trace.beside_partner_m, color)
        for trace, color in zip(traces, colors, strict=True)
        if trace.beside_partner_m is not None
    )
    return PlotPanel("beside the deck (m)", lines, "m", listed=False)


def part_patches(traces: Sequence[Trace], events: Sequence[Event]) -> list[Artist]:
    """What the tints of the shaded parts mean, in the words of the events that they began with."""
    trace = _staged(traces)
    if trace is None:
        return []
    said: dict[str, dict[str, None]] = {}
    for begin_s, _, tint in _parts(traces):
        # of the rows drawn, the next one after the event
        told = [
            event.event
            for event in events
            if event.vehicle == trace.name
            and event.time_s <= begin_s
            and not event.event.startswith(NOT_PARTS)
        ]
        if told:
            said.setdefault(tint, {})[told[-1]] = None
    return [
        Patch(facecolor=tint, edgecolor=GRAY, linewidth=0.4, label="\n".join(words))
        for tint, words in said.items()
    ]


def _staged(traces: Sequence[Trace]) -> Trace | None:
    """The only vehicle whose task has parts."""
    staged = [trace for trace in traces if (np.nan_to_num(trace.phase) > 0.0).any()]
    return staged[0] if len(staged) == 1 else None


def _parts(traces: Sequence[Trace]) -> tuple[tuple[float, float, str], ...]:
    """When the only vehicle whose task has parts was at which of them."""
    trace = _staged(traces)
    if trace is None:
        return ()
    phase, time_s = np.nan_to_num(trace.phase, nan=-1.0), trace.time_s
    begins = np.flatnonzero(np.diff(phase, prepend=np.nan) != 0.0)
    if len(begins) > MAX_PARTS:
        return ()
    ends = [*begins[1:], len(phase) - 1]
    return tuple(
        (float(time_s[begin]), float(time_s[end]), TINTS[int(phase[begin]) % len(TINTS)])
        for begin, end in zip(begins, ends, strict=True)
    )


def _draw_panel(axes: Axes, panel: PlotPanel, height_in: float) -> None:
    width = 1.3 if len(panel.lines) <= FEW_VEHICLES else 0.6
    for begin_s, end_s, tint in panel.parts:
        axes.axvspan(begin_s, end_s, facecolor=tint, edgecolor="none", zorder=0.5)
    for line in panel.lines:
        alone = np.count_nonzero(np.isfinite(line.values)) == 1  # a line of one point shows nothing
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
        list_beside(axes, _named(panel, height_in + GAP), at=(1.015, 1.0))


def _named(panel: PlotPanel, room_in: float) -> list[Artist]:
    """What stands beside a panel: as many curves as the room holds, one wish, and notes."""
    plain = [line for line in panel.lines if not line.dashed]
    asked = [line.label for line in panel.lines if line.dashed][:1]
    room_in -= sum(map(listed_height_in, [*asked, *panel.notes]))
    ends_in = np.cumsum([listed_height_in(line.label) for line in plain])
    count = len(plain)
    if len(plain) and ends_in[-1] > room_in:
        count = int(np.count_nonzero(ends_in + listed_height_in("more") <= room_in))
    more = len(plain) - count
    notes = [f"and {more} more"] if more else []
    named: list[Artist] = [
        Line2D([], [], color=line.color, label=line.label) for line in plain[:count]
    ]
    dashes = (0, (3, 2))
    wishes = [
        Line2D([], [], color=GRAY, linewidth=1.0, linestyle=dashes, label=label) for label in asked
    ]
    said = [Line2D([], [], linestyle="", label=note) for note in [*notes, *panel.notes]]
    return [*named, *wishes, *said]
