"""Extent of the visible part of a world."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from kittiwake.scene.planned_route import planned_positions_world_m
from kittiwake.scene.scene_state import FlightInfo

# a flight area with a longer side counts as unbounded
MAX_AREA_M = 600.0
# margins around the positions of a flight in an unbounded area
MARGIN_M, MARGIN_SHARE = 12.0, 0.35
# larger obstacles do not enlarge the extent
MAX_OBSTACLE_M = 100.0
# number of vehicles whose routes count
MAX_ROUTES = 30

Corner = Float64[np.ndarray, "3"]


class Extent(NamedTuple):
    """Box along the world axes; ``bounded`` if it is the flight area itself."""

    low_world_m: Corner
    high_world_m: Corner
    bounded: bool

    @property
    def center_world_m(self) -> Corner:
        """Center of the box."""
        return 0.5 * (self.low_world_m + self.high_world_m)

    @property
    def widest_m(self) -> float:
        """Longer horizontal side."""
        return float((self.high_world_m - self.low_world_m)[:2].max())


def extent_of(flight: FlightInfo) -> Extent:
    """Return the flight area; if unbounded, the surroundings of starts, waypoints and objects."""
    low, high = area_of(flight)
    if float((high - low).max()) <= MAX_AREA_M:
        return Extent(low, high, bounded=True)
    positions = np.clip(_positions(flight), low, high)
    lowest, highest = positions.min(axis=0), positions.max(axis=0)
    margin = MARGIN_M + MARGIN_SHARE * float((highest - lowest)[:2].max())
    around = np.array([margin, margin, 0.0])
    return Extent(
        np.maximum(lowest - around, low), np.minimum(highest + around, high), bounded=False
    )


def area_of(flight: FlightInfo) -> tuple[Corner, Corner]:
    """Return the lowest and highest corner of the flight area."""
    area = flight.scenario.world.area
    sides = np.array([area.x_m, area.y_m, area.z_m], float)
    return sides[:, 0], sides[:, 1]


def _positions(flight: FlightInfo) -> Float64[np.ndarray, "positions 3"]:
    """Return the positions of starts, waypoints, obstacles and platforms."""
    world, vehicles = flight.scenario.world, flight.scenario.vehicles.values()
    starts = [vehicle.start.position_world_m for vehicle in vehicles]
    parts = [np.array([[float(p.x), float(p.y), float(p.z)] for p in starts]).reshape(-1, 3)]
    parts += [
        planned_positions_world_m(vehicle, world.origin) for vehicle in list(vehicles)[:MAX_ROUTES]
    ]
    for obstacle in world.obstacles:
        lines = obstacle.outline_world()
        if lines:
            points = np.concatenate(lines)
            if float(np.ptp(points, axis=0).max()) <= MAX_OBSTACLE_M:
                parts.append(np.asarray(points, float))
    for platform in world.platforms:
        position = platform.deck_state(0.0).center_world_m
        parts.append(np.array([[float(position.x), float(position.y), float(position.z)]]))
    return np.concatenate([*parts, np.empty((0, 3))]) if parts else np.zeros((1, 3))
