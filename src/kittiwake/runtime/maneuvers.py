"""Maneuvers that a user commands in flight, each a command for every block.

A maneuver flies the guidance of scenarios, from the vehicle's state estimate at its first block.
``CommandConverter`` converts its commands for vehicles that do not accept them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import cos, inf, pi
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from typing_extensions import override

from kittiwake.control.position import Position
from kittiwake.core.commands import (
    BodyVelocityYawRate,
    Command,
    CommandChoice,
    MotorsOff,
    PositionYaw,
    ThrustAttitude,
)
from kittiwake.core.kinematics import Start
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.landing.land import Land
from kittiwake.guidance.maneuvers.goto import Goto
from kittiwake.guidance.maneuvers.hold import Hold
from kittiwake.guidance.maneuvers.ramp import DONE, REFUSED, RampLand, RampTakeoff
from kittiwake.guidance.maneuvers.takeoff import Takeoff
from kittiwake.guidance.trajectories.pursue import Pursue
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_conversion import CommandConverter
from kittiwake.runtime.standalone_component import StandaloneComponent
from kittiwake.runtime.vehicle_estimate import PositionArray, VehicleEstimate
from kittiwake.world.world import WorldModel

# height law of ``HoldAttitude``
ALTITUDE_LAW = Position(natural_frequency_radps=pi)
MIN_TILT_COSINE = 0.3
CRUISE_MPS, DESCENT_MPS = 2.0, 1.0
# height above the ground at which a vehicle without landing gear ends its descent
CLEARANCE_M = 0.05


class Capabilities(NamedTuple):
    """Command types and limits of a vehicle in a world.

    ``accepted_commands`` are ordered from high to low; ``ground_z_m`` is the height of the ground.
    """

    accepted_commands: tuple[type, ...]
    weight_n: float
    mass_kg: float
    ground_z_m: float
    max_thrust_n: float = inf


@runtime_checkable
class Maneuver(Protocol):
    """A user's maneuver, which gives a command for each block."""

    @property
    def description(self) -> str:
        """A few words for the log, such as "lands"."""
        ...

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Command:
        """Return a command of ``core.commands`` for the next block."""
        ...


@dataclass(frozen=True)
class HoldCommand:
    """A constant command."""

    held: Any

    @property
    def description(self) -> str:
        """The type of the command."""
        return (
            "motors off"
            if isinstance(self.held, MotorsOff)
            else f"holds {type(self.held).__name__}"
        )

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Command:
        """Return the command."""
        del now, capabilities
        return self.held


@dataclass
class GuidanceManeuver:
    """Flight by guidance, whose parameters may be replaced in flight.

    Attributes:
        guidance: the guidance; one that requires no sensors, radio or count of steps.
        description: a few words for the log.
        choice: the last setpoint of the guidance.
    """

    guidance: AbstractGuidance
    description: str
    choice: CommandChoice | None = field(default=None, init=False)
    _stepped: StandaloneComponent | None = field(default=None, init=False, repr=False)
    _start_s: float = field(default=0.0, init=False, repr=False)
    _last_s: float = field(default=0.0, init=False, repr=False)

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Command:
        """Return the setpoint of the guidance."""
        del capabilities
        if self._stepped is None:
            self._stepped = StandaloneComponent.of(self.guidance)
            self._start_s = self._last_s = now.time_s
        inputs = GuidanceInputs(now.time_s - self._start_s, 0, now.motion)
        stepped = self._stepped._replace(component=self.guidance)
        self._stepped, setpoint = stepped.step(inputs, now.time_s - self._last_s)
        self._last_s = now.time_s
        single = not isinstance(setpoint, CommandChoice)
        self.choice = CommandChoice((setpoint,), 0) if single else setpoint
        return self.choice.commands[int(self.choice.index)]

    def phase(self) -> int:
        """Return the index of the guidance's phase, after the first command."""
        assert self._stepped is not None, "the maneuver has begun"
        return int(self.guidance.phase(self._stepped.state))


@dataclass
class PositionManeuver(GuidanceManeuver):
    """Flight to a position and a yaw, which are held."""

    position_world_m: PositionArray
    yaw_rad: float


class Landing(GuidanceManeuver):
    """Landing on the ground, or on whatever the vehicle touches above it."""

    @override
    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Command:
        assert isinstance(self.guidance, Land)
        height_m = self.guidance.landing_height_world_m
        if now.touching and height_m is not None:
            touched_m = max(float(height_m), float(now.position_m[2]))
            self.guidance = replace(self.guidance, landing_height_world_m=touched_m)
        return super().command(now, capabilities)


@dataclass
class RampManeuver(GuidanceManeuver):
    """Takeoff or landing along a ramp of height, after which its setpoint is held.

    Attributes:
        residual_m: distance to the end of the ramp after the pause; None before.
        off: True once the motors are switched off.
    """

    residual_m: float | None = field(default=None, init=False)
    off: bool = field(default=False, init=False)

    @property
    def over(self) -> bool:
        """True once the ramp and the pause are over."""
        return self.residual_m is not None

    @property
    def goal(self) -> PositionYaw:
        """The setpoint of the ramp; after it, its end."""
        assert self.choice is not None, "the maneuver has begun"
        goal = self.choice.commands[0]
        assert isinstance(goal, PositionYaw)
        return goal

    @override
    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Command:
        command = super().command(now, capabilities)
        if not self.over and self.phase() in (REFUSED, DONE):
            error_m = self.goal.position_world_m - now.motion.position_world_m
            self.residual_m = float(error_m.norm())
        self.off = isinstance(command, MotorsOff)
        return command


@dataclass
class HoldAttitude:
    """Constant attitude and height, as with the sliders of the Matlab drone simulator."""

    roll_rad: float
    pitch_rad: float
    yaw_rad: float
    height_m: float
    _altitude: StandaloneComponent = field(
        default_factory=lambda: StandaloneComponent.of(ALTITUDE_LAW), repr=False, compare=False
    )

    @property
    def description(self) -> str:
        """The height."""
        return f"holds angles at {self.height_m:.1f} m"

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> ThrustAttitude:
        """Return the attitude with the thrust that holds the height."""
        place = now.motion.position_world_m
        at_height = PositionYaw(Vec3(place.x, place.y, self.height_m), self.yaw_rad)
        _, found = self._altitude.step((at_height, now.motion), 0.0)
        lift = found.acceleration_world_mps2.z
        upright = max(cos(self.roll_rad) * cos(self.pitch_rad), MIN_TILT_COSINE)
        thrust_n = (capabilities.weight_n + capabilities.mass_kg * lift) / upright
        angles = EulerZYX(self.roll_rad, self.pitch_rad, self.yaw_rad)
        thrust_n = min(max(thrust_n, 0.0), capabilities.max_thrust_n)
        return ThrustAttitude(thrust_n, Quaternion.from_euler(angles))


def hold(position_m: PositionArray, yaw_rad: float) -> PositionManeuver:
    """Return the maneuver that holds a position."""
    guidance = Hold(position_world_m=_vector(position_m), yaw_rad=yaw_rad)
    return PositionManeuver(guidance, _goes_to(position_m), position_m, yaw_rad)


def go_to(
    position_m: PositionArray, yaw_rad: float, speed_mps: float = CRUISE_MPS
) -> PositionManeuver:
    """Return the maneuver that flies to a position along a straight line."""
    guidance = Goto(_vector(position_m), yaw_rad, speed_mps=speed_mps)
    return PositionManeuver(guidance, _goes_to(position_m), position_m, yaw_rad)


def take_off(height_m: float) -> GuidanceManeuver:
    """Return the maneuver that climbs by a height."""
    return GuidanceManeuver(Takeoff(height_m), f"takes off by {height_m:g} m")


def pursuit_again(vehicle: AssembledVehicle) -> GuidanceManeuver | None:
    """Return the vehicle's pursuit from its first waypoint; None if its guidance is no pursuit."""
    guidance = vehicle.guidance.component
    if not isinstance(guidance, Pursue):
        return None
    return GuidanceManeuver(guidance, "begins its pursuit again")


def land(vehicle: AssembledVehicle, world: WorldModel, now: VehicleEstimate) -> GuidanceManeuver:
    """Return the landing; a vehicle without landing gear stays ``CLEARANCE_M`` above the ground."""
    if vehicle.dynamics.standing_height_m is None:
        x_m, y_m, _ = map(float, now.position_m)
        above = Vec3(x_m, y_m, float(world.ground_z_m) + CLEARANCE_M)
        return GuidanceManeuver(Goto(above, now.yaw_rad, speed_mps=DESCENT_MPS), "lands")
    context = BuildContext(world, vehicle.dynamics, vehicle.start, sensors={})
    return Landing(Land().prepare(context), "lands")


def ramp_takeoff(height_m: float, duration_s: float | None, idle_s: float) -> RampManeuver:
    """Return the takeoff along a ramp; the default duration for None."""
    guidance = RampTakeoff(height_m, duration_s, idle_s, force=True)
    return RampManeuver(guidance, f"takes off along a ramp by {height_m:g} m")


def ramp_landing(
    height_m: float, duration_s: float | None, idle_s: float, max_residual_m: float
) -> RampManeuver:
    """Return the landing along a ramp to a height in the world."""
    return RampManeuver(
        RampLand(height_m, duration_s, idle_s, max_residual_m), "lands along a ramp"
    )


def compile_maneuvers(accepted_commands: Iterable[tuple[type, ...]]) -> None:
    """Compile what maneuvers call, so that the first one does not delay a flight.

    Args:
        accepted_commands: the command types of each kind of vehicle.
    """
    now = VehicleEstimate(0.0, Start().kinematics())
    place_m = np.zeros(3)
    maneuvers = [
        hold(place_m, 0.0),
        go_to(place_m, 0.0),
        take_off(1.0),
        GuidanceManeuver(Land(0.0), "lands"),
        *(ramp_takeoff(1.0, duration_s, 0.0) for duration_s in (None, 1.0)),
        *(ramp_landing(0.0, duration_s, 0.0, 1.0) for duration_s in (None, 1.0)),
    ]
    for maneuver in maneuvers:
        maneuver.command(now, Capabilities((), 1.0, 1.0, 0.0))
    for accepted in accepted_commands:
        for command in (PositionYaw(Vec3.zero(), 0.0), BodyVelocityYawRate(Vec3.zero(), 0.0)):
            CommandConverter().convert(command, now, accepted)


def capabilities_of(
    vehicle: AssembledVehicle, accepted_commands: tuple[type, ...], world: WorldModel
) -> Capabilities:
    """Return the capabilities in a world of a vehicle that accepts these command types."""
    dynamics = vehicle.dynamics
    mass_kg = float(getattr(dynamics, "mass_kg", 1.0))
    max_n = dynamics.vehicle_parameters(world.gravity_mps2).get("max_thrust_n", inf)
    weight_n = mass_kg * float(world.gravity_mps2)
    ground_z_m = float(world.ground_z_m)
    return Capabilities(accepted_commands, weight_n, mass_kg, ground_z_m, float(max_n))


def _vector(position_m: PositionArray) -> Vec3:
    return Vec3(*map(float, position_m))


def _goes_to(position_m: PositionArray) -> str:
    return f"goes to {', '.join(f'{axis:.1f}' for axis in position_m)} m"
