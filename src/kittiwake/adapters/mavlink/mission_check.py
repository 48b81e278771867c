"""Check of the items of a mission when they are uploaded.

Source: MAVLink, Mission Protocol, MAV_MISSION_RESULT.
"""

from math import isfinite, isnan, nan
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.offboard import world_yaw_rad
from kittiwake.adapters.mavlink.parameters import in_range
from kittiwake.adapters.mavlink.places import LOCAL_PER_M, UNSET_E7, PlaceError, Places
from kittiwake.adapters.mavlink.world_frame import DEGREES_E7
from kittiwake.adapters.ranges import TIME
from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3

# speeds of DO_CHANGE_SPEED with a meaning of their own
SPECIAL_SPEEDS = (-1.0, -2.0)


class ItemError(CommandError):
    """Item that cannot be flown; ``code`` is its MAV_MISSION_RESULT."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class MissionCheck:
    """Check of items for a vehicle."""

    def __init__(self, dialect: ModuleType, places: Places, *, is_vessel: bool) -> None:
        d = self._d = dialect
        self._places = places
        self._timed = {d.MAV_CMD_NAV_WAYPOINT, d.MAV_CMD_NAV_DELAY, d.MAV_CMD_NAV_LOITER_TIME}
        self._placed = {
            d.MAV_CMD_NAV_WAYPOINT,
            d.MAV_CMD_NAV_LOITER_TIME,
            d.MAV_CMD_NAV_LOITER_UNLIM,
        }
        self._supported = {
            *self._timed,
            *self._placed,
            d.MAV_CMD_NAV_RETURN_TO_LAUNCH,
            d.MAV_CMD_DO_CHANGE_SPEED,
        }
        self._flying = {d.MAV_CMD_NAV_TAKEOFF, d.MAV_CMD_NAV_LAND}
        self._is_vessel = is_vessel
        self._place_codes = {
            "frame": d.MAV_MISSION_UNSUPPORTED_FRAME,
            "x": d.MAV_MISSION_INVALID_PARAM5_X,
            "y": d.MAV_MISSION_INVALID_PARAM6_Y,
            "z": d.MAV_MISSION_INVALID_PARAM7,
        }

    def check(self, item: Message) -> None:
        """Check an item.

        Raises:
            ItemError: if it cannot be flown.
        """
        d = self._d
        self._check_command(item.command)
        if item.command in self._timed:
            self._check_wait(item.param1)
        if item.command == d.MAV_CMD_DO_CHANGE_SPEED:
            self._check_speed(item.param2)
        self._check_place(item)
        if item.command in self._placed and not isnan(item.param4):
            try:
                world_yaw_rad(item.param4)
            except CommandError as error:
                raise ItemError(str(error), d.MAV_MISSION_INVALID_PARAM4) from None

    def _check_command(self, command: int) -> None:
        if command in self._supported or (command in self._flying and not self._is_vessel):
            return
        name = self._d.enums["MAV_CMD"].get(command)
        words = str(command) if name is None else name.name.removeprefix("MAV_CMD_")
        known = command in self._flying
        text = f"a vessel cannot fly {words}" if known else f"{words} is not supported in missions"
        raise ItemError(text, self._d.MAV_MISSION_UNSUPPORTED)

    def _check_place(self, item: Message) -> None:
        try:
            if item.command in self._placed:
                self._places.world_m(item.frame, item.x, item.y, item.z)
            elif item.command == self._d.MAV_CMD_NAV_TAKEOFF:
                self._places.height_m(item.frame, item.z)
            elif item.command == self._d.MAV_CMD_NAV_LAND and self._places.has_place(item):
                self._places.world_m(item.frame, item.x, item.y, nan, Vec3.zero())
        except PlaceError as error:
            raise ItemError(str(error), self._place_codes[error.field]) from None

    def _check_speed(self, speed_mps: float) -> None:
        if speed_mps in SPECIAL_SPEEDS:
            return
        try:
            in_range("MPC_XY_CRUISE", speed_mps)
        except CommandError as error:
            raise ItemError(str(error), self._d.MAV_MISSION_INVALID_PARAM2) from None

    def _check_wait(self, wait_s: float) -> None:
        try:
            TIME.check("time (param1)", wait_s)
        except CommandError as error:
            raise ItemError(str(error), self._d.MAV_MISSION_INVALID_PARAM1) from None
        if wait_s < 0.0:
            text = f"time (param1): got {wait_s:g}; must be at least 0 s"
            raise ItemError(text, self._d.MAV_MISSION_INVALID_PARAM1)


def as_integers(dialect: ModuleType, item: Message) -> Message:
    """Return a MISSION_ITEM as MISSION_ITEM_INT."""
    per_unit = LOCAL_PER_M if item.frame == dialect.MAV_FRAME_LOCAL_NED else DEGREES_E7
    return dialect.MAVLink_mission_item_int_message(
        item.target_system,
        item.target_component,
        item.seq,
        item.frame,
        item.command,
        item.current,
        item.autocontinue,
        item.param1,
        item.param2,
        item.param3,
        item.param4,
        _integer(item.x, per_unit),
        _integer(item.y, per_unit),
        item.z,
    )


def as_floats(dialect: ModuleType, item: Message) -> tuple[float, float]:
    """Return x and y of a MISSION_ITEM_INT as a MISSION_ITEM has them."""
    per_unit = LOCAL_PER_M if item.frame == dialect.MAV_FRAME_LOCAL_NED else DEGREES_E7
    x, y = (nan if value == UNSET_E7 else value / per_unit for value in (item.x, item.y))
    return x, y


def _integer(value: float, per_unit: float) -> int:
    scaled = value * per_unit
    # not a number, or beyond 32 bits
    return round(scaled) if isfinite(scaled) and abs(scaled) < UNSET_E7 else UNSET_E7
