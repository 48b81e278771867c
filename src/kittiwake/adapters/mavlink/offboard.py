"""Setpoints of a client that flies by itself, as maneuvers.

Vessels fly velocities as heading and speed.
Source: MAVLink, SET_POSITION_TARGET_LOCAL_NED, SET_POSITION_TARGET_GLOBAL_INT.
"""

from collections.abc import Sequence
from math import atan2, hypot
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.places import Places
from kittiwake.adapters.mavlink.world_frame import from_ned
from kittiwake.adapters.ranges import ACCELERATION, ANGLE, POSITION, RATE, VELOCITY, Range
from kittiwake.core.commands import (
    AccelerationYaw,
    BodyVelocityYawRate,
    Command,
    HeadingSpeed,
    PositionYaw,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.core.errors import CommandError
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_euler, swap_flu_frd
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import HoldCommand
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

POSITION_IGNORED, VELOCITY_IGNORED, ACCELERATION_IGNORED = 0b111, 0b111 << 3, 0b111 << 6
YAW_IGNORED, YAW_RATE_IGNORED = 1 << 10, 1 << 11
# velocity that has no direction, and rate of turn that is none
LEAST_SPEED_MPS = 1e-3


class PositionTargets:
    """Converter of targets of position, velocity and acceleration.

    Args:
        dialect: the messages of MAVLink.
        places: the converter of places.
        steers: whether velocities are flown as heading and speed.
    """

    def __init__(self, dialect: ModuleType, places: Places, *, steers: bool = False) -> None:
        d = self._d = dialect
        self._places, self._steers = places, steers
        self._body_frames = {
            d.MAV_FRAME_BODY_NED,
            d.MAV_FRAME_BODY_OFFSET_NED,
            d.MAV_FRAME_BODY_FRD,
        }

    def maneuver(self, message: Message, now: VehicleEstimate) -> HoldCommand:
        """Return the maneuver of a target.

        Raises:
            CommandError: for a frame or a mix of ignored parts that is not supported, or numbers
                that are out of range.
        """
        held = self._command(message, now)
        return HoldCommand(_heading_speed(held, now) if self._steers else held)

    def _command(self, message: Message, now: VehicleEstimate) -> Command:
        mask, in_body = message.type_mask, message.coordinate_frame in self._body_frames
        self._check_frame(message)
        velocity = acceleration = None
        if not mask & VELOCITY_IGNORED:
            velocity = from_ned(*_checked(VELOCITY, message, ("vx", "vy", "vz")))
        if not mask & ACCELERATION_IGNORED:
            acceleration = from_ned(*_checked(ACCELERATION, message, ("afx", "afy", "afz")))
        rate_radps = 0.0 if mask & YAW_RATE_IGNORED else -float(message.yaw_rate)
        RATE.check("yaw_rate", rate_radps)
        if in_body:
            return self._in_body(message, rate_radps)
        ahead = acceleration or Vec3.zero()
        if not mask & POSITION_IGNORED:
            place = self._place(message, now)
            yaw_rad = self._yaw_rad(message, now)
            return PositionYaw(
                place, yaw_rad, velocity or Vec3.zero(), ahead, yaw_rate_radps=rate_radps
            )
        if velocity is not None:
            if mask & YAW_IGNORED:
                return VelocityYawRate(velocity, rate_radps, ahead)
            return VelocityYaw(velocity, self._yaw_rad(message, now), ahead, rate_radps)
        if acceleration is not None:
            yaw_rad = self._yaw_rad(message, now)
            return AccelerationYaw(acceleration, yaw_rad, yaw_rate_radps=rate_radps)
        text = f"type_mask {mask:#x}: write a whole position, velocity or acceleration"
        raise CommandError(text)

    def _in_body(self, message: Message, rate_radps: float) -> Command:
        if message.type_mask & VELOCITY_IGNORED:
            text = "in body axes only velocities are accepted"
            raise CommandError(text)
        given = Vec3(*_checked(VELOCITY, message, ("vx", "vy", "vz")))
        return BodyVelocityYawRate(swap_flu_frd(given), rate_radps)

    def _check_frame(self, message: Message) -> None:
        d, kind = self._d, message.coordinate_frame
        if message.get_type() == "SET_POSITION_TARGET_GLOBAL_INT":
            # places are checked where they are read
            return
        if kind not in {d.MAV_FRAME_LOCAL_NED, d.MAV_FRAME_LOCAL_OFFSET_NED, *self._body_frames}:
            text = f"coordinate_frame {kind}: write 1 (local), 7 (offset), 8, 9 or 12 (body)"
            raise CommandError(text)

    def _place(self, message: Message, now: VehicleEstimate) -> Vec3:
        d, kind = self._d, message.coordinate_frame
        if message.get_type() == "SET_POSITION_TARGET_GLOBAL_INT":
            return self._places.world_m(kind, message.lat_int, message.lon_int, message.alt)
        place = from_ned(*_checked(POSITION, message, ("x", "y", "z")))
        offset = kind == d.MAV_FRAME_LOCAL_OFFSET_NED
        return now.motion.position_world_m + place if offset else place

    def _yaw_rad(self, message: Message, now: VehicleEstimate) -> float:
        """Return the yaw of a target; the present one if it has none."""
        if message.type_mask & YAW_IGNORED:
            return now.yaw_rad
        return world_yaw_rad(message.yaw)


def _checked(limits: Range, message: Message, names: Sequence[str]) -> list[float]:
    """Return fields of a message; raises as ``Range.check``."""
    numbers = [float(getattr(message, name)) for name in names]
    for name, number in zip(names, numbers, strict=True):
        limits.check(name, number)
    return numbers


def world_yaw_rad(yaw_rad: float) -> float:
    """Return the yaw in the world for one that is counted clockwise from the north.

    Raises:
        CommandError: if it is out of range or not a number.
    """
    ANGLE.check("yaw", yaw_rad)
    return float(swap_euler(EulerZYX(0.0, 0.0, float(yaw_rad))).yaw_rad)


def _heading_speed(held: Command, now: VehicleEstimate) -> Command:
    """Return a velocity as heading and speed; another command unchanged.

    Raises:
        CommandError: for a rate of turn, or a velocity to the side in body axes.
    """
    if isinstance(held, BodyVelocityYawRate):
        velocity = held.velocity_body_mps
        _require_zero("vy", velocity.y)
        _require_zero("yaw_rate", held.yaw_rate_radps)
        return HeadingSpeed(now.yaw_rad, float(velocity.x))
    if isinstance(held, VelocityYaw | VelocityYawRate):
        velocity = held.velocity_world_mps
        speed_mps = hypot(float(velocity.x), float(velocity.y))
        still = speed_mps < LEAST_SPEED_MPS
        course_rad = now.yaw_rad if still else atan2(float(velocity.y), float(velocity.x))
        return HeadingSpeed(course_rad, speed_mps)
    return held


def _require_zero(name: str, value: Real) -> None:
    """Require zero; the value is that in axes of the opposite direction."""
    if abs(float(value)) > LEAST_SPEED_MPS:
        text = (
            f"{name}: got {-float(value):g}; must be 0 for a vessel, which flies a velocity in the "
            "local frame as heading and speed"
        )
        raise CommandError(text)
