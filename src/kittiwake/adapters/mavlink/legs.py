"""Legs of an autopilot: maneuvers that are over at some time, such as the items of a mission."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

from kittiwake.adapters.mavlink.offboard_attitude import RatesByAttitude
from kittiwake.core.commands import Command, MotorsOff, ThrustRates
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import GuidanceManeuver, HoldCommand, Maneuver
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

# distance to the height of a takeoff at which it is over
HEIGHT_M = 0.3


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


def flown_command(maneuver: Maneuver | None) -> Command | None:
    """Return the last setpoint of a maneuver; None before the first one."""
    match maneuver:
        case HoldCommand(held=held):
            return held
        case RatesByAttitude(thrust_n=thrust_n, rates_body_radps=rates):
            return ThrustRates(thrust_n, rates)
        case GuidanceManeuver(choice=choice) if choice is not None:
            return choice.commands[int(choice.index)]
        case _:
            return None


def motors_are_off(maneuver: Maneuver) -> bool:
    """Return True if the last command of a maneuver switched the motors off."""
    return isinstance(flown_command(maneuver), MotorsOff)
