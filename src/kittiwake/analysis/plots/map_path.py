"""Paths, outlines and marks on maps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from kittiwake.analysis.plots.style import GRAY, INK, Looks


@dataclass(frozen=True, eq=False)
class MapPath:
    """Points with their look on the maps.

    Attributes:
        points_world_m: the points.
        looks: the arguments of matplotlib.
        label: the entry of the key, if there is one.
        name: a text at the upper corner.
        numbers: texts beside the points.
        values: values at the points, which are drawn as colors of the field's scale.
        filled: whether the points are the corners of a face.
        effect_world: a vector that is drawn as an arrow.
    """

    points_world_m: Float64[np.ndarray, "points _axes"]
    looks: Looks
    label: str = ""
    name: str = ""
    numbers: tuple[str, ...] = ()
    values: Float64[np.ndarray, " points"] | None = None
    filled: bool = False
    effect_world: Float64[np.ndarray, "3"] | None = None

    @property
    def ink(self) -> str:
        """Color of the texts."""
        return self.looks.get("edgecolor" if self.filled else "color", INK)

    @property
    def entry(self) -> Artist:
        """Entry of the key; marks of vehicles, which have many colors, have that of text."""
        if self.filled:
            return Patch(label=self.label, **self.looks)
        if self.values is not None:
            looks: Looks = {"color": GRAY, "linestyle": "", "markeredgecolor": "white"}
            return Line2D([], [], label=self.label, marker=self.looks["marker"], **looks)
        neutral: Looks = {"color": INK, "markeredgecolor": INK}
        looks = self.looks | (neutral if "markeredgecolor" in self.looks else {})
        return Line2D([], [], label=self.label, **looks)
