"""Setpoints of a client that flies by itself, as maneuvers.

Source: MAVLink, SET_POSITION_TARGET_LOCAL_NED, SET_POSITION_TARGET_GLOBAL_INT, SET_ATTITUDE_TARGET.
"""

from math import inf
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.world_frame import GeodeticPosition, WorldFrame, from_ned
from kittiwake.adapters.ranges import ACCELERATION, ANGLE, POSITION, RATE, VELOCITY
from kittiwake.core.commands import (
    AccelerationYaw,
    BodyVelocityYawRate,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.core.errors import CommandError
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_euler, swap_flu_frd
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import Capabilities, HoldCommand
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

POSITION_IGNORED, VELOCITY_IGNORED, ACCELERATION_IGNORED = 0b111, 0b111 << 3, 0b111 << 6
YAW_IGNORED, YAW_RATE_IGNORED = 1 << 10, 1 << 11
RATES_IGNORED, THRUST_IGNORED, ATTITUDE_IGNORED = 0b111, 1 << 6, 1 << 7


class PositionTargets:
    """Converter of targets of position, velocity and acceleration."""

    def __init__(self, dialect: ModuleType, frame: WorldFrame) -> None:
        d = self._d = dialect
        self._frame = frame
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
        mask, in_body = message.type_mask, message.coordinate_frame in self._body_frames
        velocity = acceleration = None
        if not mask & VELOCITY_IGNORED:
            velocity = from_ned(message.vx, message.vy, message.vz)
            velocity = VELOCITY.vector("velocity", velocity)
        if not mask & ACCELERATION_IGNORED:
            acceleration = from_ned(message.afx, message.afy, message.afz)
            acceleration = ACCELERATION.vector("acceleration", acceleration)
        rate_radps = 0.0 if mask & YAW_RATE_IGNORED else -float(message.yaw_rate)
        RATE.check("yaw_rate", rate_radps)
        if in_body:
            return self._in_body(message, rate_radps)
        ahead = acceleration or Vec3.zero()
        if not mask & POSITION_IGNORED:
            place = self._place(message, now)
            yaw_rad = self._yaw_rad(message, now)
            return HoldCommand(
                PositionYaw(
                    place, yaw_rad, velocity or Vec3.zero(), ahead, yaw_rate_radps=rate_radps
                )
            )
        if velocity is not None:
            if mask & YAW_IGNORED:
                return HoldCommand(VelocityYawRate(velocity, rate_radps, ahead))
            return HoldCommand(
                VelocityYaw(velocity, self._yaw_rad(message, now), ahead, rate_radps)
            )
        if acceleration is not None:
            yaw_rad = self._yaw_rad(message, now)
            return HoldCommand(AccelerationYaw(acceleration, yaw_rad, yaw_rate_radps=rate_radps))
        text = f"type_mask {mask:#x}: write a whole position, velocity or acceleration"
        raise CommandError(text)

    def _in_body(self, message: Message, rate_radps: float) -> HoldCommand:
        if message.type_mask & VELOCITY_IGNORED:
            text = "in body axes only velocities are accepted"
            raise CommandError(text)
        given = swap_flu_frd(Vec3(float(message.vx), float(message.vy), float(message.vz)))
        return HoldCommand(BodyVelocityYawRate(VELOCITY.vector("velocity", given), rate_radps))

    def _place(self, message: Message, now: VehicleEstimate) -> Vec3:
        d, kind = self._d, message.coordinate_frame
        if message.get_type() == "SET_POSITION_TARGET_GLOBAL_INT":
            altitude_m = float(message.alt)
            if kind in {d.MAV_FRAME_GLOBAL_RELATIVE_ALT, d.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT}:
                altitude_m += self._frame.altitude_m
            place = self._frame.world_m(
                GeodeticPosition(message.lat_int, message.lon_int, altitude_m)
            )
        elif kind == d.MAV_FRAME_LOCAL_NED:
            place = from_ned(message.x, message.y, message.z)
        elif kind == d.MAV_FRAME_LOCAL_OFFSET_NED:
            place = now.motion.position_world_m + from_ned(message.x, message.y, message.z)
        else:
            text = f"coordinate_frame {kind}: write 1 (local), 7 (offset) or 8 (body)"
            raise CommandError(text)
        return POSITION.vector("position", place)

    def _yaw_rad(self, message: Message, now: VehicleEstimate) -> float:
        """Return the yaw of a target; the present one if it has none."""
        if message.type_mask & YAW_IGNORED:
            return now.yaw_rad
        return world_yaw_rad(message.yaw)


def world_yaw_rad(yaw_rad: float) -> float:
    """Return the yaw in the world for one that is counted clockwise from the north.

    Raises:
        CommandError: if it is out of range or not a number.
    """
    ANGLE.check("yaw", yaw_rad)
    return float(swap_euler(EulerZYX(0.0, 0.0, float(yaw_rad))).yaw_rad)


def attitude_target(message: Message, capabilities: Capabilities) -> HoldCommand:
    """Return the maneuver of a target of attitude or rates, with a share of the largest thrust.

    Raises:
        CommandError: if thrust, or both attitude and rates, are ignored, for numbers that are out
            of range, or for a vehicle without a largest thrust.
    """
    mask = message.type_mask
    if mask & THRUST_IGNORED or capabilities.max_thrust_n == inf:
        text = "the target needs a thrust, and the vehicle a largest one"
        raise CommandError(text)
    if not 0.0 <= message.thrust <= 1.0:
        text = f"thrust: got {message.thrust:g}; must be from 0 to 1"
        raise CommandError(text)
    thrust_n = float(message.thrust) * capabilities.max_thrust_n
    rates = Vec3.zero()
    if not mask & RATES_IGNORED:
        given = Vec3(message.body_roll_rate, message.body_pitch_rate, message.body_yaw_rate)
        rates = RATE.vector("rates", swap_flu_frd(given))
    if mask & ATTITUDE_IGNORED:
        if mask & RATES_IGNORED:
            text = f"type_mask {mask:#x}: write an attitude or all rates"
            raise CommandError(text)
        return HoldCommand(ThrustRates(thrust_n, rates))
    q = Quaternion(*(float(part) for part in message.q))
    size = (q.w**2 + q.x**2 + q.y**2 + q.z**2) ** 0.5
    if not 0.5 < size < 2.0:
        text = f"q: got a quaternion of length {size:g}; must be 1"
        raise CommandError(text)
    unit = Quaternion(q.w / size, q.x / size, q.y / size, q.z / size)
    attitude = Quaternion.from_euler(swap_euler(unit.to_euler()))
    return HoldCommand(ThrustAttitude(thrust_n, attitude, rates))
