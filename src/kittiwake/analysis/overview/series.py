"""Time series below each other on one time axis: of one vehicle, or of many compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kittiwake.analysis.overview.inputs import input_panels
from kittiwake.analysis.overview.look import GREY, HUES, NORMAL, box, few_ticks, list_beside
from kittiwake.analysis.overview.trace import Trace
from kittiwake.analysis.summary import SETPOINT_WORLD_M

LEFT, RIGHT, BOTTOM, TOP, GAP = 8.35, 14.4, 0.95, 7.55, 0.14
SETPOINT_YAW = "setpoint.yaw_rad"
SETPOINT_HEIGHT = "setpoint.height_world_m"
SETPOINT_VELOCITY_WORLD_MPS = tuple(f"setpoint.velocity_{axis}_world_mps" for axis in "xyz")
MAX_LISTED = 6
APART_FACTOR = 4.0
FEW_VEHICLES = 12

Series = Float64[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Line:
    """One curve; a dashed one is what was asked for."""

    label: str
    time_s: Series
    values: Series
    colour: str
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves on one axis; ``listed`` says whether they are named beside it."""

    label: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    listed: bool = True


def vehicle_panels(trace: Trace) -> list[Panel]:
    """All of one vehicle: position, attitude, speed and inputs."""
    return [
        *_position_panels(trace),
        _tilt_panel(trace),
        _yaw_panel(trace),
        _speed_panel(trace),
        *_input_panels(trace),
    ]


def fleet_panels(traces: Sequence[Trace], colours: Sequence[str]) -> list[Panel]:
    """What compares vehicles: distance to the set point where there is one, height and speed."""
    panels = []
    if any(trace.has(SETPOINT_WORLD_M) for trace in traces):
        errors = [
            np.linalg.norm(trace.position_world_m - trace.setpoint_world_m, axis=1)
            for trace in traces
        ]
        panels.append(_fleet_panel("position error (m)", traces, errors, colours))
    heights = [trace.position_world_m[:, 2] for trace in traces]
    speeds = [trace.speed_mps for trace in traces]
    panels.append(_fleet_panel("height z (m)", traces, heights, colours))
    panels.append(_fleet_panel("speed (m/s)", traces, speeds, colours))
    return panels


def draw_panels(figure: Figure, panels: Sequence[Panel], span_s: tuple[float, float]) -> list[Axes]:
    """The panels from top to bottom; the lowest one has the time axis' labels."""
    height = (TOP - BOTTOM + GAP) / len(panels) - GAP
    drawn: list[Axes] = []
    for row, panel in enumerate(panels):
        top = TOP - row * (height + GAP)
        axes = figure.add_axes(
            box(LEFT, top - height, RIGHT, top), sharex=drawn[0] if drawn else None
        )
        _draw_panel(axes, panel)
        axes.tick_params(labelbottom=row == len(panels) - 1)
        drawn.append(axes)
    drawn[0].set_xlim(*span_s)
    drawn[-1].set_xlabel("time (s)", fontsize=NORMAL)
    return drawn


def readable_yaw_deg(yaw_deg: Series) -> Series:
    """Yaw without jumps by 360 degrees; of a vehicle that spins, cut where it jumps.

    Turned on without limit, a spin's angle would leave no room to read anything else.
    """
    known = np.isfinite(yaw_deg)
    if not known.any():
        return yaw_deg
    smooth = np.full_like(yaw_deg, np.nan)
    smooth[known] = np.unwrap(yaw_deg[known], period=360.0)
    smooth -= 360.0 * np.round(np.nanmean(smooth) / 360.0)
    return smooth if np.nanmax(np.abs(smooth)) <= 360.0 else cut_at_jumps(yaw_deg)


def cut_at_jumps(angle_deg: Series) -> Series:
    """An angle with NaN in each row that comes after a jump of more than half a turn."""
    jumps = np.abs(np.diff(angle_deg, prepend=angle_deg[:1])) > 180.0
    return np.where(jumps, np.nan, angle_deg)


def _position_panels(trace: Trace) -> list[Panel]:
    """All coordinates together, unless the height is so far off that they would look constant."""
    wanted = trace.setpoint_world_m
    if not np.isfinite(wanted[:, 2]).any():
        wanted[:, 2] = trace.table.part((SETPOINT_HEIGHT,))[:, 0]
    position = trace.position_world_m
    lines = _lines(trace, "xyz", position)
    if not _height_is_apart(position):
        return [Panel("position\n(m)", lines + _wanted(trace, wanted))]
    return [
        Panel("position\n(m)", lines[:2] + _wanted(trace, wanted[:, :2])),
        Panel("height\n(m)", lines[2:] + _wanted(trace, wanted[:, 2:], HUES[2:])),
    ]


def _height_is_apart(position_m: Float64[np.ndarray, "rows 3"]) -> bool:
    known = position_m[np.isfinite(position_m).all(axis=1)]
    if not len(known):
        return False
    low, high = known.min(axis=0), known.max(axis=0)
    level = float(max(high[:2]) - min(low[:2]))
    return float(max(high) - min(low)) > APART_FACTOR * max(level, float(high[2] - low[2]))


def _tilt_panel(trace: Trace) -> Panel:
    angles = trace.roll_pitch_yaw_deg[:, :2]
    return Panel("attitude\n(deg)", _lines(trace, ("roll", "pitch"), angles))


def _yaw_panel(trace: Trace) -> Panel:
    yaw = readable_yaw_deg(trace.roll_pitch_yaw_deg[:, 2])
    wanted = np.degrees(trace.table.part((SETPOINT_YAW,))[:, 0])
    # a yaw and the same one turn on are one wish: the one nearest to what is drawn is meant
    nearest = wanted + 360.0 * np.round((yaw - wanted) / 360.0)
    lines = _lines(trace, ("yaw",), yaw[:, None], HUES[2:])
    return Panel("yaw\n(deg)", lines + _wanted(trace, cut_at_jumps(nearest)[:, None], HUES[2:]))


def _speed_panel(trace: Trace) -> Panel:
    velocity = trace.table.part(SETPOINT_VELOCITY_WORLD_MPS)
    asked = np.isfinite(velocity[:, 0])
    wanted = np.where(asked, np.sqrt(np.nansum(np.square(velocity), axis=1)), np.nan)
    lines = _lines(trace, ("speed",), trace.speed_mps[:, None])
    return Panel("speed\n(m/s)", lines + _wanted(trace, wanted[:, None]))


def _input_panels(trace: Trace) -> list[Panel]:
    panels = []
    for panel in input_panels(trace):
        values = np.stack([item.values for item in panel.inputs], axis=1)
        labels = [item.label for item in panel.inputs]
        panels.append(Panel(panel.label, _lines(trace, labels, values), panel.notes))
    return panels


def _lines(
    trace: Trace,
    labels: Sequence[str],
    values: Float64[np.ndarray, "rows lines"],
    colours: Sequence[str] = HUES,
) -> tuple[Line, ...]:
    return tuple(
        Line(label, trace.time_s, values[:, i], colours[i % len(colours)])
        for i, label in enumerate(labels)
    )


def _wanted(
    trace: Trace, values: Float64[np.ndarray, "rows lines"], colours: Sequence[str] = HUES
) -> tuple[Line, ...]:
    """Dashed curves of those columns that hold a number."""
    return tuple(
        Line("set point", trace.time_s, column, colours[i], dashed=True)
        for i, column in enumerate(values.T)
        if np.isfinite(column).any()
    )


def _fleet_panel(
    label: str, traces: Sequence[Trace], values: Sequence[Series], colours: Sequence[str]
) -> Panel:
    rows = zip(traces, values, colours, strict=True)
    lines = tuple(Line(trace.name, trace.time_s, own, colour) for trace, own, colour in rows)
    return Panel(label, lines, listed=False)


def _draw_panel(axes: Axes, panel: Panel) -> None:
    width = 1.3 if len(panel.lines) <= FEW_VEHICLES else 0.6
    for line in panel.lines:
        alone = np.count_nonzero(np.isfinite(line.values)) == 1  # a line of one point shows nothing
        axes.plot(
            line.time_s,
            line.values,
            color=line.colour,
            linewidth=1.0 if line.dashed else width,
            linestyle=(0, (4, 2.5)) if line.dashed else "-",
            marker="." if alone else "",
            alpha=0.7 if len(panel.lines) > FEW_VEHICLES else 1.0,
            zorder=2.5 if line.dashed else 2.0,
        )
    few_ticks(axes)
    axes.set_ylabel(panel.label, fontsize=NORMAL, parse_math=False)
    axes.yaxis.set_label_coords(-0.085, 0.5)
    if panel.listed:
        list_beside(axes, _named(panel), at=(1.015, 1.0))


def _named(panel: Panel) -> list[Artist]:
    """What stands beside a panel: its first curves, one sample of a set point, and its notes."""
    plain = [line for line in panel.lines if not line.dashed]
    named: list[Artist] = [
        Line2D([], [], color=line.colour, label=line.label) for line in plain[:MAX_LISTED]
    ]
    more = len(plain) - MAX_LISTED
    notes = [*panel.notes, f"and {more} more"] if more > 0 else list(panel.notes)
    if len(plain) < len(panel.lines):
        dashes = (0, (3, 2))
        named.append(Line2D([], [], color=GREY, linewidth=1.0, linestyle=dashes, label="set point"))
    return named + [Line2D([], [], linestyle="", label=note) for note in notes]
