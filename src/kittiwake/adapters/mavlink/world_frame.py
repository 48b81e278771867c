"""Positions of the world as MAVLink gives them: geodetic, and north, east and down."""

from math import degrees, radians
from typing import NamedTuple

from kittiwake.environment.satellites.selection import frame_at
from kittiwake.geometry.frames import swap_enu_ned
from kittiwake.geometry.geodesy import Geodetic, ecef_from_geodetic, geodetic_from_ecef
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.world import Origin

DEGREES_E7 = 1e7


class GeodeticPosition(NamedTuple):
    """Latitude and longitude in 1e-7 degrees, and the altitude in meters."""

    latitude_e7: int
    longitude_e7: int
    altitude_m: float


class WorldFrame:
    """Tangent plane of a world on the Earth.

    Attributes:
        altitude_m: altitude of the origin.
        origin: the origin.
    """

    def __init__(self, origin: Origin) -> None:
        self.altitude_m = float(origin.altitude_m)
        self._frame = frame_at(origin)
        self.origin = self.geodetic(Vec3.zero())

    def geodetic(self, position_world_m: Vec3) -> GeodeticPosition:
        """Return the geodetic position of a place in the world."""
        found = geodetic_from_ecef(self._frame.ecef_from_local(position_world_m))
        return GeodeticPosition(
            round(degrees(found.latitude_rad) * DEGREES_E7),
            round(degrees(found.longitude_rad) * DEGREES_E7),
            float(found.altitude_m),
        )

    def world_m(self, place: GeodeticPosition) -> Vec3:
        """Return the place in the world of a geodetic position."""
        geodetic = Geodetic(
            radians(place.latitude_e7 / DEGREES_E7),
            radians(place.longitude_e7 / DEGREES_E7),
            place.altitude_m,
        )
        return self._frame.local_from_ecef(ecef_from_geodetic(geodetic))


def from_ned(x: float, y: float, z: float) -> Vec3:
    """Return a vector of the world, given to the north, to the east and down."""
    return swap_enu_ned(Vec3(float(x), float(y), float(z)))


def ned(vector_world: Vec3) -> tuple[float, float, float]:
    """Return a vector of the world as numbers to the north, to the east and down."""
    return float(vector_world.y), float(vector_world.x), -float(vector_world.z)
