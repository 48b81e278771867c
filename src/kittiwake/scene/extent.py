"""How far the part of a world reaches that is worth looking at."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.frame import Show
from kittiwake.scene.planned_route import planned_places_world_m

# an area with a longer side has no box of its own: it is the open
LONGEST_AREA_M = 600.0
# what is about the places of a flight in the open
MARGIN_M, MARGIN_SHARE = 12.0, 0.35
# what is larger only reaches into the picture
LARGEST_OBSTACLE_M = 100.0
# of how many vehicles the routes are looked at
MOST_ROUTES = 30

Corner = Float64[np.ndarray, "3"]


class Extent(NamedTuple):
    """A box along the world's axes; ``bounded`` is that of the flight area itself."""

    low_world_m: Corner
    high_world_m: Corner
    bounded: bool

    @property
    def center_world_m(self) -> Corner:
        """Its middle."""
        return 0.5 * (self.low_world_m + self.high_world_m)

    @property
    def widest_m(self) -> float:
        """Its longer level side."""
        return float((self.high_world_m - self.low_world_m)[:2].max())


def extent_of(show: Show) -> Extent:
    """The flight area, or in the open what is around starts, places to visit and things."""
    low, high = area_of(show)
    if float((high - low).max()) <= LONGEST_AREA_M:
        return Extent(low, high, bounded=True)
    places = np.clip(_places(show), low, high)
    least, most = places.min(axis=0), places.max(axis=0)
    margin = MARGIN_M + MARGIN_SHARE * float((most - least)[:2].max())
    around = np.array([margin, margin, 0.0])
    return Extent(np.maximum(least - around, low), np.minimum(most + around, high), bounded=False)


def area_of(show: Show) -> tuple[Corner, Corner]:
    """The corners of the flight area."""
    area = show.scenario.world.area
    sides = np.array([area.x_m, area.y_m, area.z_m], float)
    return sides[:, 0], sides[:, 1]


def _places(show: Show) -> Float64[np.ndarray, "places 3"]:
    """Of vehicles, what they are to visit, and what stands in the world."""
    world, vehicles = show.scenario.world, show.scenario.vehicles.values()
    starts = [vehicle.start.position_world_m for vehicle in vehicles]
    found = [np.array([[float(p.x), float(p.y), float(p.z)] for p in starts]).reshape(-1, 3)]
    found += [
        planned_places_world_m(vehicle, world.origin) for vehicle in list(vehicles)[:MOST_ROUTES]
    ]
    for obstacle in world.obstacles:
        lines = obstacle.outline_world()
        if lines:
            points = np.concatenate(lines)
            if float(np.ptp(points, axis=0).max()) <= LARGEST_OBSTACLE_M:
                found.append(np.asarray(points, float))
    for platform in world.platforms:
        place = platform.support(0.0).center_world_m
        found.append(np.array([[float(place.x), float(place.y), float(place.z)]]))
    return np.concatenate([*found, np.empty((0, 3))]) if found else np.zeros((1, 3))
