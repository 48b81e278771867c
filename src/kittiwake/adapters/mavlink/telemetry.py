"""Messages with the state of a vehicle: its estimate, as its own autopilot would send it.

Positions are relative to the origin of the world, velocities to the Earth; attitudes are those of
axes forward, right and down.
"""

from collections.abc import Callable, Mapping
from math import atan2, degrees, hypot, nan
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import FlightMode, Message
from kittiwake.adapters.mavlink.setpoint_messages import SetpointMessages
from kittiwake.adapters.mavlink.system_report import (
    HDOP,
    SATELLITES,
    VDOP,
    SystemReport,
    milliseconds,
)
from kittiwake.adapters.mavlink.system_status import SystemStatus
from kittiwake.adapters.mavlink.world_frame import GeodeticPosition, WorldFrame, ned
from kittiwake.geometry.vec3 import Vec3

# the largest number of 16 bits
MAX_16 = 32767
# number of satellites and dilution of precision of a vehicle that measures none
SUPPOSED_SATELLITES, SUPPOSED_DILUTION = 12, 0.8
# default rates of the messages; SET_MESSAGE_INTERVAL changes them
RATES_HZ: Mapping[str, float] = {
    "ATTITUDE": 50.0,
    "ATTITUDE_QUATERNION": 50.0,
    "LOCAL_POSITION_NED": 25.0,
    "GLOBAL_POSITION_INT": 10.0,
    "VFR_HUD": 10.0,
    "GPS_RAW_INT": 5.0,
    "ATTITUDE_TARGET": 2.0,
    "POSITION_TARGET_LOCAL_NED": 2.0,
    "EXTENDED_SYS_STATE": 2.0,
    "ALTITUDE": 1.0,
    "BATTERY_STATUS": 1.0,
    "MISSION_CURRENT": 1.0,
    "SYS_STATUS": 1.0,
    "SYSTEM_TIME": 1.0,
    "GPS_GLOBAL_ORIGIN": 0.5,
    "HOME_POSITION": 0.5,
}


class SystemTelemetry:
    """Messages of a vehicle.

    Args:
        dialect: the messages of MAVLink.
        frame: the place of the world on the Earth.
        is_vessel: whether the vehicle floats.
        rotors: the number of its rotors.
        max_thrust_n: its largest thrust.
    """

    def __init__(
        self,
        dialect: ModuleType,
        frame: WorldFrame,
        *,
        is_vessel: bool,
        rotors: int,
        max_thrust_n: float,
    ) -> None:
        self._d, self._frame = dialect, frame
        self._type = _vehicle_type(dialect, rotors, is_vessel=is_vessel)
        # the last place and its geodetic position, since messages come in groups
        self._place: tuple[Vec3, GeodeticPosition] | None = None
        status = SystemStatus(dialect, is_vessel=is_vessel)
        setpoints = SetpointMessages(dialect, max_thrust_n)
        self.messages: Mapping[str, Callable[[SystemReport], Message | None]] = {
            "ATTITUDE": self._attitude,
            "ATTITUDE_QUATERNION": self._attitude_quaternion,
            "LOCAL_POSITION_NED": self._local_position,
            "GLOBAL_POSITION_INT": self._global_position,
            "ALTITUDE": self._altitude,
            "VFR_HUD": self._head_up_display,
            "GPS_RAW_INT": self._gnss,
            "ATTITUDE_TARGET": setpoints.attitude,
            "POSITION_TARGET_LOCAL_NED": setpoints.local_position,
            "EXTENDED_SYS_STATE": status.landed_state,
            "SYS_STATUS": status.system_status,
            "BATTERY_STATUS": status.battery_status,
            "MISSION_CURRENT": status.mission_current,
            "SYSTEM_TIME": status.system_time,
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

    def version(self, *, flies_attitudes: bool) -> Message:
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
        if flies_attitudes:
            capabilities |= d.MAV_PROTOCOL_CAPABILITY_SET_ATTITUDE_TARGET
        no_hash = [0] * 8
        return d.MAVLink_autopilot_version_message(
            capabilities, 0, 0, 0, 0, no_hash, no_hash, no_hash, 0, 0, 0
        )

    def _attitude(self, report: SystemReport) -> Message:
        motion = report.motion
        return self._d.MAVLink_attitude_message(
            milliseconds(report),
            motion.roll_rad,
            motion.pitch_rad,
            motion.yaw_rad,
            *motion.rates_frd_radps,
        )

    def _attitude_quaternion(self, report: SystemReport) -> Message:
        motion = report.motion
        return self._d.MAVLink_attitude_quaternion_message(
            milliseconds(report), *motion.q_ned_from_frd, *motion.rates_frd_radps
        )

    def _local_position(self, report: SystemReport) -> Message:
        motion = report.motion
        return self._d.MAVLink_local_position_ned_message(
            milliseconds(report), *motion.position_ned_m, *motion.velocity_ned_mps
        )

    def _global_position(self, report: SystemReport) -> Message:
        place = self._geodetic(report)
        speeds = [_limited(100.0 * part) for part in report.motion.velocity_ned_mps]
        return self._d.MAVLink_global_position_int_message(
            milliseconds(report),
            place.latitude_e7,
            place.longitude_e7,
            round(1e3 * place.altitude_m),
            round(1e3 * _above_home_m(report)),
            *speeds,
            round(100.0 * _heading_deg(report)) % 36000,
        )

    def _altitude(self, report: SystemReport) -> Message:
        height_m = -report.motion.position_ned_m[2]
        return self._d.MAVLink_altitude_message(
            round(1e6 * report.time_s),
            height_m,
            self._geodetic(report).altitude_m,
            height_m,
            _above_home_m(report),
            nan,
            nan,
        )

    def _head_up_display(self, report: SystemReport) -> Message:
        north_mps, east_mps, down_mps = report.motion.velocity_ned_mps
        ground_mps = hypot(north_mps, east_mps)
        altitude_m = self._frame.altitude_m - report.motion.position_ned_m[2]
        heading = round(_heading_deg(report)) % 360
        throttle = round(100.0 * (report.throttle or 0.0))
        return self._d.MAVLink_vfr_hud_message(
            ground_mps, ground_mps, heading, throttle, altitude_m, -down_mps
        )

    def _gnss(self, report: SystemReport) -> Message:
        """Return the position as a fix: that of the estimate, with its errors."""
        place, measured = self._geodetic(report), report.measured
        north_mps, east_mps, _ = report.motion.velocity_ned_mps
        course = round(100.0 * degrees(atan2(east_mps, north_mps))) % 36000
        altitude_mm = round(1e3 * place.altitude_m)
        return self._d.MAVLink_gps_raw_int_message(
            round(1e6 * report.time_s),
            self._d.GPS_FIX_TYPE_3D_FIX,
            place.latitude_e7,
            place.longitude_e7,
            altitude_mm,
            round(100.0 * measured.get(HDOP, SUPPOSED_DILUTION)),
            round(100.0 * measured.get(VDOP, SUPPOSED_DILUTION)),
            round(100.0 * hypot(north_mps, east_mps)),
            course,
            round(measured.get(SATELLITES, SUPPOSED_SATELLITES)),
            alt_ellipsoid=altitude_mm,
        )

    def _home(self, report: SystemReport) -> Message:
        place = self._frame.geodetic(report.home_world_m)
        return self._d.MAVLink_home_position_message(
            place.latitude_e7,
            place.longitude_e7,
            round(1e3 * place.altitude_m),
            *ned(report.home_world_m),
            q=[1.0, 0.0, 0.0, 0.0],
            approach_x=nan,
            approach_y=nan,
            approach_z=nan,
            time_usec=round(1e6 * report.home_time_s),
        )

    def _origin(self, report: SystemReport) -> Message:
        del report
        place = self._frame.origin
        return self._d.MAVLink_gps_global_origin_message(
            place.latitude_e7, place.longitude_e7, round(1e3 * place.altitude_m)
        )

    def _geodetic(self, report: SystemReport) -> GeodeticPosition:
        place = report.position_world_m
        if self._place is None or self._place[0] is not place:
            self._place = place, self._frame.geodetic(place)
        return self._place[1]


def _vehicle_type(dialect: ModuleType, rotors: int, *, is_vessel: bool) -> int:
    if is_vessel:
        return dialect.MAV_TYPE_SURFACE_BOAT
    known = {3: "TRICOPTER", 4: "QUADROTOR", 6: "HEXAROTOR", 8: "OCTOROTOR"}
    return getattr(dialect, f"MAV_TYPE_{known.get(rotors, 'QUADROTOR')}")


def _above_home_m(report: SystemReport) -> float:
    return -report.motion.position_ned_m[2] - float(report.home_world_m.z)


def _heading_deg(report: SystemReport) -> float:
    return degrees(report.motion.yaw_rad) % 360.0


def _limited(value: float) -> int:
    return max(-MAX_16, min(MAX_16, round(value)))
