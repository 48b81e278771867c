"""Messages with the setpoint that a vehicle flies."""

from math import pi, remainder
from types import ModuleType

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.mavlink.offboard import (
    ACCELERATION_IGNORED,
    POSITION_IGNORED,
    VELOCITY_IGNORED,
    YAW_IGNORED,
)
from kittiwake.adapters.mavlink.offboard_attitude import ATTITUDE_IGNORED, UNLIMITED_N
from kittiwake.adapters.mavlink.system_report import SystemReport, milliseconds, q_ned_from_frd
from kittiwake.adapters.mavlink.world_frame import ned
from kittiwake.core.commands import (
    AccelerationYaw,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    VelocityYaw,
    VelocityYawRate,
)

NOTHING = (0.0, 0.0, 0.0)
# vectors of setpoints, with the bits of the mask without them
VECTORS = {
    "position_world_m": POSITION_IGNORED,
    "velocity_world_mps": VELOCITY_IGNORED,
    "acceleration_world_mps2": ACCELERATION_IGNORED,
}


class SetpointMessages:
    """Builder of the messages for a vehicle with a largest thrust."""

    def __init__(self, dialect: ModuleType, max_thrust_n: float) -> None:
        self._d, self._max_thrust_n = dialect, max_thrust_n

    def local_position(self, report: SystemReport) -> Message | None:
        """Return the setpoint of position, velocity or acceleration; None for another one."""
        given = report.setpoint
        if not isinstance(given, PositionYaw | VelocityYaw | VelocityYawRate | AccelerationYaw):
            return None
        mask, numbers = 0, list[float]()
        for name, ignored in VECTORS.items():
            vector = getattr(given, name, None)
            mask |= ignored if vector is None else 0
            numbers += NOTHING if vector is None else ned(vector)
        world_yaw_rad = getattr(given, "yaw_rad", None)
        mask |= YAW_IGNORED if world_yaw_rad is None else 0
        yaw_rad = 0.0 if world_yaw_rad is None else pi / 2.0 - float(world_yaw_rad)
        return self._d.MAVLink_position_target_local_ned_message(
            milliseconds(report),
            self._d.MAV_FRAME_LOCAL_NED,
            mask,
            *numbers,
            remainder(yaw_rad, 2.0 * pi),
            -float(given.yaw_rate_radps),
        )

    def attitude(self, report: SystemReport) -> Message | None:
        """Return the setpoint of attitude or rates; None for another one."""
        given = report.setpoint
        if not isinstance(given, ThrustAttitude | ThrustRates) or self._max_thrust_n > UNLIMITED_N:
            return None
        rates = given.angular_velocity_body_radps
        has_attitude = isinstance(given, ThrustAttitude)
        q = q_ned_from_frd(given.q_world_from_body) if has_attitude else (1.0, 0.0, 0.0, 0.0)
        return self._d.MAVLink_attitude_target_message(
            milliseconds(report),
            0 if has_attitude else ATTITUDE_IGNORED,
            q,
            float(rates.x),
            -float(rates.y),
            -float(rates.z),
            float(given.thrust_n) / self._max_thrust_n,
        )
