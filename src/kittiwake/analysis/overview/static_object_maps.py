"""Drawing of static objects on maps: outlines, shaded boxes with names and arrows, marks."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.transforms import Bbox
from mpl_toolkits.mplot3d import Axes3D
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from kittiwake.analysis.overview.environment_layers import EnvironmentLayers
from kittiwake.analysis.overview.environment_maps import (
    SOURCE,
    draw_environment,
    draw_sources,
    environment_marks,
)
from kittiwake.analysis.overview.look import SMALL, width_in
from kittiwake.analysis.overview.scene import MapScene
from kittiwake.analysis.overview.static_objects import (
    DeckOutline,
    Obstacle,
    RegionBox,
    StaticObjects,
)
from kittiwake.analysis.overview.surfaces import (
    draw_surfaces_from_above,
    draw_surfaces_in_space,
    surfaces_in,
)
from kittiwake.analysis.overview.trace import Trace

SHADES = {"m/s": "#56B4E9", "N": "#E69F00"}
INKS = {"m/s": "#1F6F9F", "N": "#8A6000"}
KINDS = {"m/s": "box of wind", "N": "box of force"}
DECK = "#4D4D4D"
OBSTACLE = "#7A4B2A"
OBSTACLE_LOOK: dict[str, Any] = {"color": OBSTACLE, "linewidth": 0.9}
FAINT, LIGHT = 0.1, 0.25
PATH_DOTS = (0, (1, 1.5))
START_DASHES = (0, (3, 2))
ARROW_SHARE = 0.6  # of a box's shorter side
STILL_M = 1e-3
# faces of a box by the indices of its corners
FACES = np.array(
    [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
)
MARGIN_IN, LINE_IN = 0.04, 0.15
HALO: list[AbstractPathEffect] = [withStroke(linewidth=2.5, foreground="white")]

Flat = Float64[np.ndarray, "2"]
Limits = Float64[np.ndarray, "2 2"]


def draw_static_objects_in_space(axes: Axes3D, scene: MapScene) -> None:
    """Draw boxes within the limits, obstacles, and decks at the start and at the end."""
    for box in scene.objects.boxes:
        _draw_box_in_space(axes, box, scene)
    for obstacle in scene.objects.obstacles:
        for line in obstacle.lines_world_m:
            inside = ((line >= scene.low) & (line <= scene.high)).all(axis=1, keepdims=True)
            axes.plot(*np.where(inside, line, np.nan).T, **OBSTACLE_LOOK)
    draw_surfaces_in_space(axes, surfaces_in(scene.large, scene.low, scene.high), OBSTACLE)
    draw_sources(axes, scene.objects.layers)
    for platform in scene.objects.platforms:
        _draw_platform_in_space(axes, platform, scene)


def _draw_box_in_space(axes: Axes3D, box: RegionBox, scene: MapScene) -> None:
    low, high = np.maximum(box.low, scene.low), np.minimum(box.high, scene.high)
    if (low >= high).any():
        return
    shade = SHADES[box.unit]
    look = {"facecolor": to_rgba(shade, FAINT), "edgecolor": to_rgba(shade, 0.6), "linewidth": 0.7}
    faces = box.corners_world_m[FACES]
    if box.is_upright:
        axes.add_collection3d(_polygons([*np.clip(faces, low, high)], look))
    else:
        # matplotlib leaves out the faces that reach beyond the limits
        axes.add_collection3d(_polygons([*faces], look | {"axlim_clip": True}))
    x, y, _ = ((low + high) / 2).tolist()
    axes.text(x, y, float(high[2]), box.name, ha="center", **_text_style(INKS[box.unit]))


def _draw_platform_in_space(axes: Axes3D, platform: DeckOutline, scene: MapScene) -> None:
    for corners, look in _outlines(platform):
        if _is_inside(corners, scene):
            axes.add_collection3d(_polygons([corners], look))
    _draw_path(axes, platform, dimensions=3)


def draw_static_objects_from_above(axes: Axes, scene: MapScene, traces: Sequence[Trace]) -> None:
    """Draw all objects with names, which cover as little as possible of the paths."""
    draw_environment(axes, scene.objects.layers)
    limits = np.array([axes.get_xlim(), axes.get_ylim()]).T
    low, high = (
        [*corner, z] for corner, z in zip(limits, (scene.low[2], scene.high[2]), strict=True)
    )
    draw_surfaces_from_above(
        axes, surfaces_in(scene.large, np.array(low), np.array(high)), OBSTACLE
    )
    names = _Names(axes, traces)
    _name_sources(names, scene.objects.layers, limits)
    for box in scene.objects.boxes:
        _draw_box_from_above(axes, box, names, limits)
    for obstacle in scene.objects.obstacles:
        _draw_obstacle_from_above(axes, obstacle, names, limits)
    for platform in scene.objects.platforms:
        for corners, look in _outlines(platform):
            axes.add_patch(Polygon(corners[:, :2], closed=True, zorder=1.4, **look))
        _draw_path(axes, platform, dimensions=2)
        end = platform.corners_world_m[-1, :, :2]
        low, high = np.maximum(end.min(axis=0), limits[0]), np.minimum(end.max(axis=0), limits[1])
        if (low < high).all():
            names.write(platform.name, DECK, low, high)


def _name_sources(names: "_Names", layers: EnvironmentLayers, limits: Limits) -> None:
    for spots in layers.sources:
        for place in spots.places_world_m[:, :2]:
            if ((place > limits[0]) & (place < limits[1])).all():
                names.write(spots.name, str(SOURCE["color"]), place, place)


def _draw_box_from_above(axes: Axes, box: RegionBox, names: "_Names", limits: Limits) -> None:
    shade = SHADES[box.unit]
    low, high = np.maximum(box.low[:2], limits[0]), np.minimum(box.high[:2], limits[1])
    if (low >= high).any():
        return
    level = box.corners_world_m[:, :2]
    axes.add_patch(
        Polygon(
            level[ConvexHull(level).vertices],
            closed=True,
            facecolor=to_rgba(shade, LIGHT),
            edgecolor=shade,
            linewidth=0.8,
            zorder=1.2,
        )
    )
    _draw_effect(axes, box, low, high)
    names.write(box.label, INKS[box.unit], low, high)


def _draw_obstacle_from_above(
    axes: Axes, obstacle: Obstacle, names: "_Names", limits: Limits
) -> None:
    for line in obstacle.lines_world_m:
        axes.plot(*line[:, :2].T, zorder=1.3, scalex=False, scaley=False, **OBSTACLE_LOOK)
    points = obstacle.points_world_m[:, :2]
    low = np.maximum(points.min(axis=0), limits[0])
    high = np.minimum(points.max(axis=0), limits[1])
    if (low < high).all():
        names.write(obstacle.name, OBSTACLE, low, high)


def static_object_marks(objects: StaticObjects) -> list[Artist]:
    """Return one legend entry for each kind of static object."""
    units = dict.fromkeys(box.unit for box in objects.boxes)
    marks: list[Artist] = [
        Patch(facecolor=to_rgba(SHADES[unit], LIGHT), edgecolor=SHADES[unit], label=KINDS[unit])
        for unit in units
    ]
    looks = [look for platform in objects.platforms for _, look in _outlines(platform)]
    moving = any(look["linestyle"] == START_DASHES for look in looks)
    if objects.obstacles:
        marks.append(Line2D([], [], label="obstacle", **OBSTACLE_LOOK))
    labels = {"-": "deck at the end" if moving else "deck", START_DASHES: "deck at the start"}
    for style, label in labels.items():
        look = next((look for look in looks if look["linestyle"] == style), None)
        if look is not None:
            marks.append(Patch(**look, label=label))
    return [*marks, *environment_marks(objects.layers)]


def _outlines(platform: DeckOutline) -> list[tuple[Float64[np.ndarray, "4 3"], dict[str, Any]]]:
    """Return a deck's corners at the end of the flight, and at the start if different."""
    start, end = platform.corners_world_m[0], platform.corners_world_m[-1]
    look = {"edgecolor": DECK, "linewidth": 0.9}
    shown: list[tuple[Float64[np.ndarray, "4 3"], dict[str, Any]]] = [
        (end, look | {"facecolor": to_rgba(DECK, LIGHT), "linestyle": "-"})
    ]
    if np.abs(end - start).max() > STILL_M:
        shown.append((start, look | {"facecolor": "none", "linestyle": START_DASHES}))
    return shown


def _draw_path(axes: Axes, platform: DeckOutline, *, dimensions: int) -> None:
    path = platform.center_world_m[:, :dimensions]
    if np.ptp(path, axis=0).max() > STILL_M:
        axes.plot(*path.T, color=DECK, linewidth=0.9, linestyle=PATH_DOTS, zorder=1.5)


def _draw_effect(axes: Axes, box: RegionBox, low: np.ndarray, high: np.ndarray) -> None:
    """Draw an arrow along the wind or force of a box, if it has a horizontal part."""
    level = box.effect_world[:2]
    size = float(np.linalg.norm(level))
    if size < 0.1 * float(np.linalg.norm(box.effect_world)) or size == 0.0:
        return
    middle, half = (low + high) / 2, level / size * ARROW_SHARE * min(high - low) / 2
    axes.annotate(
        "",
        xy=(middle + half).tolist(),
        xytext=(middle - half).tolist(),
        arrowprops={
            "arrowstyle": "-|>,head_width=0.22,head_length=0.4",
            "color": INKS[box.unit],
            "linewidth": 1.3,
            "shrinkA": 0.0,
            "shrinkB": 0.0,
        },
        zorder=2.9,
    )


class _Names:
    """Writer of names on a map, which avoids other text and covers few paths and marks."""

    def __init__(self, axes: Axes, traces: Sequence[Trace]) -> None:
        figure = axes.get_figure(root=True)
        assert figure is not None
        self._axes, self._dpi = axes, figure.dpi
        self._page = axes.get_window_extent()
        paths = [trace.position_world_m[:, :2] for trace in traces]
        marks = [np.array([line.get_xdata(), line.get_ydata()], float).T for line in axes.lines]
        points = np.concatenate([np.empty((0, 2)), *paths, *marks])
        self._busy = axes.transData.transform(points[np.isfinite(points).all(axis=1)])
        self._occupied = [text.get_window_extent() for text in axes.texts if text.get_text()]

    def write(self, name: str, ink: str, low: Flat, high: Flat) -> None:
        """Write a name in a corner of a rectangle, or beside one if it does not fit."""
        size = np.array([width_in(name), LINE_IN]) * self._dpi
        corners = [Bbox([corner, corner + size]) for corner in self._corners(size, low, high)]
        chosen = min(corners, key=self._covered)
        self._occupied.append(chosen)
        x, y = self._axes.transData.inverted().transform(chosen.min).tolist()
        self._axes.text(x, y, name, zorder=4.8, va="bottom", **_text_style(ink))

    def _corners(self, size: Flat, low: Flat, high: Flat) -> list[Flat]:
        gap = MARGIN_IN * self._dpi
        low, high = self._axes.transData.transform([low, high])
        inside = product((high[1] - gap - size[1], low[1] + gap), (low[0] + gap, high[0] - gap))
        outside = product((high[1] + gap, low[1] - gap - size[1]), (low[0], high[0]))
        ends = [*(inside if (high - low > size + 2 * gap).all() else ()), *outside]
        # at the right, text ends at the edge of the rectangle
        middle = (low[0] + high[0]) / 2
        return [np.array([x if x < middle else x - size[0], y]) for y, x in ends]

    def _covered(self, words: Bbox) -> tuple[bool, int, int]:
        """Return whether text leaves the map, and numbers of covered texts and path points."""
        gap = MARGIN_IN * self._dpi
        low, high = np.array(words.min), np.array(words.max)
        beyond = np.any(low < self._page.min) or np.any(high > self._page.max)
        under = ((self._busy > low - gap) & (self._busy < high + gap)).all(axis=1)
        others = [other for other in self._occupied if words.overlaps(other)]
        return bool(beyond), len(others), int(np.count_nonzero(under))


def _text_style(ink: str) -> dict[str, Any]:
    return {"fontsize": SMALL, "color": ink, "parse_math": False, "path_effects": HALO}


def _is_inside(corners: Float64[np.ndarray, "4 3"], scene: MapScene) -> bool:
    return bool((corners >= scene.low).all() and (corners <= scene.high).all())


def _polygons(
    corners: Sequence[Float64[np.ndarray, "4 3"]], look: dict[str, Any]
) -> Poly3DCollection:
    return Poly3DCollection(list(corners), **look)
