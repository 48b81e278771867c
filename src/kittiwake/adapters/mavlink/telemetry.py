"""Messages with the state of a vehicle: its estimate, as its own autopilot would send it.

Positions are relative to the origin of the world, velocities to the Earth; attitudes are those of
axes forward, right and down.
"""

from collections.abc import Callable, Mapping
from math import atan2, degrees, hypot, nan, pi
from types import ModuleType
from typing import NamedTuple

from kittiwake.adapters.mavlink.dialect import FlightMode, Message
from kittiwake.adapters.mavlink.world_frame import WorldFrame
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.frames import swap_enu_ned, swap_euler, swap_flu_frd
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

# what a message holds for a number that is not known, and the largest of 16 bits
UNKNOWN_16, MAX_16 = 65535, 32767
# number of satellites, and dilution of precision in hundredths
SATELLITES, DILUTION = 12, 80
# default rates of the messages; SET_MESSAGE_INTERVAL changes them
RATES_HZ: Mapping[str, float] = {
    "ATTITUDE": 50.0,
    "ATTITUDE_QUATERNION": 50.0,
    "LOCAL_POSITION_NED": 25.0,
    "GLOBAL_POSITION_INT": 10.0,
    "VFR_HUD": 10.0,
    "GPS_RAW_INT": 5.0,
    "EXTENDED_SYS_STATE": 2.0,
    "SYS_STATUS": 1.0,
    "BATTERY_STATUS": 1.0,
    "HOME_POSITION": 0.5,
    "GPS_GLOBAL_ORIGIN": 0.5,
}


class SystemReport(NamedTuple):
    """State of a vehicle, as its clients learn it.

    Attributes:
        time_s: time of the flight.
        motion: the estimated motion.
        mode: the flight mode.
        armed: whether the motors may turn.
        landed: whether it stands on something.
        home_world_m: the position to which it returns.
        charge: share of the battery's charge that is left; None without a battery.
        voltage_v: voltage of the battery; None if it is unknown.
    """

    time_s: float
    motion: Kinematics
    mode: FlightMode
    armed: bool
    landed: bool
    home_world_m: Vec3
    charge: float | None = None
    voltage_v: float | None = None


class SystemTelemetry:
    """Messages of a vehicle.

    Args:
        dialect: the messages of MAVLink.
        frame: the place of the world on the Earth.
        is_vessel: whether the vehicle floats.
        rotors: the number of its rotors.
    """

    def __init__(
        self, dialect: ModuleType, frame: WorldFrame, *, is_vessel: bool, rotors: int
    ) -> None:
        self._d, self._frame = dialect, frame
        self._type = _vehicle_type(dialect, rotors, is_vessel=is_vessel)
        self._is_vessel = is_vessel
        self.messages: Mapping[str, Callable[[SystemReport], Message]] = {
            "ATTITUDE": self._attitude,
            "ATTITUDE_QUATERNION": self._attitude_quaternion,
            "LOCAL_POSITION_NED": self._local_position,
            "GLOBAL_POSITION_INT": self._global_position,
            "VFR_HUD": self._head_up_display,
            "GPS_RAW_INT": self._gnss,
            "EXTENDED_SYS_STATE": self._landed_state,
            "SYS_STATUS": self._system_status,
            "BATTERY_STATUS": self._battery_status,
            "HOME_POSITION": self._home,
            "GPS_GLOBAL_ORIGIN": self._origin,
        }

    def heartbeat(self, mode: FlightMode, *, armed: bool) -> Message:
        """Return the heartbeat, with the modes of PX4."""
        d = self._d
        base = d.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED | d.MAV_MODE_FLAG_STABILIZE_ENABLED
        base |= d.MAV_MODE_FLAG_GUIDED_ENABLED
        if mode is not FlightMode.OFFBOARD:
            base |= d.MAV_MODE_FLAG_AUTO_ENABLED
        if armed:
            base |= d.MAV_MODE_FLAG_SAFETY_ARMED
        state = d.MAV_STATE_ACTIVE if armed else d.MAV_STATE_STANDBY
        return d.MAVLink_heartbeat_message(
            self._type, d.MAV_AUTOPILOT_PX4, base, mode.custom_mode, state, 3
        )

    def version(self) -> Message:
        """Return the capabilities."""
        d = self._d
        capabilities = (
            d.MAV_PROTOCOL_CAPABILITY_MAVLINK2
            | d.MAV_PROTOCOL_CAPABILITY_MISSION_INT
            | d.MAV_PROTOCOL_CAPABILITY_COMMAND_INT
            | d.MAV_PROTOCOL_CAPABILITY_PARAM_ENCODE_C_CAST
            | d.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_LOCAL_NED
            | d.MAV_PROTOCOL_CAPABILITY_SET_POSITION_TARGET_GLOBAL_INT
        )
        no_hash = [0] * 8
        return d.MAVLink_autopilot_version_message(
            capabilities, 0, 0, 0, 0, no_hash, no_hash, no_hash, 0, 0, 0
        )

    def _attitude(self, report: SystemReport) -> Message:
        angles, rates = _angles(report.motion), _rates(report.motion)
        return self._d.MAVLink_attitude_message(
            _milliseconds(report),
            angles.roll_rad,
            angles.pitch_rad,
            _wrapped(float(angles.yaw_rad)),
            *rates,
        )

    def _attitude_quaternion(self, report: SystemReport) -> Message:
        q = Quaternion.from_euler(_angles(report.motion))
        parts = [float(part) for part in (q.w, q.x, q.y, q.z)]
        return self._d.MAVLink_attitude_quaternion_message(
            _milliseconds(report), *parts, *_rates(report.motion)
        )

    def _local_position(self, report: SystemReport) -> Message:
        place = swap_enu_ned(report.motion.position_world_m)
        velocity = swap_enu_ned(report.motion.velocity_world_mps)
        numbers = [float(part) for part in (*place.array, *velocity.array)]
        return self._d.MAVLink_local_position_ned_message(_milliseconds(report), *numbers)

    def _global_position(self, report: SystemReport) -> Message:
        place = self._frame.geodetic(report.motion.position_world_m)
        above_m = float(report.motion.position_world_m.z - report.home_world_m.z)
        velocity = swap_enu_ned(report.motion.velocity_world_mps)
        speeds = [_limited(100.0 * float(part)) for part in velocity.array]
        return self._d.MAVLink_global_position_int_message(
            _milliseconds(report),
            place.latitude_e7,
            place.longitude_e7,
            round(1e3 * place.altitude_m),
            round(1e3 * above_m),
            *speeds,
            round(100.0 * _heading_deg(report.motion)) % 36000,
        )

    def _head_up_display(self, report: SystemReport) -> Message:
        velocity = report.motion.velocity_world_mps
        ground_mps = hypot(float(velocity.x), float(velocity.y))
        altitude_m = self._frame.altitude_m + float(report.motion.position_world_m.z)
        heading = round(_heading_deg(report.motion)) % 360
        return self._d.MAVLink_vfr_hud_message(
            ground_mps, ground_mps, heading, 0, altitude_m, float(velocity.z)
        )

    def _gnss(self, report: SystemReport) -> Message:
        """Return the position as a fix: that of the estimate, with its errors."""
        place = self._frame.geodetic(report.motion.position_world_m)
        velocity = report.motion.velocity_world_mps
        east, north = float(velocity.x), float(velocity.y)
        course = round(100.0 * degrees(atan2(east, north))) % 36000
        altitude_mm = round(1e3 * place.altitude_m)
        return self._d.MAVLink_gps_raw_int_message(
            round(1e6 * report.time_s),
            self._d.GPS_FIX_TYPE_3D_FIX,
            place.latitude_e7,
            place.longitude_e7,
            altitude_mm,
            DILUTION,
            DILUTION,
            round(100.0 * hypot(east, north)),
            course,
            SATELLITES,
            alt_ellipsoid=altitude_mm,
        )

    def _landed_state(self, report: SystemReport) -> Message:
        d = self._d
        state = {
            FlightMode.TAKEOFF: d.MAV_LANDED_STATE_TAKEOFF,
            FlightMode.LAND: d.MAV_LANDED_STATE_LANDING,
        }.get(report.mode, d.MAV_LANDED_STATE_IN_AIR)
        if self._is_vessel or report.landed:
            state = d.MAV_LANDED_STATE_ON_GROUND
        return d.MAVLink_extended_sys_state_message(d.MAV_VTOL_STATE_UNDEFINED, state)

    def _system_status(self, report: SystemReport) -> Message:
        d = self._d
        sensors = (
            d.MAV_SYS_STATUS_SENSOR_3D_GYRO
            | d.MAV_SYS_STATUS_SENSOR_3D_ACCEL
            | d.MAV_SYS_STATUS_SENSOR_3D_MAG
            | d.MAV_SYS_STATUS_SENSOR_ABSOLUTE_PRESSURE
            | d.MAV_SYS_STATUS_SENSOR_GPS
            | d.MAV_SYS_STATUS_AHRS
            | d.MAV_SYS_STATUS_PREARM_CHECK
        )
        volts = UNKNOWN_16 if report.voltage_v is None else round(1e3 * report.voltage_v)
        left = -1 if report.charge is None else round(100.0 * report.charge)
        return d.MAVLink_sys_status_message(
            sensors, sensors, sensors, 0, volts, -1, left, 0, 0, 0, 0, 0, 0
        )

    def _battery_status(self, report: SystemReport) -> Message:
        d = self._d
        volts = UNKNOWN_16 if report.voltage_v is None else round(1e3 * report.voltage_v)
        return d.MAVLink_battery_status_message(
            id=0,
            battery_function=d.MAV_BATTERY_FUNCTION_ALL,
            type=d.MAV_BATTERY_TYPE_LIPO,
            temperature=MAX_16,
            voltages=[volts, *[UNKNOWN_16] * 9],
            current_battery=-1,
            current_consumed=-1,
            energy_consumed=-1,
            battery_remaining=-1 if report.charge is None else round(100.0 * report.charge),
        )

    def _home(self, report: SystemReport) -> Message:
        place = self._frame.geodetic(report.home_world_m)
        local = [float(part) for part in swap_enu_ned(report.home_world_m).array]
        return self._d.MAVLink_home_position_message(
            place.latitude_e7,
            place.longitude_e7,
            round(1e3 * place.altitude_m),
            *local,
            q=[1.0, 0.0, 0.0, 0.0],
            approach_x=nan,
            approach_y=nan,
            approach_z=nan,
        )

    def _origin(self, report: SystemReport) -> Message:
        del report
        place = self._frame.geodetic(Vec3.zero())
        return self._d.MAVLink_gps_global_origin_message(
            place.latitude_e7, place.longitude_e7, round(1e3 * place.altitude_m)
        )


def _vehicle_type(dialect: ModuleType, rotors: int, *, is_vessel: bool) -> int:
    if is_vessel:
        return dialect.MAV_TYPE_SURFACE_BOAT
    known = {3: "TRICOPTER", 4: "QUADROTOR", 6: "HEXAROTOR", 8: "OCTOROTOR"}
    return getattr(dialect, f"MAV_TYPE_{known.get(rotors, 'QUADROTOR')}")


def _angles(motion: Kinematics) -> EulerZYX:
    angles = swap_euler(motion.euler_world_from_body)
    return EulerZYX(float(angles.roll_rad), float(angles.pitch_rad), float(angles.yaw_rad))


def _rates(motion: Kinematics) -> list[float]:
    return [float(part) for part in swap_flu_frd(motion.angular_velocity_body_radps).array]


def _wrapped(angle_rad: float) -> float:
    return (angle_rad + pi) % (2.0 * pi) - pi


def _heading_deg(motion: Kinematics) -> float:
    return degrees(_angles(motion).yaw_rad) % 360.0


def _milliseconds(report: SystemReport) -> int:
    return round(1e3 * report.time_s) & 0xFFFFFFFF


def _limited(value: float) -> int:
    return max(-MAX_16, min(MAX_16, round(value)))
