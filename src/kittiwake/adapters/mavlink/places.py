"""Places in the world that clients give in the frames of MAVLink, and the home of a vehicle."""

from math import isfinite, isnan
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.world_frame import (
    DEGREES_E7,
    GeodeticPosition,
    WorldFrame,
    from_ned,
    ned,
)
from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3

# latitude or longitude that is not given, and what COMMAND_INT and MISSION_ITEM_INT count
UNSET_E7, LOCAL_PER_M = 2**31 - 1, 1e4
# distance from the origin of the world within which places are accepted; PX4's MIS_DIST_1WP
MAX_DISTANCE_M = 10e3


class PlaceError(CommandError):
    """Place that cannot be flown to; ``field`` is the wrong field: frame, x, y or z."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


class Places:
    """Converter of the places of clients.

    Attributes:
        frame: the place of the world on the Earth.
        home_world_m: the home, to which relative heights refer.
        home_time_s: time at which the home was set.
    """

    def __init__(self, dialect: ModuleType, frame: WorldFrame, home_world_m: Vec3) -> None:
        d, self.frame = dialect, frame
        self.home_world_m, self.home_time_s = home_world_m, 0.0
        self._local = d.MAV_FRAME_LOCAL_NED
        self._above_home = {d.MAV_FRAME_GLOBAL_RELATIVE_ALT, d.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT}
        self._global = {d.MAV_FRAME_GLOBAL, d.MAV_FRAME_GLOBAL_INT, *self._above_home}

    def set_home(self, place_world_m: Vec3, time_s: float) -> None:
        """Set the home."""
        self.home_world_m, self.home_time_s = place_world_m, time_s

    def world_m(self, frame: int, x: int, y: int, z: float, present: Vec3 | None = None) -> Vec3:
        """Return the place in the world of coordinates in a frame.

        Args:
            frame: number of the frame.
            x: latitude in 1e-7 degrees; 1e-4 m to the north in the local frame.
            y: longitude in 1e-7 degrees; 1e-4 m to the east in the local frame.
            z: altitude; meters down in the local frame.
            present: place whose coordinates stand for those that are not given.

        Raises:
            PlaceError: for another frame, or coordinates that are out of range.
        """
        if frame in self._global:
            place = self._from_global(frame, x, y, z, present)
        elif frame == self._local:
            place = self._from_local(x, y, z, present)
        else:
            text = (
                f"frame {frame}: write 0 or 5 (above the sea), 3 or 6 (above home) or 1 (local, "
                "north-east-down)"
            )
            raise PlaceError(text, "frame")
        return _near(place)

    def has_place(self, item: Message) -> bool:
        """Return True if an item of a mission has horizontal coordinates; zeros are none."""
        return (item.x, item.y) not in ((0, 0), (UNSET_E7, UNSET_E7))

    def height_m(self, frame: int, z: float) -> float:
        """Return the height in the world of an altitude in a frame; raises as ``world_m``."""
        if not isfinite(z):
            text = f"altitude: got {z:g}; must be a number of meters"
            raise PlaceError(text, "z")
        return float(self.world_m(frame, UNSET_E7, UNSET_E7, z, Vec3.zero()).z)

    def _from_global(self, frame: int, x: int, y: int, z: float, present: Vec3 | None) -> Vec3:
        above_m = 0.0
        if frame in self._above_home:
            above_m = self.frame.altitude_m + float(self.home_world_m.z)
        altitude_m = above_m + z
        if present is not None:
            kept = self.frame.geodetic(present)
            x = kept.latitude_e7 if x == UNSET_E7 else x
            y = kept.longitude_e7 if y == UNSET_E7 else y
            altitude_m = kept.altitude_m if isnan(z) else altitude_m
        _check_degrees("latitude", x, 90.0, "x")
        _check_degrees("longitude", y, 180.0, "y")
        _check_finite("altitude", altitude_m)
        return self.frame.world_m(GeodeticPosition(x, y, altitude_m))

    def _from_local(self, x: int, y: int, z: float, present: Vec3 | None) -> Vec3:
        north_m, east_m, down_m = x / LOCAL_PER_M, y / LOCAL_PER_M, z
        if present is not None:
            kept = ned(present)
            north_m = kept[0] if x == UNSET_E7 else north_m
            east_m = kept[1] if y == UNSET_E7 else east_m
            down_m = kept[2] if isnan(z) else z
        _check_finite("z", down_m)
        return from_ned(north_m, east_m, down_m)


def degrees_e7(name: str, angle_deg: float) -> int:
    """Return a latitude or longitude as an integer; ``UNSET_E7`` for NaN.

    Raises:
        PlaceError: if it is infinite or beyond all angles.
    """
    field = "x" if name == "latitude" else "y"
    if isnan(angle_deg):
        return UNSET_E7
    if not abs(angle_deg) <= 180.0:
        text = f"{name}: got {angle_deg:g}; must be from -180 to 180 degrees"
        raise PlaceError(text, field)
    return round(angle_deg * DEGREES_E7)


def _near(place: Vec3) -> Vec3:
    x, y, z = float(place.x), float(place.y), float(place.z)
    distance_m = (x * x + y * y) ** 0.5
    if distance_m > MAX_DISTANCE_M:
        text = (
            f"the place is {distance_m / 1e3:.4g} km from the origin of the world; must be within "
            f"{MAX_DISTANCE_M / 1e3:g} km"
        )
        raise PlaceError(text, "x")
    if abs(z) > MAX_DISTANCE_M:
        text = f"altitude: got {z:g} m over the origin; must be within {MAX_DISTANCE_M:g} m"
        raise PlaceError(text, "z")
    return place


def _check_degrees(name: str, angle_e7: int, most_deg: float, field: str) -> None:
    if not abs(angle_e7) <= most_deg * DEGREES_E7:
        text = (
            f"{name}: got {angle_e7 / DEGREES_E7:g}; must be from {-most_deg:g} to {most_deg:g} "
            "degrees"
        )
        raise PlaceError(text, field)


def _check_finite(name: str, value: float) -> None:
    if not isfinite(value):
        text = f"{name}: got {value:g}; must be a number of meters"
        raise PlaceError(text, "z")
