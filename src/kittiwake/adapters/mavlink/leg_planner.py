"""Planner of the legs of a vehicle: takeoff, passage, return, landing, and those of a mission."""

from collections.abc import Iterator, Sequence
from math import inf, isfinite, nan, radians
from types import ModuleType

import numpy as np

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.legs import (
    HEIGHT_M,
    AutopilotLeg,
    Climb,
    Descent,
    LegBuilder,
    Passage,
)
from kittiwake.adapters.mavlink.offboard import world_yaw_rad
from kittiwake.adapters.mavlink.parameters import KNOWN, Parameters, in_range
from kittiwake.adapters.mavlink.places import Places
from kittiwake.core.errors import CommandError
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.maneuvers import go_to, land, take_off
from kittiwake.runtime.vehicle_estimate import VehicleEstimate
from kittiwake.world.world import WorldModel

# time over the place of a landing before it
OVER_LANDING_S = 2.0
# speeds of DO_CHANGE_SPEED that stand for the present and the default one
PRESENT_SPEED, DEFAULT_SPEED = -1.0, -2.0


class LegPlanner:
    """Builder of the legs of a vehicle."""

    def __init__(
        self,
        dialect: ModuleType,
        places: Places,
        vehicle: AssembledVehicle,
        world: WorldModel,
        parameters: Parameters,
    ) -> None:
        self._d, self._places, self._parameters = dialect, places, parameters
        self._vehicle, self._world = vehicle, world

    def climb(self, height_m: float, item: int | None = None) -> LegBuilder:
        """Return the takeoff to a height in the world; a vehicle above it keeps its height.

        Raises:
            CommandError: for a vessel.
        """
        self.require_flying("take off")

        def build(now: VehicleEstimate) -> AutopilotLeg:
            above_m = height_m - float(now.position_m[2])
            if above_m <= 0.0:
                return self.passage(now.motion.position_world_m, item=item)(now)
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
        radius_m = self._parameters["NAV_ACC_RAD"]
        cruise_mps = self._parameters["MPC_XY_CRUISE"] if speed_mps is None else speed_mps

        def build(now: VehicleEstimate) -> AutopilotLeg:
            yaw = now.yaw_rad if yaw_rad is None else yaw_rad
            # a vessel has no other height
            height_m = (
                now.motion.position_world_m.z if self._vehicle.dynamics.is_vessel else place.z
            )
            goal = Vec3(place.x, place.y, height_m)
            goal_m = np.asarray(goal.array, np.float64)
            return Passage(go_to(goal_m, yaw, cruise_mps), goal, radius_m, wait_s, item)

        return build

    def descent(self, item: int | None = None) -> LegBuilder:
        """Return the landing.

        Raises:
            CommandError: for a vessel.
        """
        self.require_flying("land")
        return lambda now: Descent(land(self._vehicle, self._world, now), item)

    def way_back(
        self, item: int | None = None, speed_mps: float | None = None
    ) -> Sequence[LegBuilder]:
        """Return the legs home: up, over the home, and the landing; a vessel goes straight."""
        home = self._places.home_world_m
        if self._vehicle.dynamics.is_vessel:
            return [self.passage(home, item=item, speed_mps=speed_mps)]
        height_m = float(home.z) + self._parameters["RTL_RETURN_ALT"]

        def up(now: VehicleEstimate) -> AutopilotLeg:
            place = now.motion.position_world_m
            above = Vec3(place.x, place.y, max(height_m, float(place.z)))
            goal_m = np.asarray(above.array, np.float64)
            speed = self._parameters["MPC_XY_CRUISE"] if speed_mps is None else speed_mps
            return Passage(go_to(goal_m, now.yaw_rad, speed), above, HEIGHT_M, 0.0, item)

        def over(now: VehicleEstimate) -> AutopilotLeg:
            above = Vec3(home.x, home.y, max(height_m, float(now.position_m[2])))
            return self.passage(above, None, item, OVER_LANDING_S, speed_mps)(now)

        return [up, over, self.descent(item)]

    def mission(self, items: Sequence[Message], first: int = 0) -> Sequence[LegBuilder]:
        """Return the legs of a mission from an item on.

        Raises:
            CommandError: for an item that cannot be flown, or if nothing is left to fly.
        """
        speed_mps, legs = self._parameters["MPC_XY_CRUISE"], list[LegBuilder]()
        for number, item in enumerate(items):
            if item.command == self._d.MAV_CMD_DO_CHANGE_SPEED:
                speed_mps = self.speed_mps(item.param2, speed_mps)
            elif number >= first:
                legs += self._item(item, number, speed_mps)
        if items and not legs:
            text = f"mission: from item {first} on nothing is flown"
            raise CommandError(text)
        return legs

    def speed_mps(self, given_mps: float, present_mps: float) -> float:
        """Return the speed that DO_CHANGE_SPEED gives.

        Raises:
            CommandError: for a speed that is out of range.
        """
        if given_mps == PRESENT_SPEED:
            return present_mps
        if given_mps == DEFAULT_SPEED:
            return KNOWN["MPC_XY_CRUISE"].default
        return in_range("MPC_XY_CRUISE", given_mps)

    def require_flying(self, what: str) -> None:
        """Require a vehicle that flies.

        Raises:
            CommandError: for a vessel.
        """
        if self._vehicle.dynamics.is_vessel:
            text = f"a vessel cannot {what}"
            raise CommandError(text)

    def _item(self, item: Message, number: int, speed_mps: float) -> Iterator[LegBuilder]:
        d = self._d
        match item.command:
            case d.MAV_CMD_NAV_RETURN_TO_LAUNCH:
                yield from self.way_back(number, speed_mps)
            case d.MAV_CMD_NAV_LAND:
                if self._places.has_place(item):
                    yield self._over(item, number, speed_mps)
                yield self.descent(number)
            case d.MAV_CMD_NAV_TAKEOFF:
                yield self.climb(self._places.height_m(item.frame, item.z), number)
            case d.MAV_CMD_NAV_DELAY:
                yield self._delay(number, item.param1)
            case _:
                place = self._places.world_m(item.frame, item.x, item.y, item.z)
                yaw_rad = world_yaw_rad(radians(item.param4)) if isfinite(item.param4) else None
                endless = item.command == d.MAV_CMD_NAV_LOITER_UNLIM
                wait_s = inf if endless else item.param1
                yield self.passage(place, yaw_rad, number, wait_s, speed_mps)

    def _over(self, item: Message, number: int, speed_mps: float) -> LegBuilder:
        """Return the flight over the place of an item, at the present height."""

        def build(now: VehicleEstimate) -> AutopilotLeg:
            here = now.motion.position_world_m
            place = self._places.world_m(item.frame, item.x, item.y, nan, here)
            return self.passage(place, None, number, OVER_LANDING_S, speed_mps)(now)

        return build

    def _delay(self, number: int, wait_s: float) -> LegBuilder:
        def build(now: VehicleEstimate) -> AutopilotLeg:
            return self.passage(now.motion.position_world_m, None, number, wait_s)(now)

        return build
