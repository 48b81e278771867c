"""Free space of a vehicle: away from obstacles, inside the area, above the ground.

The clearance changes by at most a meter per meter. A segment of length L is therefore free if the
clearance at its midpoint exceeds the required one by L / 2; otherwise its halves are checked, down
to a negligible length.
"""

import numpy as np
from jaxtyping import Bool, Float

from kittiwake.pytree import Module
from kittiwake.world.world import WorldModel

Points = Float[np.ndarray, "_points 3"]
Numbers = Float[np.ndarray, " _points"]

# share of the clearance below which halves of segments are not split further
MIN_HALF_LENGTH = 0.01


class FreeSpace(Module):
    """Obstacles of a world, and the box that contains any shortest path around them.

    Attributes:
        world: world with obstacles and their names.
        low_m: lower corner of the box.
        high_m: upper corner of the box.
    """

    world: WorldModel
    low_m: Float[np.ndarray, "3"]
    high_m: Float[np.ndarray, "3"]

    @classmethod
    def around(cls, world: WorldModel, ends_m: Points, clearance_m: float) -> "FreeSpace":
        """Return the free space between two ends.

        No shortest path leaves the box around them and all obstacles with their clearance; the
        world's area and its ground, less the clearance, may be narrower.
        """
        outlines = [line for obstacle in world.obstacles for line in obstacle.outline_world()]
        corners = np.concatenate([ends_m, *outlines])
        area = np.array([world.area.x_m, world.area.y_m, world.area.z_m], float).T
        area[0, 2] = max(area[0, 2], float(world.ground_z_m))
        low = np.maximum(corners.min(axis=0) - 2.0 * clearance_m, area[0] + clearance_m)
        high = np.minimum(corners.max(axis=0) + 2.0 * clearance_m, area[1] - clearance_m)
        return cls(world, low, high)

    def clearances_m(self, points_m: Points) -> Numbers:
        """Return the clearance at each point; infinite without obstacles."""
        return self.world.clearances(points_m)[0]

    def clear(
        self, begins_m: Points, ends_m: Points, clearance_m: float
    ) -> Bool[np.ndarray, " _points"]:
        """Return flags of the segments that keep the clearance along their whole length."""
        free = np.ones(len(begins_m), bool)
        indices = np.arange(len(begins_m))
        min_half_m = MIN_HALF_LENGTH * clearance_m
        while len(indices):
            half_m = 0.5 * np.linalg.norm(ends_m - begins_m, axis=1)
            middles = 0.5 * (begins_m + ends_m)
            spare_m = self.clearances_m(middles) - clearance_m
            short = half_m <= min_half_m
            free[indices[(spare_m < 0.0) | (short & (spare_m < half_m))]] = False
            open_ = (spare_m < half_m) & ~short & free[indices]
            begins_m, ends_m = (
                np.concatenate([begins_m[open_], middles[open_]]),
                np.concatenate([middles[open_], ends_m[open_]]),
            )
            indices = np.concatenate([indices[open_]] * 2)
        return free
