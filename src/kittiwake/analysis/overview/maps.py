"""Maps of paths: in 3D, and from above with north up."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.proj3d import proj_transform

from kittiwake.analysis.overview.look import (
    GRAY,
    INK,
    NORMAL,
    PALE,
    SMALL,
    box,
    few_ticks,
    list_beside,
)
from kittiwake.analysis.overview.scene import MapScene, above_ground, stops
from kittiwake.analysis.overview.series import FEW_VEHICLES
from kittiwake.analysis.overview.static_object_maps import (
    draw_static_objects_from_above,
    draw_static_objects_in_space,
    static_object_marks,
)
from kittiwake.analysis.overview.trace import Loss, Trace, without_value

SPACE_IN = (0.45, 4.3, 7.5, 8.15)
FIT_ITERATIONS = 3
PLAN_IN = (0.8, 0.95, 5.75, 4.15)
KEY_IN = (5.95, 0.95, 7.5, 4.15)
MAX_STOPS = 40
# maximum number of waypoint numbers beside a position
MAX_NUMBERS = 3
# positions of a number beside its waypoint: offsets in points, and alignment
NUMBER_SIDES: tuple[
    tuple[float, float, Literal["left", "right"], Literal["bottom", "top"]], ...
] = (
    (5.0, 5.0, "left", "bottom"),
    (-5.0, 5.0, "right", "bottom"),
    (5.0, -5.0, "left", "top"),
    (-5.0, -5.0, "right", "top"),
)
MAX_REASONS = 3
ELEVATION_DEG = 24.0
TICK_PAD, LABEL_PAD = 8.0, 21.0  # added by matplotlib to these distances in 3D
AREA_DASHES = (0, (5, 3))
SHADOW = "#BDBDBD"
FOLLOWING_DOTS = (0, (1, 1.2))

Marks = dict[str, Any]

START: Marks = {"marker": "o", "markerfacecolor": "white", "markersize": 6.5, "linestyle": ""}
END: Marks = {"marker": "s", "markersize": 5.5, "linestyle": ""}
LOST: Marks = {"marker": "X", "markersize": 9.0, "linestyle": "", "markeredgecolor": "white"}
STOP: Marks = {"marker": "D", "markerfacecolor": "none", "markersize": 4.5, "linestyle": ""}
HALO: list[AbstractPathEffect] = [withStroke(linewidth=2.5, foreground="white")]


def draw_space(
    figure: Figure, traces: Sequence[Trace], colors: Sequence[str], scene: MapScene
) -> Axes3D:
    """Draw the paths in 3D on equal axes, with their shadows on the floor."""
    axes = figure.add_axes(box(*SPACE_IN), projection="3d")
    assert isinstance(axes, Axes3D)
    _set_box(axes, scene)
    draw_static_objects_in_space(axes, scene)
    if scene.area is not None:
        for start, end in _edges(*scene.area):
            pair = np.stack([start, end]).T
            axes.plot(*pair, color=GRAY, linewidth=0.7, linestyle=AREA_DASHES)
    few = len(traces) <= FEW_VEHICLES
    for trace, color in zip(traces, colors, strict=True):
        x, y, z = trace.position_world_m.T
        if few:
            floor = np.where(np.isfinite(z), scene.floor_m, np.nan)
            axes.plot(x, y, floor, color=SHADOW, linewidth=1.0)
        _draw_path(axes, trace, (x, y, z), color, few=few)
        if few:
            _draw_stops(axes, trace, color, scene)
    _draw_ends(axes, traces, colors, dimensions=3)
    _fit_axes(axes, scene.high - scene.low)
    # the axes are a square inside the available area
    for line in (*axes.lines, *axes.collections):
        line.set_clip_on(False)
    return axes


def draw_plan(
    figure: Figure, traces: Sequence[Trace], colors: Sequence[str], scene: MapScene
) -> Axes:
    """Draw the paths from above on equal axes, east to the right and north up."""
    axes = figure.add_axes(box(*PLAN_IN))
    (west, east), (south, north) = _plan_limits(scene)
    axes.set_xlim(west, east)
    axes.set_ylim(south, north)
    axes.set_aspect("equal")
    few_ticks(axes, x=6, y=5)
    axes.set_xlabel("east x (m)", fontsize=NORMAL)
    axes.set_ylabel("north y (m)", fontsize=NORMAL)
    if scene.area is not None:
        (west, south, _), (east, north, _) = scene.area
        across, up = [west, east, east, west, west], [south, south, north, north, south]
        axes.plot(across, up, color=GRAY, linewidth=0.8, linestyle=AREA_DASHES)
    few = len(traces) <= FEW_VEHICLES
    for trace, color in zip(traces, colors, strict=True):
        x, y, _ = trace.position_world_m.T
        _draw_path(axes, trace, (x, y), color, few=few)
        if few:
            _draw_stops(axes, trace, color, scene, numbered=len(traces) == 1)
    _draw_ends(axes, traces, colors, dimensions=2)
    draw_static_objects_from_above(axes, scene, traces)
    if not any(np.isfinite(trace.position_world_m).all(axis=1).any() for trace in traces):
        axes.annotate(
            "no position was recorded",
            xy=(0.5, 0.5),
            xycoords="axes fraction",
            ha="center",
            va="center",
            color=GRAY,
        )
    return axes


def draw_key(
    figure: Figure, traces: Sequence[Trace], losses: Mapping[str, Loss], scene: MapScene
) -> Axes:
    """Draw the key beside the plan: wind direction and legend of the marks."""
    axes = figure.add_axes(box(*KEY_IN))
    axes.set_axis_off()
    axes.set_xlim(0.0, KEY_IN[2] - KEY_IN[0])
    axes.set_ylim(0.0, KEY_IN[3] - KEY_IN[1])
    top = 1.0
    if scene.wind_world_mps is not None:
        _draw_wind(axes, scene.wind_world_mps)
        top = 0.68
    list_beside(axes, _marks(traces, losses, scene), at=(0.0, top), wrap=20)
    return axes


def _plan_limits(scene: MapScene) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return east and north limits that contain the scene and have the plan's aspect ratio."""
    left, bottom, right, top = PLAN_IN
    page = np.array([right - left, top - bottom])
    middle = (scene.low + scene.high)[:2] / 2
    half = page * max((scene.high - scene.low)[:2] / page) / 2
    (west, south), (east, north) = (middle - half).tolist(), (middle + half).tolist()
    return (west, east), (south, north)


def _set_box(axes: Axes3D, scene: MapScene) -> None:
    low, high = scene.low, scene.high
    size = high - low
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_zlim(low[2], high[2])
    # the longer side is across the picture
    axes.view_init(elev=ELEVATION_DEG, azim=-62.0 if size[0] >= size[1] else -28.0)
    labels = ("east x (m)", "north y (m)", "up z (m)")
    for axis, label, share in zip("xyz", labels, size / max(size), strict=True):
        own = getattr(axes, f"{axis}axis")
        own.set_major_locator(MaxNLocator(5 if share > 0.6 else 3, steps=[1, 2, 2.5, 5, 10]))
        own.set_pane_color((1.0, 1.0, 1.0, 0.0))
        own.set_label_text(label, fontsize=NORMAL)
        own.line.set_color(GRAY)
        own.set_tick_params(labelsize=SMALL, pad=0)
        own.labelpad = 2.0
    # Tick labels of the vertical axis are centered: long ones need more padding, and more in a
    # narrow box, as matplotlib scales padding with its width.
    digits = max(len(f"{tick:g}") for tick in axes.zaxis.get_majorticklocs())
    narrow = max(size) / max(size[:2])
    axes.zaxis.set_tick_params(pad=(TICK_PAD + digits) * narrow - TICK_PAD)
    axes.zaxis.labelpad = (LABEL_PAD - 6.0 + 2.5 * digits) * narrow - LABEL_PAD
    axes.patch.set_alpha(0.0)


def _fit_axes(axes: Axes3D, size: Float64[np.ndarray, "3"]) -> None:
    """Set equal axes, centered and as large as their labels allow."""
    left, bottom, right, top = SPACE_IN
    start, end = np.array(SPACE_IN[:2]), np.array(SPACE_IN[2:])
    width, depth, height = (size / max(size)).tolist()
    zoom: Any = 1.0  # matplotlib declares it as int by mistake
    axes.set_box_aspect((width, depth, height))
    # text keeps its size when the box is scaled, so that one iteration is not exact
    for _ in range(FIT_ITERATIONS):
        low, high = _label_extent_in(axes)
        zoom *= float(min((end - start) / (high - low)))
        axes.set_box_aspect((width, depth, height), zoom=zoom)
    low, high = _label_extent_in(axes)
    x, y = (start + end) / 2 - (low + high) / 2
    axes.set_position(box(left + x, bottom + y, right + x, top + y))


def _label_extent_in(axes: Axes3D) -> tuple[np.ndarray, np.ndarray]:
    """Return the extent on the page, in inches, of the box and its labels."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # sets the positions of text in 3D
    low, high = _extent_in(axes)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        first, last = axis.get_view_interval()
        numbers = [tick.label1 for tick in axis.majorTicks if first <= tick.get_loc() <= last]
        for word in (axis.label, *numbers):
            occupied = word.get_window_extent()
            low = np.minimum(low, np.array(occupied.min) / figure.dpi)
            high = np.maximum(high, np.array(occupied.max) / figure.dpi)
    return low, high


def _extent_in(axes: Axes3D) -> tuple[np.ndarray, np.ndarray]:
    """Return the extent on the page, in inches, of the axes' box."""
    axes.apply_aspect()
    matrix = axes.get_proj()
    limits = (axes.get_xlim(), axes.get_ylim(), axes.get_zlim())
    flat = [proj_transform(*corner, matrix)[:2] for corner in product(*limits)]
    figure = axes.get_figure(root=True)
    assert figure is not None
    points_in = axes.transData.transform(flat) / figure.dpi
    return points_in.min(axis=0), points_in.max(axis=0)


def _edges(low: np.ndarray, high: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the twelve edges of a box."""
    corners = [np.where(ends, high, low) for ends in product([False, True], repeat=3)]
    for i, start in enumerate(corners):
        for end in corners[i + 1 :]:
            if np.count_nonzero(start != end) == 1:
                yield start, end


def _draw_path(
    axes: Axes,
    trace: Trace,
    path: tuple[Float64[np.ndarray, " rows"], ...],
    color: str,
    *,
    few: bool,
) -> None:
    """Draw a path as a line, dotted if the vehicle follows a deck."""
    width, alpha = (1.6, 1.0) if few else (0.7, 0.7)
    style = "-" if trace.partner_world_m is None else FOLLOWING_DOTS
    axes.plot(*path, color=color, linewidth=width, linestyle=style, alpha=alpha, zorder=3.0)


def _draw_stops(
    axes: Axes, trace: Trace, color: str, scene: MapScene, *, numbered: bool = False
) -> None:
    """Draw setpoints as marks if they are few, else as the line of the moving setpoint.

    Nothing is drawn for a vehicle that follows another, whose path is the setpoint.
    """
    if trace.partner_world_m is not None:
        return
    dimensions = 3 if isinstance(axes, Axes3D) else 2
    wanted = above_ground(trace.setpoint_world_m, trace.position_world_m, scene.floor_m)
    places = stops(wanted, dimensions)
    if len(places) > MAX_STOPS:
        axes.plot(
            *wanted[:, :dimensions].T,
            color=GRAY,
            linewidth=1.0,
            linestyle=(0, (4, 2.5)),
            zorder=2.8,
        )
        return
    for at in places:
        axes.plot(*([x] for x in at), markeredgecolor=color, zorder=3.2, **STOP)
    if numbered and len(places) > 1:
        _number_stops(axes, places)


def _number_stops(axes: Axes, places: Mapping[tuple[float, ...], Sequence[int]]) -> None:
    """Draw the numbers of setpoints in order, each on a side where it overlaps no other."""
    occupied: list[Bbox] = []
    for at, numbers in places.items():
        label = ", ".join(map(str, numbers[:MAX_NUMBERS]))
        label += ", …" if len(numbers) > MAX_NUMBERS else ""
        for x_pt, y_pt, across, up in NUMBER_SIDES:
            text = axes.annotate(
                label,
                xy=(at[0], at[1]),
                xytext=(x_pt, y_pt),
                textcoords="offset points",
                ha=across,
                va=up,
                fontsize=SMALL,
                zorder=5.0,
            )
            extent = text.get_window_extent()
            if not any(extent.overlaps(other) for other in occupied):
                text.set_path_effects(HALO)
                occupied.append(extent)
                break
            text.remove()


def _draw_ends(
    axes: Axes, traces: Sequence[Trace], colors: Sequence[str], *, dimensions: int
) -> None:
    """Draw marks where vehicles started (if they are few), ended, and were lost."""
    few = len(traces) <= FEW_VEHICLES
    for trace, color in zip(traces, colors, strict=True):
        position = trace.position_world_m
        known = position[np.isfinite(position).all(axis=1), :dimensions]
        if len(known) and few:
            axes.plot(*known[0][:, None], markeredgecolor=color, zorder=4.0, **START)
        if len(known) and trace.loss is None:
            end: Marks = END if few else END | {"markersize": 2.0}
            axes.plot(*known[-1][:, None], color=color, zorder=4.1, **end)
    for trace in traces:
        if trace.loss is not None and np.isfinite(trace.loss.position_world_m).all():
            cross: Marks = LOST if few else LOST | {"markersize": 6.0, "markeredgewidth": 0.5}
            at = trace.loss.position_world_m[:dimensions, None]
            axes.plot(*at, color=INK, zorder=4.5, **cross)


def _draw_wind(axes: Axes, wind_world_mps: Float64[np.ndarray, "2"]) -> None:
    """Draw the wind as an arrow, and its speed and origin as text."""
    speed = float(np.hypot(*wind_world_mps))
    east, north = 0.3 * wind_world_mps / speed
    from_deg = np.degrees(np.arctan2(-east, -north)) % 360.0
    middle_x, middle_y = 0.38, axes.get_ylim()[1] - 0.4
    axes.plot(middle_x, middle_y, "o", markersize=50.0, color="none", markeredgecolor=PALE)
    axes.annotate(
        "",
        xy=(middle_x + east, middle_y + north),
        xytext=(middle_x - east, middle_y - north),
        arrowprops={
            "arrowstyle": "-|>,head_width=0.28,head_length=0.5",
            "color": INK,
            "linewidth": 1.6,
            "shrinkA": 0.0,
            "shrinkB": 0.0,
        },
    )
    axes.text(
        middle_x + 0.48,
        middle_y,
        f"wind\n{speed:.2g} m/s\nfrom {from_deg:.0f}°",
        fontsize=SMALL,
        va="center",
        linespacing=1.25,
    )


def _marks(traces: Sequence[Trace], losses: Mapping[str, Loss], scene: MapScene) -> list[Artist]:
    """Return legend entries of everything in the maps."""
    few = len(traces) <= FEW_VEHICLES
    marks: list[Artist] = []
    if few and traces:
        marks.append(Line2D([], [], markeredgecolor=INK, label="start", **START))
    if any(trace.loss is None for trace in traces):
        end: Marks = END if few else END | {"markersize": 2.5}
        marks.append(Line2D([], [], color=INK, label="end", **end))
    marks += _losses(losses)
    alone = [trace for trace in traces if trace.partner_world_m is None]
    places = [stops(trace.setpoint_world_m) for trace in alone] if few else []
    if len(alone) < len(traces):
        dots = Line2D([], [], color=INK, linestyle=FOLLOWING_DOTS, label="follows a deck")
        marks.append(dots)
    if any(0 < len(place) <= MAX_STOPS for place in places):
        marks.append(Line2D([], [], markeredgecolor=INK, label="set point", **STOP))
    if any(len(place) > MAX_STOPS for place in places):
        dashes = (0, (4, 2.5))
        marks.append(Line2D([], [], color=GRAY, linestyle=dashes, label="set point"))
    if few and traces:
        floor = "shadow on the ground" if scene.grounded else f"shadow at {scene.floor_m:.4g} m"
        marks.append(Line2D([], [], color=SHADOW, label=floor))
    if scene.area is not None:
        marks.append(
            Line2D([], [], color=GRAY, linewidth=0.8, linestyle=AREA_DASHES, label="flight area")
        )
    return [*marks, *static_object_marks(scene.objects)]


def _losses(losses: Mapping[str, Loss]) -> Sequence[Artist]:
    """Return a legend entry for each reason of losses, the most frequent first."""
    counted = Counter(without_value(loss.reason) for loss in losses.values()).most_common()
    labels = [f"{n} {reason}" if len(losses) > 1 else reason for reason, n in counted]
    if len(labels) > MAX_REASONS:
        others = sum(n for _, n in counted[MAX_REASONS:])
        labels = [*labels[:MAX_REASONS], f"{others} lost for other reasons"]
    return [Line2D([], [], color=INK, label=label, **LOST) for label in labels]
