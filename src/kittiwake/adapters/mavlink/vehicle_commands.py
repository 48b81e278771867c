"""Commands of clients to a vehicle, by COMMAND_LONG and COMMAND_INT.

Source: MAVLink, Command Protocol; PX4, Commander.cpp and navigator_main.cpp.
"""

from collections.abc import Callable, Mapping
from math import isfinite, isnan
from types import ModuleType
from typing import TypeAlias

from kittiwake.adapters.mavlink.command_arguments import CommandArguments
from kittiwake.adapters.mavlink.dialect import FlightMode, Message
from kittiwake.adapters.mavlink.offboard import world_yaw_rad
from kittiwake.adapters.mavlink.parameters import in_range
from kittiwake.adapters.mavlink.places import degrees_e7
from kittiwake.adapters.mavlink.vehicle import MavlinkVehicle
from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

# second parameter of a command to disarm in flight
FORCED = 21196.0

Command: TypeAlias = Callable[[CommandArguments], list[Message]]


class VehicleCommands:
    """The commands that a vehicle understands."""

    def __init__(self, dialect: ModuleType, vehicle: MavlinkVehicle) -> None:
        d, self._vehicle = dialect, vehicle
        self._above_sea = d.MAV_FRAME_GLOBAL
        self.known: Mapping[int, Command] = {
            d.MAV_CMD_COMPONENT_ARM_DISARM: self._arm,
            d.MAV_CMD_NAV_TAKEOFF: self._take_off,
            d.MAV_CMD_NAV_LAND: lambda _: self._switch(FlightMode.LAND),
            d.MAV_CMD_NAV_RETURN_TO_LAUNCH: lambda _: self._switch(FlightMode.RETURN),
            d.MAV_CMD_MISSION_START: lambda _: self._switch(FlightMode.MISSION),
            d.MAV_CMD_DO_PAUSE_CONTINUE: self._pause,
            d.MAV_CMD_DO_SET_MODE: self._set_mode,
            d.MAV_CMD_DO_REPOSITION: self._reposition,
            d.MAV_CMD_DO_CHANGE_SPEED: self._change_speed,
            d.MAV_CMD_DO_SET_MISSION_CURRENT: self._set_mission_item,
            d.MAV_CMD_DO_SET_HOME: self._set_home,
        }

    def command(self, number: int, given: CommandArguments) -> list[Message]:
        """Carry out a command; return messages about it.

        Raises:
            CommandError: if it cannot be carried out; so does every other error of the package.
            NotImplementedError: for a command that is not supported.
        """
        known = self.known.get(number)
        if known is None:
            raise NotImplementedError
        with self._vehicle.lock:
            return known(given)

    def _switch(self, mode: FlightMode) -> list[Message]:
        self._vehicle.switch(mode)
        return []

    def _arm(self, given: CommandArguments) -> list[Message]:
        wanted = given.whole_number("arm", 1)
        if wanted not in (0, 1):
            text = f"arm (param1): got {given.first[0]:g}; must be 1 to arm or 0 to disarm"
            raise CommandError(text)
        if wanted:
            self._vehicle.arm()
        else:
            self._vehicle.disarm(forced=given.first[1] == FORCED)
        return []

    def _take_off(self, given: CommandArguments) -> list[Message]:
        vehicle, now = self._vehicle, self._vehicle.require_estimate()
        vehicle.planner.require_flying("take off")
        vehicle.require_armed("take off")
        present_m = float(now.position_m[2])
        height_m = least_m = present_m + vehicle.parameters["MIS_TAKEOFF_ALT"]
        messages: list[Message] = []
        if not isnan(given.z):
            frame = self._above_sea if given.place is None else given.place[0]
            height_m = vehicle.places.height_m(frame, given.z)
        altitude_m = vehicle.places.frame.altitude_m
        if vehicle.is_landed(now) and height_m < least_m:
            height_m = least_m
            messages = vehicle.texts.warning(
                f"takeoff: got {given.z:g} m; climbs to {altitude_m + least_m:.1f} m above the sea "
                "(MIS_TAKEOFF_ALT)"
            )
        elif height_m < present_m:
            messages = vehicle.texts.warning("takeoff: already higher than the altitude; holds")
        vehicle.fly_legs(FlightMode.TAKEOFF, [vehicle.planner.climb(height_m)], now)
        return messages

    def _pause(self, given: CommandArguments) -> list[Message]:
        goes_on = given.whole_number("pause", 1)
        if goes_on not in (0, 1):
            text = f"pause (param1): got {goes_on}; must be 0 to pause or 1 to continue"
            raise CommandError(text)
        return self._switch(FlightMode.MISSION if goes_on else FlightMode.HOLD)

    def _set_mode(self, given: CommandArguments) -> list[Message]:
        main, sub = given.whole_number("main mode", 2), given.whole_number("sub mode", 3)
        return self._switch(FlightMode.required(main, sub))

    def _reposition(self, given: CommandArguments) -> list[Message]:
        vehicle, now = self._vehicle, self._vehicle.require_estimate()
        vehicle.require_armed("fly to a place")
        place = self._place(given, now)
        yaw_rad = world_yaw_rad(given.first[3]) if isfinite(given.first[3]) else None
        # -1 and NaN stand for the default
        speed = given.first[0]
        speed_mps = in_range("MPC_XY_CRUISE", speed) if speed > 0.0 else None
        passage = vehicle.planner.passage(place, yaw_rad, speed_mps=speed_mps)
        vehicle.fly_legs(FlightMode.HOLD, [passage], now)
        return []

    def _change_speed(self, given: CommandArguments) -> list[Message]:
        parameters = self._vehicle.parameters
        present_mps = parameters["MPC_XY_CRUISE"]
        speed_mps = self._vehicle.planner.speed_mps(given.first[1], present_mps)
        parameters.set("MPC_XY_CRUISE", speed_mps)
        return []

    def _set_mission_item(self, given: CommandArguments) -> list[Message]:
        number = given.whole_number("mission item", 1)
        # -1 stands for the present one
        self._vehicle.set_mission_item(self._vehicle.missions.current if number == -1 else number)
        return []

    def _set_home(self, given: CommandArguments) -> list[Message]:
        now = self._vehicle.require_estimate()
        here = given.whole_number("use the present place", 1) == 1
        place = now.motion.position_world_m if here else self._place(given, None)
        self._vehicle.places.set_home(place, now.time_s)
        return []

    def _place(self, given: CommandArguments, now: VehicleEstimate | None) -> Vec3:
        """Return the place of a command; coordinates that are not given are the present ones."""
        place = given.place
        if place is None:
            latitude_e7 = degrees_e7("latitude", given.latitude_deg)
            longitude_e7 = degrees_e7("longitude", given.longitude_deg)
            place = self._above_sea, latitude_e7, longitude_e7
        present = None if now is None else now.motion.position_world_m
        return self._vehicle.places.world_m(*place, given.z, present)
