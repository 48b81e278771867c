"""Drawing of the ground, persons and sources of plumes on maps."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d import Axes3D

from kittiwake.analysis.overview.environment_layers import EnvironmentLayers, GroundClasses

# label and color by ground class; open ground is white
SHADES = {1: ("clutter", "#EFE6CF"), 2: ("hides persons", "#CFDDC0")}
PERSON: dict[str, Any] = {"marker": "*", "color": "#A4262C", "markersize": 7.0, "linestyle": ""}
SOURCE: dict[str, Any] = {"marker": "^", "color": "#7B4F9D", "markersize": 6.0, "linestyle": ""}


def draw_environment(axes: Axes, layers: EnvironmentLayers) -> None:
    """Draw all layers without names, within the limits of the map."""
    if layers.ground is not None:
        _draw_ground(axes, layers.ground)
    if layers.persons is not None:
        persons = layers.persons.places_world_m[:, :2]
        axes.plot(*persons.T, zorder=2.7, scalex=False, scaley=False, **PERSON)
    draw_sources(axes, layers)


def draw_sources(axes: Axes, layers: EnvironmentLayers) -> None:
    """Draw the sources of plumes, in a map or in 3D."""
    dimensions = 3 if isinstance(axes, Axes3D) else 2
    for spots in layers.sources:
        places = spots.places_world_m[:, :dimensions]
        axes.plot(*places.T, zorder=2.7, scalex=False, scaley=False, **SOURCE)


def environment_marks(layers: EnvironmentLayers) -> list[Artist]:
    """Return one legend entry for each kind of layer."""
    marks: list[Artist] = []
    if layers.ground is not None:
        present = [SHADES[kind] for kind in SHADES if (layers.ground.classes == kind).any()]
        marks += [Patch(facecolor=shade, label=label) for label, shade in present]
    if layers.persons is not None and len(layers.persons.places_world_m):
        marks.append(Line2D([], [], label=layers.persons.name, **PERSON))
    if layers.sources:
        marks.append(Line2D([], [], label="source of a plume", **SOURCE))
    return marks


def _draw_ground(axes: Axes, ground: GroundClasses) -> None:
    first, last = min(SHADES), max(SHADES)
    limits = axes.get_xlim(), axes.get_ylim()
    axes.imshow(
        np.ma.masked_less(ground.classes.T, first),
        origin="lower",
        extent=ground.edges_m,
        interpolation="nearest",
        cmap=ListedColormap([shade for _, shade in SHADES.values()]),
        vmin=first,
        vmax=last,
        zorder=0.5,
    )
    axes.set(xlim=limits[0], ylim=limits[1])
