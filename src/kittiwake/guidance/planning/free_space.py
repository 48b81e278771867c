"""Where a vehicle may be: away from obstacles, inside of the area, over the ground.

The clearance of a place falls by a meter in a meter at most. A straight way of length L is
therefore free if that in its middle is at least L / 2 more than wanted; else its halves are looked
at, until they are so short that it does not matter.
"""

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float

from kittiwake.world.world import World

Points = Float[np.ndarray, "_points 3"]
Numbers = Float[np.ndarray, " _points"]

# of the clearance: half of a way that is looked at no further
FINEST = 0.01


class FreeSpace(eqx.Module):
    """The obstacles of a world, and the box in which a way around them lies, if there is one.

    Attributes:
        world: with obstacles and their names.
        low_m: the least coordinates of the box.
        high_m: the largest ones.
    """

    world: World
    low_m: Float[np.ndarray, "3"]
    high_m: Float[np.ndarray, "3"]

    @classmethod
    def around(cls, world: World, ends_m: Points, clearance_m: float) -> "FreeSpace":
        """What matters between two ends.

        No shortest way leaves the box around them and all obstacles with their clearance; the
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
        """Of each place; infinite without obstacles."""
        return self.world.clearances(points_m)[0]

    def clear(
        self, begins_m: Points, ends_m: Points, clearance_m: float
    ) -> Bool[np.ndarray, " _points"]:
        """Whether straight ways keep the clearance all along."""
        free = np.ones(len(begins_m), bool)
        places = np.arange(len(begins_m))
        finest_m = FINEST * clearance_m
        while len(places):
            half_m = 0.5 * np.linalg.norm(ends_m - begins_m, axis=1)
            middles = 0.5 * (begins_m + ends_m)
            spare_m = self.clearances_m(middles) - clearance_m
            short = half_m <= finest_m
            free[places[(spare_m < 0.0) | (short & (spare_m < half_m))]] = False
            open_ = (spare_m < half_m) & ~short & free[places]
            begins_m, ends_m = (
                np.concatenate([begins_m[open_], middles[open_]]),
                np.concatenate([middles[open_], ends_m[open_]]),
            )
            places = np.concatenate([places[open_]] * 2)
        return free
