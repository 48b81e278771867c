"""The ground, persons and the sources of plumes from above: light patches, and marks."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from mpl_toolkits.mplot3d import Axes3D

from kittiwake.analysis.overview.environment_layers import EnvironmentLayers, GroundClasses

# by class of the ground; what is open stays white
SHADES = {1: ("clutter", "#EFE6CF"), 2: ("hides persons", "#CFDDC0")}
PERSON: dict[str, Any] = {"marker": "*", "color": "#A4262C", "markersize": 7.0, "linestyle": ""}
SOURCE: dict[str, Any] = {"marker": "^", "color": "#7B4F9D", "markersize": 6.0, "linestyle": ""}


def draw_environment(axes: Axes, nature: EnvironmentLayers) -> None:
    """All of it but the names, within the limits that the map has."""
    if nature.ground is not None:
        _draw_ground(axes, nature.ground)
    if nature.persons is not None:
        persons = nature.persons.places_world_m[:, :2]
        axes.plot(*persons.T, zorder=2.7, scalex=False, scaley=False, **PERSON)
    draw_sources(axes, nature)


def draw_sources(axes: Axes, nature: EnvironmentLayers) -> None:
    """The sources of plumes, on a map or in space."""
    dimensions = 3 if isinstance(axes, Axes3D) else 2
    for spots in nature.sources:
        places = spots.places_world_m[:, :dimensions]
        axes.plot(*places.T, zorder=2.7, scalex=False, scaley=False, **SOURCE)


def environment_marks(nature: EnvironmentLayers) -> list[Artist]:
    """One sample of each kind of it."""
    marks: list[Artist] = []
    if nature.ground is not None:
        there = [SHADES[kind] for kind in SHADES if (nature.ground.classes == kind).any()]
        marks += [Patch(facecolor=shade, label=label) for label, shade in there]
    if nature.persons is not None and len(nature.persons.places_world_m):
        marks.append(Line2D([], [], label=nature.persons.name, **PERSON))
    if nature.sources:
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
