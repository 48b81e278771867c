"""What a person asks a vehicle to do in flight, as a signal for each moment.

Each is a pure function of where the vehicle believes to be, for any vehicle: what it is asked for
is said on the highest rung that the vehicle takes.
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

# of the law by which a vehicle without a position controller is flown to a place
POSITION_HZ, DAMPING = 1.0, 1.0
_OMEGA = 2.0 * pi * POSITION_HZ / 4.0
MOST_MPS, MOST_MPS2 = 2.0, 4.0
# of the law that keeps an altitude under given angles
ALTITUDE_HZ, STEEPEST = 2.0, 0.3
# a vessel slows down over so many seconds of its way
APPROACH_S, VESSEL_MPS = 4.0, 1.0
SINKS_MPS, RISES_MPS, TRAVELS_MPS = 0.5, 1.0, 2.0
# one that sinks no faster, so far above where it should be, for so long stands on something
STANDS_MPS, STANDS_M, STANDS_S = 0.05, 0.3, 0.7
# one without feet stays so far above the ground
CLEARANCE_M = 0.05
# a yaw that turns leads the vehicle's own by this at most
LEADS_RAD = 0.5
# what vehicles that are flown by modes take inside a mode
OF_MODES = (
    PositionYaw,
    VelocityYawRate,
    BodyVelocityYawRate,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
)

Place = Float64[np.ndarray, "3"]


class VehicleEstimate(NamedTuple):
    """Where a vehicle believes to be, world axes; ``touching`` None for one that cannot tell.

    ``attitude`` is the rotation to world from body axes as (w, x, y, z).
    """

    time_s: float
    position_m: Place
    velocity_mps: Place
    yaw_rad: float
    touching: bool | None
    attitude: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)


class Ability(NamedTuple):
    """What a vehicle can be told, how heavy it is, the height of the ground, the most thrust."""

    takes: tuple[type, ...]
    weight_n: float
    mass_kg: float
    ground_z_m: float
    most_thrust_n: float = inf


@runtime_checkable
class Maneuver(Protocol):
    """Says at each moment what a vehicle is to do."""

    @property
    def said(self) -> str:
        """What it does, in a few words."""
        ...

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """One of ``core.signals``."""
        ...


@dataclass
class HoldCommand:
    """One signal, all the time.

    A velocity with a yaw rate, as sticks give it, becomes a velocity or an acceleration and a yaw
    that turns, for a vehicle that takes only these. The axes of the body are level ones then.
    """

    asked: Any
    # when which yaw was asked for
    _turned: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    @property
    def said(self) -> str:
        """Which kind of signal."""
        return (
            "motors off"
            if isinstance(self.asked, MotorsOff)
            else f"obeys {type(self.asked).__name__}"
        )

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """It, or what says the same to this vehicle."""
        if type(self.asked) in able.takes or _flown_by_modes(able):
            return _by_mode(self.asked, able)
        match self.asked:
            case VelocityYawRate(velocity_world_mps=velocity, yaw_rate_radps=rate):
                return self._moving(_numbers(velocity), float(rate), now, able)
            case BodyVelocityYawRate(velocity_body_mps=velocity, yaw_rate_radps=rate):
                if VelocityYawRate in able.takes:
                    return VelocityYawRate(Vec3.of(_ahead(velocity, now.yaw_rad)), rate)
                return self._moving(_ahead(velocity, now.yaw_rad), float(rate), now, able)
            case PositionYaw(position_world_m=place, yaw_rad=yaw, velocity_world_mps=velocity):
                return held_at(_numbers(place), _numbers(velocity), float(yaw), now, able)
            case _:
                return self.asked

    def follow(self, before: Maneuver | None) -> None:
        """Takes the place of another one; the yaw then turns on from where that had it."""
        if isinstance(before, HoldCommand):
            self._turned = before._turned

    def _moving(
        self, velocity_mps: Place, rate_radps: float, now: VehicleEstimate, able: Ability
    ) -> Any:
        if not {VelocityYaw, AccelerationYaw} & {*able.takes}:
            return self.asked
        since_s, yaw_rad = self._turned or (now.time_s, now.yaw_rad)
        yaw_rad += rate_radps * (now.time_s - since_s)
        # a vehicle that cannot turn so fast is not left behind
        lead_rad = (yaw_rad - now.yaw_rad + pi) % (2.0 * pi) - pi
        yaw_rad = now.yaw_rad + min(max(lead_rad, -LEADS_RAD), LEADS_RAD)
        self._turned = now.time_s, yaw_rad
        return moved_at(velocity_mps, (yaw_rad, rate_radps), now, able)


@dataclass
class GoTo:
    """To a place along a straight line at a speed, and there to stay."""

    place_m: Place
    yaw_rad: float
    speed_mps: float = TRAVELS_MPS
    _begun: tuple[float, Place] | None = None

    @property
    def said(self) -> str:
        """Where."""
        return f"goes to {', '.join(f'{axis:.1f}' for axis in self.place_m)} m"

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """The point that moves along the line."""
        if self._begun is None:
            self._begun = now.time_s, now.position_m
        began_s, from_m = self._begun
        way = self.place_m - from_m
        length_m = float(np.linalg.norm(way))
        gone_m = self.speed_mps * (now.time_s - began_s)
        if gone_m >= length_m:
            return held_at(self.place_m, np.zeros(3), self.yaw_rad, now, able)
        ahead = way / length_m
        moving = ahead * self.speed_mps
        return held_at(from_m + ahead * gone_m, moving, self.yaw_rad, now, able)


@dataclass
class LandManeuver:
    """Straight down until it stands on something, then motors off.

    One without feet stops a little above the ground and stays there.
    """

    _begun: tuple[float, Place, float] | None = None
    _standing_since_s: float | None = None
    _down: bool = False

    @property
    def said(self) -> str:
        """That."""
        return "lands"

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """The point that sinks; ``MotorsOff`` when the vehicle does not follow it any further."""
        if self._begun is None:
            self._begun = now.time_s, now.position_m, now.yaw_rad
        began_s, from_m, yaw_rad = self._begun
        if self._down or self._stands(now):
            self._down = True
            return MotorsOff()
        low_m = able.ground_z_m + CLEARANCE_M if now.touching is None else -np.inf
        up_m = max(float(from_m[2]) - SINKS_MPS * (now.time_s - began_s), low_m)
        sinking = np.array([0.0, 0.0, -SINKS_MPS if up_m > low_m else 0.0])
        return held_at(np.array([*from_m[:2], up_m]), sinking, yaw_rad, now, able)

    def _stands(self, now: VehicleEstimate) -> bool:
        assert self._begun is not None
        asked_m = float(self._begun[1][2]) - SINKS_MPS * (now.time_s - self._begun[0])
        still = abs(now.velocity_mps[2]) < STANDS_MPS and now.position_m[2] > asked_m + STANDS_M
        if now.touching is None or not (still and now.touching):
            self._standing_since_s = None
            return False
        if self._standing_since_s is None:
            self._standing_since_s = now.time_s
        return now.time_s - self._standing_since_s >= STANDS_S


@dataclass(frozen=True)
class Lean:
    """In these angles at a height, as with the sliders of the Matlab drone simulator."""

    roll_rad: float
    pitch_rad: float
    yaw_rad: float
    height_m: float

    @property
    def said(self) -> str:
        """At which height."""
        return f"keeps angles at {self.height_m:.1f} m"

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """The thrust that keeps the height under these angles."""
        omega = 2.0 * pi * ALTITUDE_HZ / 4.0
        lift = omega**2 * (self.height_m - now.position_m[2]) - 2.0 * omega * now.velocity_mps[2]
        lift = float(np.clip(lift, -MOST_MPS2, MOST_MPS2))
        upright = max(cos(self.roll_rad) * cos(self.pitch_rad), STEEPEST)
        thrust_n = (able.weight_n + able.mass_kg * lift) / upright
        angles = EulerZYX(self.roll_rad, self.pitch_rad, self.yaw_rad)
        attitude = Quaternion.from_euler(angles)
        thrust_n = min(max(thrust_n, 0.0), able.most_thrust_n)
        return _by_mode(ThrustAttitude(thrust_n, attitude), able)


def ability_of(vehicle: Vehicle, takes: tuple[type, ...], world: World) -> Ability:
    """What a vehicle can do in a world, which takes these signals."""
    dynamics = vehicle.dynamics
    mass_kg = float(getattr(dynamics, "mass_kg", 1.0))
    most_n = dynamics.command_bounds.get("thrust_n", (0.0, inf))[1]
    weight_n = mass_kg * float(world.gravity_mps2)
    return Ability(takes, weight_n, mass_kg, float(world.ground_z_m), float(most_n))


def held_at(
    place_m: Place, velocity_mps: Place, yaw_rad: float, now: VehicleEstimate, able: Ability
) -> Any:
    """What brings a vehicle to a point that moves, on the highest rung that it takes."""
    place, velocity = Vec3(*map(float, place_m)), Vec3(*map(float, velocity_mps))
    if PositionYaw in able.takes or _flown_by_modes(able):
        return _by_mode(PositionYaw(place, yaw_rad, velocity), able)
    away = place_m - now.position_m
    if HeadingSpeed in able.takes:
        far_m = hypot(away[0], away[1])
        heading_rad = atan2(away[1], away[0]) if far_m > STANDS_M else now.yaw_rad
        return HeadingSpeed(heading_rad, min(far_m / APPROACH_S, VESSEL_MPS))
    if VelocityYaw in able.takes:
        wanted = _at_most(velocity_mps + POSITION_HZ * away, MOST_MPS)
        return VelocityYaw(Vec3(*map(float, wanted)), yaw_rad)
    return _pulled(_OMEGA**2 * away, velocity_mps, (yaw_rad, 0.0), now)


def moved_at(
    velocity_mps: Place, turning: tuple[float, float], now: VehicleEstimate, able: Ability
) -> Any:
    """What gives a vehicle a velocity, with a yaw and its rate, on the highest rung it takes."""
    if VelocityYaw in able.takes:
        yaw_rad, rate_radps = turning
        return VelocityYaw(Vec3.of(velocity_mps), yaw_rad, yaw_rate_radps=rate_radps)
    return _pulled(np.zeros(3), velocity_mps, turning, now)


def _pulled(
    pull: Place, velocity_mps: Place, turning: tuple[float, float], now: VehicleEstimate
) -> AccelerationYaw:
    """A pull, and one towards a velocity."""
    yaw_rad, rate_radps = turning
    pull = pull + 2.0 * DAMPING * _OMEGA * (velocity_mps - now.velocity_mps)
    pull = _at_most(pull, MOST_MPS2)
    return AccelerationYaw(Vec3(*map(float, pull)), yaw_rad, yaw_rate_radps=rate_radps)


def _ahead(velocity_body_mps: Vec3, yaw_rad: float) -> Place:
    """A velocity in level axes of the body, in those of the world."""
    ahead, left, up = _numbers(velocity_body_mps)
    sine, cosine = sin(yaw_rad), cos(yaw_rad)
    return np.array([cosine * ahead - sine * left, sine * ahead + cosine * left, up])


def _numbers(vector: Vec3) -> Place:
    return np.array([float(vector.x), float(vector.y), float(vector.z)])


def takes_in_body_axes(able: Ability) -> bool:
    """Whether a vehicle takes velocities in its own axes."""
    return BodyVelocityYawRate in able.takes or _flown_by_modes(able)


# what of a row says where a vehicle believes to be
BELIEVED = frozenset(
    {
        *("time_s", "contact"),
        *(f"estimate.q{axis}" for axis in "wxyz"),
        *(f"estimate.{axis}_m" for axis in "xyz"),
        *(f"estimate.v{axis}_mps" for axis in "xyz"),
    }
)


def estimate_of(row: Mapping[str, float]) -> VehicleEstimate:
    """What a vehicle believes, by a row of its log."""
    w, x, y, z = (row[f"estimate.q{axis}"] for axis in "wxyz")
    return VehicleEstimate(
        row["time_s"],
        np.array([row[f"estimate.{axis}_m"] for axis in "xyz"]),
        np.array([row[f"estimate.v{axis}_mps"] for axis in "xyz"]),
        atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
        bool(row["contact"] > 0.0) if "contact" in row else None,
        (w, x, y, z),
    )


def _flown_by_modes(able: Ability) -> bool:
    return ModeCommand in able.takes


def _by_mode(asked: Any, able: Ability) -> Any:
    """A signal that a vehicle takes itself, or as a mode with its command."""
    if type(asked) in able.takes or not _flown_by_modes(able) or type(asked) not in OF_MODES:
        return asked
    return ModeCommand(0.0).with_command(asked)


def _at_most(vector: Place, length: float) -> Place:
    return vector * min(1.0, length / max(float(np.linalg.norm(vector)), 1e-9))
