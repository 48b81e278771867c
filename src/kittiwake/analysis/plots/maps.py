"""Panels of paths: from above with north up, and in 3D."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import cos, degrees, radians, sin
from typing import Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_rgba
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Polygon
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from typing_extensions import override

from kittiwake.analysis.plots.environment_layers import GroundClasses
from kittiwake.analysis.plots.map_objects import GROUNDS, OBSTACLE, surfaces_in
from kittiwake.analysis.plots.map_path import MapPath
from kittiwake.analysis.plots.map_scene import MapScene, limits_of, stops
from kittiwake.analysis.plots.panels import MANY_CURVES, PANEL_SHARE, AbstractPanel, ColorScale
from kittiwake.analysis.plots.style import CURVES, GRAY, HALO, INK, SECOND_RUN, Looks, PlotStyle
from kittiwake.analysis.plots.traces import Trace, above_ground

# labels of paths and marks in the order of the key
ENTRIES = ("start", "end", "follows a deck", "setpoint", "legs")
MAX_STOPS = 40
# maximum number of waypoint numbers beside a position
MAX_NUMBERS = 3
ELEVATION_DEG, ALONG_EAST_DEG, ALONG_NORTH_DEG = 24.0, -62.0, -28.0
# margin of a map as a share of its size
MARGIN = 0.04
# width of maps as a share of the page, and the range of their heights
WIDTH_SHARE, HEIGHTS_IN = 0.33, (1.2, 3.3)
# share of the room of a 3D panel that its box takes, as its labels are outside
ZOOM = 0.76
SHADOW = "#BDBDBD"
FOLLOWING_DOTS = (0, (1, 1.2))
CONTOURS = 6
CONTOUR: Looks = {"colors": OBSTACLE, "linewidths": 0.6, "alpha": 0.6, "zorder": 1.1}
SURFACE: Looks = {
    "facecolor": to_rgba(OBSTACLE, 0.12),
    "edgecolor": to_rgba(OBSTACLE, 0.3),
    "linewidth": 0.3,
}
ARROW_SHARE = 0.6  # of a region's shorter side
AREA: Looks = {"color": GRAY, "linewidth": 0.8, "linestyle": (0, (5, 3)), "zorder": 1.2}

START: Looks = {"marker": "o", "markerfacecolor": "white", "markersize": 6.0, "linestyle": ""}
END: Looks = {"marker": "s", "markersize": 5.0, "linestyle": ""}
LOST: Looks = {"marker": "X", "markersize": 9.0, "linestyle": "", "markeredgecolor": "white"}
STOP: Looks = {"marker": "D", "markerfacecolor": "none", "markersize": 4.5, "linestyle": ""}
MOVING: Looks = CURVES["setpoint"] | {"color": GRAY}

# of any number; those of several paths differ
Points = Float64[np.ndarray, "_points 3"]


@dataclass(frozen=True, eq=False)
class PlanPanel(AbstractPanel):
    """Paths from above on equal axes, over colors of a field if there are some.

    Attributes:
        paths: the paths and marks.
        low: the west and south edge.
        high: the east and north edge.
        scene: what else is in the map.
        colors: the scale of field and samples.
        field: the values of a field from the south on.
    """

    paths: tuple[MapPath, ...]
    low: Float64[np.ndarray, "_axes"]
    high: Float64[np.ndarray, "_axes"]
    scene: MapScene | None = None
    colors: ColorScale | None = None
    field: Float64[np.ndarray, "north east"] | None = None
    width_share: float = WIDTH_SHARE
    names: tuple[str, ...] = ("map",)

    @override
    def height_in(self, style: PlotStyle) -> float:
        size = self.high - self.low
        return _height_in(float(size[1] / size[0]), style, self.width_share)

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        axes.set(xlim=(self.low[0], self.high[0]), ylim=(self.low[1], self.high[1]))
        axes.set_autoscale_on(False)
        axes.set_aspect("equal")
        axes.set(xlabel="east x (m)", ylabel="north y (m)")
        size = (self.high - self.low)[:2]
        across, along = (max(2, round(share * 6)) for share in size / max(size))
        axes.xaxis.set_major_locator(MaxNLocator(across, steps=[1, 2, 2.5, 5, 10]))
        axes.yaxis.set_major_locator(MaxNLocator(along, steps=[1, 2, 2.5, 5, 10]))
        if self.colors is not None:
            self._draw_field(axes, self.colors)
        if self.scene is not None:
            _draw_scene(axes, self.scene)
        for path in self.paths:
            _draw_path(axes, path, self.colors)
        if not any(np.isfinite(path.points_world_m).all(axis=1).any() for path in self.paths):
            axes.text(0.5, 0.5, "no position was recorded", transform=axes.transAxes, ha="center")

    def _draw_field(self, axes: Axes, colors: ColorScale) -> None:
        if self.field is not None:
            edges = (self.low[0], self.high[0], self.low[1], self.high[1])
            axes.imshow(self.field, origin="lower", extent=edges, zorder=0.5, **colors.looks)
        axes.grid(visible=False)
        colors.draw(axes)

    @override
    def finish(self, axes: Axes) -> bool:
        remove_overlapping(axes.texts)
        return False


def _height_in(aspect: float, style: PlotStyle, width_share: float = WIDTH_SHARE) -> float:
    """Return the height of a map of a height over its width, within bounds."""
    width_in = style.width_in * (width_share if style.wide else PANEL_SHARE)
    low_in, high_in = HEIGHTS_IN
    return min(max(aspect * width_in + 0.4, low_in), max(high_in, 0.9 * width_in))


def _draw_scene(axes: Axes, scene: MapScene) -> None:
    """Draw flight area, ground, contours of large surfaces, and objects with their names."""
    if scene.area is not None:
        (west, south, _), (east, north, _) = scene.area
        axes.plot([west, east, east, west, west], [south, south, north, north, south], **AREA)
    if scene.objects.layers.ground is not None:
        _draw_ground(axes, scene.objects.layers.ground)
    for surface in surfaces_in(scene.large, scene.low, scene.high):
        if np.nanmax(surface.z_m) > np.nanmin(surface.z_m):
            heights = np.ma.masked_invalid(surface.z_m)
            lines = axes.contour(surface.x_m, surface.y_m, heights, CONTOURS, **CONTOUR)
            axes.clabel(lines, fmt="%g m")
    for path in scene.objects.paths:
        _draw_path(axes, path)


def _draw_ground(axes: Axes, ground: GroundClasses) -> None:
    limits = axes.get_xlim(), axes.get_ylim()
    axes.imshow(
        np.ma.masked_less(ground.classes.T, min(GROUNDS)),
        origin="lower",
        extent=ground.edges_m,
        interpolation="nearest",
        cmap=ListedColormap([shade for _, shade in GROUNDS.values()]),
        vmin=min(GROUNDS),
        vmax=max(GROUNDS),
        zorder=0.5,
    )
    axes.set(xlim=limits[0], ylim=limits[1])


def _draw_path(axes: Axes, path: MapPath, colors: ColorScale | None = None) -> None:
    places = path.points_world_m[:, :2]
    if path.filled:
        axes.add_patch(Polygon(places, closed=True, **path.looks))
    elif path.values is not None and colors is not None:
        axes.scatter(*places.T, c=path.values, **colors.looks | path.looks)
    else:
        axes.plot(*places.T, **path.looks)
    if path.numbers:
        middle = places.mean(axis=0)
        for place, number in zip(places, path.numbers, strict=True):
            # away from the middle, where the paths are
            right, upper = (place >= middle).tolist()
            _write(axes, number, place, INK, right=right, upper=upper)
    if path.name:
        low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
        low = np.maximum(np.nanmin(places, axis=0), low)
        high = np.minimum(np.nanmax(places, axis=0), high)
        if (low <= high).all():
            corner = np.array([low[0], high[1]])
            _write(axes, path.name, corner, path.ink, right=True, upper=False)
            _draw_effect(axes, path, low, high)


def _write(axes: Axes, text: str, place: np.ndarray, ink: str, *, right: bool, upper: bool) -> None:
    across: Literal["left", "right"] = "left" if right else "right"
    up: Literal["bottom", "top"] = "bottom" if upper else "top"
    axes.annotate(
        text,
        place.tolist(),
        xytext=(4.0 if right else -4.0, 4.0 if upper else -4.0),
        textcoords="offset points",
        ha=across,
        va=up,
        color=ink,
        zorder=5.0,
        parse_math=False,
        path_effects=HALO,
        annotation_clip=True,
    )


def _draw_effect(axes: Axes, path: MapPath, low: np.ndarray, high: np.ndarray) -> None:
    """Draw an arrow along a wind or force in a rectangle, if it has a horizontal part."""
    effect = np.zeros(3) if path.effect_world is None else path.effect_world
    size = float(np.linalg.norm(effect[:2]))
    if size < 0.1 * float(np.linalg.norm(effect)) or size == 0.0:
        return
    middle, half = (low + high) / 2, effect[:2] / size * ARROW_SHARE * min(high - low) / 2
    looks = {"arrowstyle": "-|>,head_width=0.22,head_length=0.4", "color": path.ink}
    axes.annotate(
        "",
        xy=(middle + half).tolist(),
        xytext=(middle - half).tolist(),
        arrowprops=looks | {"linewidth": 1.3, "shrinkA": 0.0, "shrinkB": 0.0},
        zorder=2.9,
    )


def remove_overlapping(texts: Iterable[Text]) -> None:
    """Remove texts that would cover earlier ones."""
    kept: list[Any] = []
    for text in list(texts):
        extent = text.get_window_extent()
        if any(extent.overlaps(other) for other in kept):
            text.remove()
        else:
            kept.append(extent)


@dataclass(frozen=True, eq=False)
class SpacePanel(AbstractPanel):
    """Paths in 3D on equal axes, with their shadows on the floor."""

    projection: ClassVar[str | None] = "3d"

    paths: tuple[MapPath, ...]
    shadows: tuple[Points, ...]
    scene: MapScene
    names: tuple[str, ...] = ("3d",)

    @override
    def height_in(self, style: PlotStyle) -> float:
        size = self.scene.high - self.scene.low
        turn, tilt = radians(self._azimuth_deg), radians(ELEVATION_DEG)
        across = size[0] * abs(sin(turn)) + size[1] * abs(cos(turn))
        along = size[0] * abs(cos(turn)) + size[1] * abs(sin(turn))
        up = size[2] * cos(tilt) + along * sin(tilt)
        return _height_in(float(up / across) / ZOOM, style)

    @property
    def _azimuth_deg(self) -> float:
        """Direction of the view, by which the longer side is across the picture."""
        east, north, _ = self.scene.high - self.scene.low
        return ALONG_EAST_DEG if east >= north else ALONG_NORTH_DEG

    @override
    def draw(self, axes: Axes, style: PlotStyle) -> None:
        assert isinstance(axes, Axes3D)
        low, high = self.scene.low, self.scene.high
        size = high - low
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        zoom: Any = ZOOM  # matplotlib declares it as int by mistake
        axes.set_box_aspect((size / max(size)).tolist(), zoom=zoom)
        axes.view_init(ELEVATION_DEG, self._azimuth_deg)
        labels = ("east x (m)", "north y (m)", "up z (m)")
        for name, label, share in zip("xyz", labels, size / max(size), strict=True):
            axis = getattr(axes, f"{name}axis")
            axis.set_major_locator(MaxNLocator(5 if share > 0.6 else 3, steps=[1, 2, 2.5, 5, 10]))
            axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
            axis.set_label_text(label)
            axis.line.set_color(GRAY)
            # labels of the vertical axis are centered beside it
            axis.set_tick_params(pad=4.0 if name == "z" else 0.0)
            axis.labelpad = 7.0 if name == "z" else 2.0
        axes.patch.set_alpha(0.0)
        for surface in surfaces_in(self.scene.large, low, high):
            axes.add_collection3d(Poly3DCollection([*surface.cells_world_m], **SURFACE))
        for points in self.shadows:
            floor = np.where(np.isfinite(points[:, 2]), self.scene.floor_m, np.nan)
            axes.plot(*points[:, :2].T, floor, color=SHADOW, linewidth=1.0)
        for path in (*self.scene.objects.paths, *self.paths):
            points = path.points_world_m
            if not path.filled:
                axes.plot(*points.T, axlim_clip=True, **path.looks)
            elif ((points.max(axis=0) >= low) & (points.min(axis=0) <= high)).all():
                face = np.clip(points, low, high)
                axes.add_collection3d(Poly3DCollection([face], **path.looks))


def map_paths(
    traces: Sequence[Trace], colors: Sequence[str], scene: MapScene, seconds: Sequence[Trace] = ()
) -> list[MapPath]:
    """Return paths, setpoints, and marks where vehicles started, ended and were lost.

    Args:
        traces: the vehicles.
        colors: their colors.
        scene: the scene, below whose ground no setpoint is drawn.
        seconds: vehicles of a second run, which have the colors of the same vehicles.
    """
    few = len(traces) <= MANY_CURVES
    paths: list[MapPath] = []
    by_name = {trace.name: color for trace, color in zip(traces, colors, strict=True)}
    for trace, color in zip(traces, colors, strict=True):
        follows = trace.partner_world_m is not None
        line: Looks = {"linewidth": 1.6} if few else {"linewidth": 0.7, "alpha": 0.7}
        line |= {"color": color, "zorder": 3.0, "linestyle": FOLLOWING_DOTS if follows else "-"}
        label = "follows a deck" if follows else ""
        paths.append(MapPath(trace.position_world_m, line, label))
        if few and trace.legs_world_m is not None:
            places = np.concatenate([trace.position_world_m[:1], trace.legs_world_m])
            paths.append(MapPath(places, MOVING | {"zorder": 2.8}, "legs"))
        if few and not follows:
            paths += _setpoint_paths(trace, color, scene, numbered=len(traces) == 1)
    for second in seconds:
        line = CURVES[SECOND_RUN] | {"color": by_name[second.name], "zorder": 3.1}
        paths.append(MapPath(second.position_world_m, line))
    for trace, color in zip(traces, colors, strict=True):
        paths += _ends(trace, color, few=few)
    return paths


def _setpoint_paths(trace: Trace, color: str, scene: MapScene, *, numbered: bool) -> list[MapPath]:
    """Return setpoints as marks if they are few, else as the line of the moving setpoint."""
    wanted = above_ground(trace.setpoint_world_m, trace.position_world_m, scene.floor_m)
    inside = np.all((wanted >= scene.low) & (wanted <= scene.high), axis=1, keepdims=True)
    wanted = np.where(inside, wanted, np.nan)
    places = stops(wanted)
    if not places:
        return []
    if len(places) > MAX_STOPS:
        return [MapPath(wanted, MOVING | {"zorder": 2.8}, "setpoint")]
    looks = STOP | {"markeredgecolor": color, "color": color, "zorder": 3.2}
    numbers: tuple[str, ...] = ()
    # those above each other share their numbers
    level = stops(wanted, 2)
    if numbered and len(level) > 1:
        points = np.array([[*place, np.nan] for place in level])
        numbers = tuple(_numbers(found) for found in level.values())
        return [
            MapPath(np.array([*places]), looks, "setpoint"),
            MapPath(points, {"linestyle": ""}, numbers=numbers),
        ]
    return [MapPath(np.array([*places]), looks, "setpoint")]


def _numbers(found: Sequence[int]) -> str:
    shown = ", ".join(map(str, found[:MAX_NUMBERS]))
    return f"{shown}, …" if len(found) > MAX_NUMBERS else shown


def _ends(trace: Trace, color: str, *, few: bool) -> list[MapPath]:
    """Return the marks of start (for a few vehicles), and of the end or the loss."""
    known = trace.position_world_m[np.isfinite(trace.position_world_m).all(axis=1)]
    marks: list[MapPath] = []
    if len(known) and few:
        looks = START | {"markeredgecolor": color, "color": color, "zorder": 4.0}
        marks.append(MapPath(known[:1], looks, "start"))
    if len(known) and trace.loss is None:
        looks = END | {"markeredgecolor": color, "color": color, "zorder": 4.1}
        looks |= {} if few else {"markersize": 2.0}
        marks.append(MapPath(known[-1:], looks, "end"))
    if trace.loss is not None:
        looks = LOST | {"color": INK, "zorder": 4.5} | ({} if few else {"markersize": 6.0})
        marks.append(MapPath(trace.loss.position_world_m[None], looks))
    return marks


def path_entries(paths: Iterable[MapPath]) -> list[Artist]:
    """Return one entry of the key for each label of paths."""
    found = {path.label: path for path in paths if path.label}
    order = {label: place for place, label in enumerate(ENTRIES)}
    labels = sorted(found, key=lambda label: order.get(label, len(order)))
    return [found[label].entry for label in labels]


def map_limits(
    points_world_m: Float64[np.ndarray, "points _axes"],
) -> tuple[Float64[np.ndarray, "2"], Float64[np.ndarray, "2"]]:
    """Return the west and south, and the east and north edge of a map around points."""
    low, high = limits_of(points_world_m[:, :2])
    air = MARGIN * max(float((high - low).max()), 1.0)
    return low - air, high + air


def loss_entry(label: str) -> Artist:
    """Return the entry of the key for losses."""
    return Line2D([], [], color=INK, label=label, **LOST)


def scene_entries(scene: MapScene, *, shadows: bool) -> list[Artist]:
    """Return the entries of the key for wind, shadows, flight area and objects."""
    entries: list[Artist] = []
    if scene.wind_world_mps is not None:
        entries.append(_wind_entry(scene.wind_world_mps))
    if shadows:
        floor = "shadow on the ground" if scene.grounded else f"shadow at {scene.floor_m:.4g} m"
        entries.append(Line2D([], [], color=SHADOW, label=floor))
    if scene.area is not None:
        entries.append(Line2D([], [], label="flight area", **AREA))
    return [*entries, *path_entries(scene.objects.paths), *scene.objects.ground_entries]


def _wind_entry(wind_world_mps: Float64[np.ndarray, "2"]) -> Artist:
    """Return an arrow along the wind, with its speed and origin in words."""
    speed = float(np.hypot(*wind_world_mps))
    to_deg = degrees(np.arctan2(wind_world_mps[1], wind_world_mps[0]))
    label = f"wind {speed:.2g} m/s from {(270.0 - to_deg) % 360.0:.0f}°"
    arrow = MarkerStyle("$\\rightarrow$").rotated(deg=to_deg)
    return Line2D([], [], color=INK, linestyle="", marker=arrow, markersize=11.0, label=label)
