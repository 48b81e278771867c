"""Camera view: position, direction and projection to pixels."""

from math import tan
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float64

UP = np.array([0.0, 0.0, 1.0])


class View(NamedTuple):
    """View from an eye to a target, with level horizon; not straight up or down."""

    eye_world_m: Float64[np.ndarray, "3"]
    look_at_world_m: Float64[np.ndarray, "3"]
    height_rad: float = 0.7

    @property
    def axes(self) -> Float64[np.ndarray, "3 3"]:
        """Unit vectors right, up and forward of the picture in world axes."""
        ahead = self.look_at_world_m - self.eye_world_m
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, UP)
        right = right / np.linalg.norm(right)
        return np.stack([right, np.cross(right, ahead), ahead])

    @property
    def distance_m(self) -> float:
        """Distance from the eye to the target."""
        return float(np.linalg.norm(self.look_at_world_m - self.eye_world_m))

    def pixels(
        self, points_world_m: Float[np.ndarray, "points 3"], width: int, height: int
    ) -> Float64[np.ndarray, "points 2"]:
        """Return the pixel coordinates of points from the upper left corner; NaN behind the eye."""
        right, up, ahead = self.axes @ (points_world_m - self.eye_world_m).T
        scale = 0.5 * height / tan(0.5 * self.height_rad)
        depth = np.where(ahead > 0.0, ahead, np.nan)
        return np.stack([0.5 * width + scale * right / depth, 0.5 * height - scale * up / depth], 1)
