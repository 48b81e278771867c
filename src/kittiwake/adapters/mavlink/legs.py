"""Legs of an autopilot: maneuvers that are over at some time, such as the items of a mission."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite, radians
from types import ModuleType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.offboard import world_yaw_rad
from kittiwake.adapters.mavlink.parameters import Parameters, in_range
from kittiwake.adapters.mavlink.world_frame import GeodeticPosition, WorldFrame, from_ned
from kittiwake.adapters.ranges import POSITION, TIME
from kittiwake.core.commands import MotorsOff
from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.maneuvers import (
    GuidanceManeuver,
    HoldCommand,
    Maneuver,
    go_to,
    land,
    take_off,
)
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.world.world import WorldModel

# distance to the height of a takeoff at which it is over
HEIGHT_M = 0.3
# time over the start before a landing there
OVER_START_S = 2.0


@runtime_checkable
class AutopilotLeg(Protocol):
    """A maneuver, with the number of its item in a mission."""

    maneuver: Maneuver
    item: int | None

    def is_over(self, now: VehicleEstimate) -> bool:
        """Return True once the next leg may begin."""
        ...


LegBuilder: TypeAlias = Callable[[VehicleEstimate], AutopilotLeg]


@dataclass
class Climb:
    """Takeoff to a height in the world."""

    maneuver: Maneuver
    height_m: float
    item: int | None = None

    def is_over(self, now: VehicleEstimate) -> bool:
        """Return True near the height."""
        return abs(float(now.position_m[2]) - self.height_m) < HEIGHT_M


@dataclass
class Passage:
    """Flight to a place, at which the vehicle waits."""

    maneuver: Maneuver
    place_world_m: Vec3
    radius_m: float
    wait_s: float = 0.0
    item: int | None = None
    _arrival_s: float | None = field(default=None, init=False)

    def is_over(self, now: VehicleEstimate) -> bool:
        """Return True once the vehicle has waited at the place."""
        away = now.motion.position_world_m - self.place_world_m
        if self._arrival_s is None and float(away.norm()) <= self.radius_m:
            self._arrival_s = now.time_s
        return self._arrival_s is not None and now.time_s - self._arrival_s >= self.wait_s


@dataclass
class Descent:
    """Landing, to the end with motors off."""

    maneuver: Maneuver
    item: int | None = None

    def is_over(self, now: VehicleEstimate) -> bool:
        """Return True once the motors are off."""
        del now
        return motors_are_off(self.maneuver)


def motors_are_off(maneuver: Maneuver) -> bool:
    """Return True if the last command of a maneuver switched the motors off."""
    if isinstance(maneuver, HoldCommand):
        return isinstance(maneuver.held, MotorsOff)
    choice = maneuver.choice if isinstance(maneuver, GuidanceManeuver) else None
    return choice is not None and isinstance(choice.commands[int(choice.index)], MotorsOff)


class LegPlanner:
    """Builder of the legs of a vehicle."""

    def __init__(
        self,
        dialect: ModuleType,
        frame: WorldFrame,
        vehicle: AssembledVehicle,
        world: WorldModel,
        parameters: Parameters,
    ) -> None:
        self._d, self._frame, self._parameters = dialect, frame, parameters
        self._vehicle, self._world = vehicle, world
        self.home_world_m = vehicle.start.position_world_m

    def climb(self, height_m: float, item: int | None = None) -> LegBuilder:
        """Return the takeoff to a height in the world.

        Raises:
            CommandError: for a vessel.
        """
        self._require_flying("take off")

        def build(now: VehicleEstimate) -> AutopilotLeg:
            above_m = height_m - float(now.position_m[2])
            if above_m <= 0.0:
                text = f"takeoff: the height {height_m:g} m is below the vehicle"
                raise CommandError(text)
            return Climb(take_off(above_m), height_m, item)

        return build

    def passage(
        self,
        place: Vec3,
        yaw_rad: float | None = None,
        item: int | None = None,
        wait_s: float = 0.0,
        speed_mps: float | None = None,
    ) -> LegBuilder:
        """Return the flight to a place; by default at the present yaw and the cruise speed."""
        POSITION.vector("position", place)
        goal_m = np.asarray(place.array, np.float64)
        radius_m = self._parameters["NAV_ACC_RAD"]
        cruise_mps = self._parameters["MPC_XY_CRUISE"] if speed_mps is None else speed_mps

        def build(now: VehicleEstimate) -> AutopilotLeg:
            yaw = now.yaw_rad if yaw_rad is None else yaw_rad
            return Passage(go_to(goal_m, yaw, cruise_mps), place, radius_m, wait_s, item)

        return build

    def descent(self, item: int | None = None) -> LegBuilder:
        """Return the landing.

        Raises:
            CommandError: for a vessel.
        """
        self._require_flying("land")
        return lambda now: Descent(land(self._vehicle, self._world, now), item)

    def way_back(self, now: VehicleEstimate) -> Sequence[LegBuilder]:
        """Return the legs to the start: above it, and for a drone the landing."""
        home = self.home_world_m
        if self._vehicle.dynamics.is_vessel:
            return [self.passage(home)]
        height_m = float(home.z) + self._parameters["RTL_RETURN_ALT"]
        above = Vec3(home.x, home.y, max(height_m, float(now.position_m[2])))
        return [self.passage(above, wait_s=OVER_START_S), self.descent()]

    def mission(self, items: Sequence[Message]) -> Sequence[LegBuilder]:
        """Return the legs of a mission.

        Raises:
            CommandError: for an item that cannot be flown.
        """
        return [*self._mission(items)]

    def place(self, frame: int, x: int, y: int, z: float) -> Vec3:
        """Return the place in the world of an item or a command with integers.

        Raises:
            CommandError: for an unknown frame.
        """
        d = self._d
        relative = {d.MAV_FRAME_GLOBAL_RELATIVE_ALT, d.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT}
        if frame in {d.MAV_FRAME_GLOBAL, d.MAV_FRAME_GLOBAL_INT, *relative}:
            above = (
                self._frame.altitude_m + float(self.home_world_m.z) if frame in relative else 0.0
            )
            return self._frame.world_m(GeodeticPosition(x, y, float(z) + above))
        if frame == d.MAV_FRAME_LOCAL_NED:
            return from_ned(x / 1e4, y / 1e4, z)
        text = f"frame {frame}: write 0, 3, 5 or 6 (global) or 1 (local)"
        raise CommandError(text)

    def _mission(self, items: Sequence[Message]) -> Iterator[LegBuilder]:
        d, speed_mps = self._d, self._parameters["MPC_XY_CRUISE"]
        for number, item in enumerate(items):
            match item.command:
                case d.MAV_CMD_DO_CHANGE_SPEED:
                    speed_mps = in_range("MPC_XY_CRUISE", item.param2)
                case d.MAV_CMD_NAV_RETURN_TO_LAUNCH:
                    home = self.home_world_m
                    above = Vec3(home.x, home.y, home.z + self._parameters["RTL_RETURN_ALT"])
                    yield self.passage(above, None, number, OVER_START_S, speed_mps)
                    yield self.descent(number)
                case d.MAV_CMD_NAV_LAND:
                    yield self.descent(number)
                case d.MAV_CMD_NAV_TAKEOFF:
                    place = self.place(item.frame, item.x, item.y, item.z)
                    yield self.climb(float(place.z), number)
                case d.MAV_CMD_NAV_DELAY:
                    yield self._delay(item, number)
                case _:
                    place = self.place(item.frame, item.x, item.y, item.z)
                    yaw_rad = world_yaw_rad(radians(item.param4)) if isfinite(item.param4) else None
                    yield self.passage(place, yaw_rad, number, _seconds(item.param1), speed_mps)

    def _delay(self, item: Message, number: int) -> LegBuilder:
        wait_s = _seconds(item.param1)

        def build(now: VehicleEstimate) -> AutopilotLeg:
            return self.passage(now.motion.position_world_m, None, number, wait_s)(now)

        return build

    def _require_flying(self, what: str) -> None:
        if self._vehicle.dynamics.is_vessel:
            text = f"a vessel cannot {what}"
            raise CommandError(text)


def _seconds(given: Any) -> float:
    TIME.check("time", given)
    return max(0.0, float(given))
