"""What is in the world on the maps: outlines, shaded boxes with names and arrows, and marks."""

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
WAY = (0, (1, 1.5))
START_DASHES = (0, (3, 2))
ARROW_SHARE = 0.6  # of a box's shorter side
STILL_M = 1e-3
# of a box, by the numbers of its corners
FACES = np.array(
    [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
)
MARGIN_IN, LINE_IN = 0.04, 0.15
HALO: list[AbstractPathEffect] = [withStroke(linewidth=2.5, foreground="white")]

Flat = Float64[np.ndarray, "2"]
Limits = Float64[np.ndarray, "2 2"]


def draw_static_objects_in_space(axes: Axes3D, scene: MapScene) -> None:
    """Boxes as far as they reach into the picture, and decks at the start and at the end."""
    for box in scene.standing.boxes:
        _draw_box_in_space(axes, box, scene)
    for obstacle in scene.standing.obstacles:
        for line in obstacle.lines_world_m:
            inside = ((line >= scene.low) & (line <= scene.high)).all(axis=1, keepdims=True)
            axes.plot(*np.where(inside, line, np.nan).T, **OBSTACLE_LOOK)
    draw_surfaces_in_space(axes, surfaces_in(scene.large, scene.low, scene.high), OBSTACLE)
    draw_sources(axes, scene.standing.nature)
    for platform in scene.standing.platforms:
        _draw_platform_in_space(axes, platform, scene)


def _draw_box_in_space(axes: Axes3D, box: RegionBox, scene: MapScene) -> None:
    low, high = np.maximum(box.low, scene.low), np.minimum(box.high, scene.high)
    if (low >= high).any():
        return
    shade = SHADES[box.unit]
    look = {"facecolor": to_rgba(shade, FAINT), "edgecolor": to_rgba(shade, 0.6), "linewidth": 0.7}
    faces = box.corners_world_m[FACES]
    if box.is_upright:
        axes.add_collection3d(_sheets([*np.clip(faces, low, high)], look))
    else:
        # matplotlib leaves out the faces that reach out of the picture
        axes.add_collection3d(_sheets([*faces], look | {"axlim_clip": True}))
    x, y, _ = ((low + high) / 2).tolist()
    axes.text(x, y, float(high[2]), box.name, ha="center", **_words(INKS[box.unit]))


def _draw_platform_in_space(axes: Axes3D, platform: DeckOutline, scene: MapScene) -> None:
    for corners, look in _outlines(platform):
        if _within(corners, scene):
            axes.add_collection3d(_sheets([corners], look))
    _draw_way(axes, platform, dimensions=3)


def draw_static_objects_from_above(axes: Axes, scene: MapScene, traces: Sequence[Trace]) -> None:
    """All with names, which stand where they cover the least of the paths."""
    draw_environment(axes, scene.standing.nature)
    limits = np.array([axes.get_xlim(), axes.get_ylim()]).T
    low, high = (
        [*corner, z] for corner, z in zip(limits, (scene.low[2], scene.high[2]), strict=True)
    )
    draw_surfaces_from_above(
        axes, surfaces_in(scene.large, np.array(low), np.array(high)), OBSTACLE
    )
    names = _Names(axes, traces)
    _name_sources(names, scene.standing.nature, limits)
    for box in scene.standing.boxes:
        _draw_box_from_above(axes, box, names, limits)
    for obstacle in scene.standing.obstacles:
        _draw_obstacle_from_above(axes, obstacle, names, limits)
    for platform in scene.standing.platforms:
        for corners, look in _outlines(platform):
            axes.add_patch(Polygon(corners[:, :2], closed=True, zorder=1.4, **look))
        _draw_way(axes, platform, dimensions=2)
        end = platform.corners_world_m[-1, :, :2]
        low, high = np.maximum(end.min(axis=0), limits[0]), np.minimum(end.max(axis=0), limits[1])
        if (low < high).all():
            names.write(platform.name, DECK, low, high)


def _name_sources(names: "_Names", nature: EnvironmentLayers, limits: Limits) -> None:
    for spots in nature.sources:
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
    names.write(box.said, INKS[box.unit], low, high)


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


def static_object_marks(standing: StaticObjects) -> list[Artist]:
    """One sample of each kind of thing that stands there."""
    units = dict.fromkeys(box.unit for box in standing.boxes)
    marks: list[Artist] = [
        Patch(facecolor=to_rgba(SHADES[unit], LIGHT), edgecolor=SHADES[unit], label=KINDS[unit])
        for unit in units
    ]
    looks = [look for platform in standing.platforms for _, look in _outlines(platform)]
    moving = any(look["linestyle"] == START_DASHES for look in looks)
    if standing.obstacles:
        marks.append(Line2D([], [], label="obstacle", **OBSTACLE_LOOK))
    labels = {"-": "deck at the end" if moving else "deck", START_DASHES: "deck at the start"}
    for style, label in labels.items():
        look = next((look for look in looks if look["linestyle"] == style), None)
        if look is not None:
            marks.append(Patch(**look, label=label))
    return [*marks, *environment_marks(standing.nature)]


def _outlines(platform: DeckOutline) -> list[tuple[Float64[np.ndarray, "4 3"], dict[str, Any]]]:
    """A deck's corners at the end of the flight, and at the start if it was elsewhere then."""
    start, end = platform.corners_world_m[0], platform.corners_world_m[-1]
    look = {"edgecolor": DECK, "linewidth": 0.9}
    shown: list[tuple[Float64[np.ndarray, "4 3"], dict[str, Any]]] = [
        (end, look | {"facecolor": to_rgba(DECK, LIGHT), "linestyle": "-"})
    ]
    if np.abs(end - start).max() > STILL_M:
        shown.append((start, look | {"facecolor": "none", "linestyle": START_DASHES}))
    return shown


def _draw_way(axes: Axes, platform: DeckOutline, *, dimensions: int) -> None:
    way = platform.center_world_m[:, :dimensions]
    if np.ptp(way, axis=0).max() > STILL_M:
        axes.plot(*way.T, color=DECK, linewidth=0.9, linestyle=WAY, zorder=1.5)


def _draw_effect(axes: Axes, box: RegionBox, low: np.ndarray, high: np.ndarray) -> None:
    """An arrow along which a box blows or pushes, if that shows from above."""
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
    """Writes names on a map where they cover no other words and the least of paths and marks."""

    def __init__(self, axes: Axes, traces: Sequence[Trace]) -> None:
        figure = axes.get_figure(root=True)
        assert figure is not None
        self._axes, self._dpi = axes, figure.dpi
        self._page = axes.get_window_extent()
        paths = [trace.position_world_m[:, :2] for trace in traces]
        marks = [np.array([line.get_xdata(), line.get_ydata()], float).T for line in axes.lines]
        points = np.concatenate([np.empty((0, 2)), *paths, *marks])
        self._busy = axes.transData.transform(points[np.isfinite(points).all(axis=1)])
        self._taken = [text.get_window_extent() for text in axes.texts if text.get_text()]

    def write(self, name: str, ink: str, low: Flat, high: Flat) -> None:
        """Writes a name in a corner of a rectangle, or beside one if there is no room."""
        size = np.array([width_in(name), LINE_IN]) * self._dpi
        corners = [Bbox([corner, corner + size]) for corner in self._corners(size, low, high)]
        chosen = min(corners, key=self._covered)
        self._taken.append(chosen)
        x, y = self._axes.transData.inverted().transform(chosen.min).tolist()
        self._axes.text(x, y, name, zorder=4.8, va="bottom", **_words(ink))

    def _corners(self, size: Flat, low: Flat, high: Flat) -> list[Flat]:
        gap = MARGIN_IN * self._dpi
        low, high = self._axes.transData.transform([low, high])
        inside = product((high[1] - gap - size[1], low[1] + gap), (low[0] + gap, high[0] - gap))
        outside = product((high[1] + gap, low[1] - gap - size[1]), (low[0], high[0]))
        ends = [*(inside if (high - low > size + 2 * gap).all() else ()), *outside]
        # at the right, words end where the rectangle does
        middle = (low[0] + high[0]) / 2
        return [np.array([x if x < middle else x - size[0], y]) for y, x in ends]

    def _covered(self, words: Bbox) -> tuple[bool, int, int]:
        """Whether words leave the map, how many others they cover, and how much of paths."""
        gap = MARGIN_IN * self._dpi
        low, high = np.array(words.min), np.array(words.max)
        beyond = np.any(low < self._page.min) or np.any(high > self._page.max)
        under = ((self._busy > low - gap) & (self._busy < high + gap)).all(axis=1)
        others = [other for other in self._taken if words.overlaps(other)]
        return bool(beyond), len(others), int(np.count_nonzero(under))


def _words(ink: str) -> dict[str, Any]:
    return {"fontsize": SMALL, "color": ink, "parse_math": False, "path_effects": HALO}


def _within(corners: Float64[np.ndarray, "4 3"], scene: MapScene) -> bool:
    return bool((corners >= scene.low).all() and (corners <= scene.high).all())


def _sheets(
    corners: Sequence[Float64[np.ndarray, "4 3"]], look: dict[str, Any]
) -> Poly3DCollection:
    return Poly3DCollection(list(corners), **look)
