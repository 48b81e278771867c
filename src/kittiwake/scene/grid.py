"""Grid of the ground in meters: its lines, the labels of the bold ones, axes and a scale bar."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.shapes import Rgb
from kittiwake.scene.extent import extent_of
from kittiwake.scene.scene_state import FlightInfo
from kittiwake.scene.static_objects import ground_height_m, square_m

# cells between two bold lines, and of an axis
CELLS_PER_SECTION, CELLS_PER_AXIS = 5, 2
# by ROS REP-103: x east, y north, z up
AXES: tuple[tuple[str, Rgb], ...] = (
    ("east x", (214, 60, 50)),
    ("north y", (50, 150, 60)),
    ("up z", (50, 90, 210)),
)
# height of lines and labels above the ground relative to a cell, against z-fighting
ABOVE_SHARE = 0.01


class GridLabel(NamedTuple):
    """Text at a position."""

    text: str
    position_world_m: Float[np.ndarray, "3"]


class GroundGrid:
    """Grid over the extent of a flight.

    Attributes:
        cell_m: distance of its lines.
        section_m: distance of its bold lines.
        ground_m: height of the ground, or of still water.
    """

    def __init__(self, flight: FlightInfo) -> None:
        self._extent = extent_of(flight)
        self.cell_m = square_m(self._extent)
        self.section_m = CELLS_PER_SECTION * self.cell_m
        self.ground_m = ground_height_m(flight)
        self._z = self.ground_m + ABOVE_SHARE * self.cell_m

    def coordinates(self) -> list[GridLabel]:
        """Return the coordinates of the bold lines, at the south and west edge of the extent."""
        west, south = self._extent.low_world_m[:2]
        east = [
            GridLabel(f"x {value:zg} m", np.array([value, south, self._z]))
            for value in self._sections(0)
        ]
        north = [
            GridLabel(f"y {value:zg} m", np.array([west, value, self._z]))
            for value in self._sections(1)
        ]
        return [*east, *north]

    @property
    def origin_world_m(self) -> Float[np.ndarray, "3"]:
        """Origin of the axes: that of the world, or a corner of an extent without it."""
        low, high = self._extent.low_world_m[:2], self._extent.high_world_m[:2]
        inside = bool(((low <= 0.0) & (high >= 0.0)).all())
        return np.array([*(np.zeros(2) if inside else low), self._z])

    def axes(self) -> Float[np.ndarray, "3 2 3"]:
        """Return the axes as lines, in the order of ``AXES``."""
        origin = self.origin_world_m
        ends = origin + CELLS_PER_AXIS * self.cell_m * np.eye(3)
        return np.stack([np.broadcast_to(origin, (3, 3)), ends], axis=1)

    def scale_bar(self) -> tuple[Float[np.ndarray, "3 2 3"], GridLabel]:
        """Return a bar with its two end marks, outside the south edge, and its label."""
        begin = np.array([*self._extent.low_world_m[:2], self._z])
        begin[1] -= 2.0 * self.cell_m
        end = begin + np.array([self.section_m, 0.0, 0.0])
        mark = np.array([0.0, 0.3 * self.cell_m, 0.0])
        bar = np.array([(begin, end), (begin - mark, begin + mark), (end - mark, end + mark)])
        return bar, GridLabel(f"{self.section_m:g} m", 0.5 * (begin + end))

    def _sections(self, axis: int) -> Float[np.ndarray, " lines"]:
        low, high = (one[axis] / self.section_m for one in self._extent[:2])
        return self.section_m * np.arange(np.ceil(low), np.floor(high) + 1.0)
