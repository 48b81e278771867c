"""Maneuvers that a user commands in flight, each a command for every block.

A maneuver computes its command from the vehicle's state estimate. It uses the highest command type
of the cascade that the vehicle accepts, so that it works for any vehicle.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import atan2, cos, hypot, inf, pi, sin
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64

from kittiwake.core.commands import (
    AccelerationYaw,
    BodyVelocityYawRate,
    HeadingSpeed,
    ModeCommand,
    MotorsOff,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.world.world import World

# position law for a vehicle without a position controller
POSITION_HZ, DAMPING = 1.0, 1.0
_OMEGA = 2.0 * pi * POSITION_HZ / 4.0
MAX_SPEED_MPS, MAX_ACCELERATION_MPS2 = 2.0, 4.0
# altitude law of ``HoldAttitude``
ALTITUDE_HZ, MIN_TILT_COSINE = 2.0, 0.3
# a vessel slows down in proportion to its distance, with this time constant, to this top speed
APPROACH_S, VESSEL_MPS = 4.0, 1.0
DESCENT_MPS, CLIMB_MPS, CRUISE_MPS = 0.5, 1.0, 2.0
# touchdown: vertical speed below, height above the setpoint over, and both for at least
STATIONARY_MPS, STATIONARY_M, STATIONARY_S = 0.05, 0.3, 0.7
# height above the ground at which a vehicle without contact sensing stops its landing
CLEARANCE_M = 0.05
# how far a turning yaw setpoint may lead the vehicle's yaw
MAX_YAW_LEAD_RAD = 0.5
# command types that a ``ModeCommand`` can hold
MODE_COMMAND_TYPES = (
    PositionYaw,
    VelocityYawRate,
    BodyVelocityYawRate,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
)

Position = Float64[np.ndarray, "3"]


class VehicleEstimate(NamedTuple):
    """State estimate of a vehicle in world axes.

    ``touching`` is None for a vehicle without contact sensing; ``attitude`` is the rotation to
    world from body axes as (w, x, y, z).
    """

    time_s: float
    position_m: Position
    velocity_mps: Position
    yaw_rad: float
    touching: bool | None
    attitude: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


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

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Any:
        """Return a command of ``core.commands`` for the next block."""
        ...


@dataclass
class HoldCommand:
    """A constant command.

    For a vehicle that accepts only a velocity or an acceleration with a yaw, a velocity with a yaw
    rate becomes one of these with a turning yaw. Body axes are then level axes: x points along the
    heading, and z is up.
    """

    held: Any
    # time and yaw of the last command with a turning yaw
    _yaw_reference: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    @property
    def description(self) -> str:
        """The type of the command."""
        return (
            "motors off"
            if isinstance(self.held, MotorsOff)
            else f"holds {type(self.held).__name__}"
        )

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Any:
        """Return the command, or an equivalent one that the vehicle accepts."""
        if type(self.held) in capabilities.accepted_commands or _takes_mode_commands(capabilities):
            return _as_mode_command(self.held, capabilities)
        match self.held:
            case VelocityYawRate(velocity_world_mps=velocity, yaw_rate_radps=rate):
                return self._track_velocity(_array(velocity), float(rate), now, capabilities)
            case BodyVelocityYawRate(velocity_body_mps=velocity, yaw_rate_radps=rate):
                velocity_mps = _world_from_level_axes(velocity, now.yaw_rad)
                if VelocityYawRate in capabilities.accepted_commands:
                    return VelocityYawRate(Vec3.of(velocity_mps), rate)
                return self._track_velocity(velocity_mps, float(rate), now, capabilities)
            case PositionYaw(position_world_m=position, yaw_rad=yaw, velocity_world_mps=velocity):
                return track_position(
                    _array(position), _array(velocity), float(yaw), now, capabilities
                )
            case _:
                return self.held

    def follow(self, before: Maneuver | None) -> None:
        """Continue the turning yaw of the maneuver that this one replaces."""
        if isinstance(before, HoldCommand):
            self._yaw_reference = before._yaw_reference

    def _track_velocity(
        self,
        velocity_mps: Position,
        rate_radps: float,
        now: VehicleEstimate,
        capabilities: Capabilities,
    ) -> Any:
        if not {VelocityYaw, AccelerationYaw} & {*capabilities.accepted_commands}:
            return self.held
        since_s, yaw_rad = self._yaw_reference or (now.time_s, now.yaw_rad)
        yaw_rad += rate_radps * (now.time_s - since_s)
        # the setpoint waits for a vehicle that cannot turn so fast
        lead_rad = (yaw_rad - now.yaw_rad + pi) % (2.0 * pi) - pi
        yaw_rad = now.yaw_rad + min(max(lead_rad, -MAX_YAW_LEAD_RAD), MAX_YAW_LEAD_RAD)
        self._yaw_reference = now.time_s, yaw_rad
        return track_velocity(velocity_mps, (yaw_rad, rate_radps), now, capabilities)


@dataclass
class GoTo:
    """Flight along a straight line to a position at constant speed, then hold."""

    position_world_m: Position
    yaw_rad: float
    speed_mps: float = CRUISE_MPS
    _start: tuple[float, Position] | None = None

    @property
    def description(self) -> str:
        """The target position."""
        return f"goes to {', '.join(f'{axis:.1f}' for axis in self.position_world_m)} m"

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Any:
        """Return a command to track the point that moves along the line."""
        if self._start is None:
            self._start = now.time_s, now.position_m
        start_s, from_m = self._start
        path_m = self.position_world_m - from_m
        length_m = float(np.linalg.norm(path_m))
        progress_m = self.speed_mps * (now.time_s - start_s)
        if progress_m >= length_m:
            return track_position(
                self.position_world_m, np.zeros(3), self.yaw_rad, now, capabilities
            )
        direction = path_m / length_m
        velocity_mps = direction * self.speed_mps
        point_m = from_m + direction * progress_m
        return track_position(point_m, velocity_mps, self.yaw_rad, now, capabilities)


@dataclass
class LandManeuver:
    """Vertical descent until touchdown, then motors off.

    A vehicle without contact sensing stops ``CLEARANCE_M`` above the ground and hovers there.
    """

    _start: tuple[float, Position, float] | None = None
    _stationary_since_s: float | None = None
    _landed: bool = False

    @property
    def description(self) -> str:
        """The word "lands"."""
        return "lands"

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Any:
        """Return a command to track the descending point; ``MotorsOff`` after touchdown."""
        if self._start is None:
            self._start = now.time_s, now.position_m, now.yaw_rad
        start_s, from_m, yaw_rad = self._start
        if self._landed or self._has_touched_down(now):
            self._landed = True
            return MotorsOff()
        low_m = capabilities.ground_z_m + CLEARANCE_M if now.touching is None else -np.inf
        up_m = max(float(from_m[2]) - DESCENT_MPS * (now.time_s - start_s), low_m)
        velocity_mps = np.array([0.0, 0.0, -DESCENT_MPS if up_m > low_m else 0.0])
        point_m = np.array([*from_m[:2], up_m])
        return track_position(point_m, velocity_mps, yaw_rad, now, capabilities)

    def _has_touched_down(self, now: VehicleEstimate) -> bool:
        assert self._start is not None
        up_m = float(self._start[1][2]) - DESCENT_MPS * (now.time_s - self._start[0])
        slow = abs(now.velocity_mps[2]) < STATIONARY_MPS
        stationary = slow and now.position_m[2] > up_m + STATIONARY_M
        if now.touching is None or not (stationary and now.touching):
            self._stationary_since_s = None
            return False
        if self._stationary_since_s is None:
            self._stationary_since_s = now.time_s
        return now.time_s - self._stationary_since_s >= STATIONARY_S


@dataclass(frozen=True)
class HoldAttitude:
    """Constant attitude and height, as with the sliders of the Matlab drone simulator."""

    roll_rad: float
    pitch_rad: float
    yaw_rad: float
    height_m: float

    @property
    def description(self) -> str:
        """The height."""
        return f"holds angles at {self.height_m:.1f} m"

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Any:
        """Return the attitude with the thrust that holds the height."""
        omega = 2.0 * pi * ALTITUDE_HZ / 4.0
        lift = omega**2 * (self.height_m - now.position_m[2]) - 2.0 * omega * now.velocity_mps[2]
        lift = float(np.clip(lift, -MAX_ACCELERATION_MPS2, MAX_ACCELERATION_MPS2))
        upright = max(cos(self.roll_rad) * cos(self.pitch_rad), MIN_TILT_COSINE)
        thrust_n = (capabilities.weight_n + capabilities.mass_kg * lift) / upright
        angles = EulerZYX(self.roll_rad, self.pitch_rad, self.yaw_rad)
        attitude = Quaternion.from_euler(angles)
        thrust_n = min(max(thrust_n, 0.0), capabilities.max_thrust_n)
        return _as_mode_command(ThrustAttitude(thrust_n, attitude), capabilities)


def capabilities_of(
    vehicle: Vehicle, accepted_commands: tuple[type, ...], world: World
) -> Capabilities:
    """Return the capabilities in a world of a vehicle that accepts these command types."""
    dynamics = vehicle.dynamics
    mass_kg = float(getattr(dynamics, "mass_kg", 1.0))
    max_n = dynamics.command_bounds.get("thrust_n", (0.0, inf))[1]
    weight_n = mass_kg * float(world.gravity_mps2)
    ground_z_m = float(world.ground_z_m)
    return Capabilities(accepted_commands, weight_n, mass_kg, ground_z_m, float(max_n))


def track_position(
    position_m: Position,
    velocity_mps: Position,
    yaw_rad: float,
    now: VehicleEstimate,
    capabilities: Capabilities,
) -> Any:
    """Return the command to follow a moving point, of the highest type that is accepted."""
    position, velocity = Vec3(*map(float, position_m)), Vec3(*map(float, velocity_mps))
    if PositionYaw in capabilities.accepted_commands or _takes_mode_commands(capabilities):
        return _as_mode_command(PositionYaw(position, yaw_rad, velocity), capabilities)
    error_m = position_m - now.position_m
    if HeadingSpeed in capabilities.accepted_commands:
        distance_m = hypot(error_m[0], error_m[1])
        heading_rad = atan2(error_m[1], error_m[0]) if distance_m > STATIONARY_M else now.yaw_rad
        return HeadingSpeed(heading_rad, min(distance_m / APPROACH_S, VESSEL_MPS))
    if VelocityYaw in capabilities.accepted_commands:
        limited_mps = _limit_norm(velocity_mps + POSITION_HZ * error_m, MAX_SPEED_MPS)
        return VelocityYaw(Vec3(*map(float, limited_mps)), yaw_rad)
    return _acceleration_command(_OMEGA**2 * error_m, velocity_mps, (yaw_rad, 0.0), now)


def track_velocity(
    velocity_mps: Position,
    yaw_and_rate: tuple[float, float],
    now: VehicleEstimate,
    capabilities: Capabilities,
) -> Any:
    """Return the command for a velocity, a yaw and its rate, of the highest type accepted."""
    if VelocityYaw in capabilities.accepted_commands:
        yaw_rad, rate_radps = yaw_and_rate
        return VelocityYaw(Vec3.of(velocity_mps), yaw_rad, yaw_rate_radps=rate_radps)
    return _acceleration_command(np.zeros(3), velocity_mps, yaw_and_rate, now)


def _acceleration_command(
    position_term: Position,
    velocity_mps: Position,
    yaw_and_rate: tuple[float, float],
    now: VehicleEstimate,
) -> AccelerationYaw:
    """Return the sum of a position term and the damping toward a velocity."""
    yaw_rad, rate_radps = yaw_and_rate
    acceleration = position_term + 2.0 * DAMPING * _OMEGA * (velocity_mps - now.velocity_mps)
    acceleration = _limit_norm(acceleration, MAX_ACCELERATION_MPS2)
    return AccelerationYaw(Vec3(*map(float, acceleration)), yaw_rad, yaw_rate_radps=rate_radps)


def _world_from_level_axes(velocity_body_mps: Vec3, yaw_rad: float) -> Position:
    """Return a velocity in world axes from one in the body's level axes."""
    ahead, left, up = _array(velocity_body_mps)
    sine, cosine = sin(yaw_rad), cos(yaw_rad)
    return np.array([cosine * ahead - sine * left, sine * ahead + cosine * left, up])


def _array(vector: Vec3) -> Position:
    return np.array([float(vector.x), float(vector.y), float(vector.z)])


def accepts_body_velocity(capabilities: Capabilities) -> bool:
    """Return True if a vehicle accepts velocities in body axes."""
    accepted = BodyVelocityYawRate in capabilities.accepted_commands
    return accepted or _takes_mode_commands(capabilities)


# columns of a log row that ``estimate_from_row`` reads
ESTIMATE_COLUMNS = frozenset(
    {
        "time_s",
        "contact",
        *(f"estimate.q{axis}" for axis in "wxyz"),
        *(f"estimate.{axis}_m" for axis in "xyz"),
        *(f"estimate.v{axis}_mps" for axis in "xyz"),
    }
)


def estimate_from_row(row: Mapping[str, float]) -> VehicleEstimate:
    """Return a vehicle's state estimate from a row of its log."""
    w, x, y, z = (row[f"estimate.q{axis}"] for axis in "wxyz")
    return VehicleEstimate(
        row["time_s"],
        np.array([row[f"estimate.{axis}_m"] for axis in "xyz"]),
        np.array([row[f"estimate.v{axis}_mps"] for axis in "xyz"]),
        atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        bool(row["contact"] > 0.0) if "contact" in row else None,
        (w, x, y, z),
    )


def _takes_mode_commands(capabilities: Capabilities) -> bool:
    return ModeCommand in capabilities.accepted_commands


def _as_mode_command(command: Any, capabilities: Capabilities) -> Any:
    """Return a command as it is if the vehicle accepts it, else inside a mode command."""
    kind, accepted = type(command), capabilities.accepted_commands
    if kind in accepted or ModeCommand not in accepted or kind not in MODE_COMMAND_TYPES:
        return command
    return ModeCommand(0.0).with_command(command)


def _limit_norm(vector: Position, limit: float) -> Position:
    return vector * min(1.0, limit / max(float(np.linalg.norm(vector)), 1e-9))
