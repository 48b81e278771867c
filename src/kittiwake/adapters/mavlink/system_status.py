"""Messages with the status of a vehicle: battery, mission, landed or not, time."""

from types import ModuleType

from kittiwake.adapters.mavlink.dialect import FlightMode, Message
from kittiwake.adapters.mavlink.system_report import (
    CHARGE,
    CURRENT,
    VOLTAGE,
    SystemReport,
    milliseconds,
)

# what a message holds for a number that is not known
UNKNOWN_VOLTAGE, UNKNOWN, UNKNOWN_TEMPERATURE = 65535, -1, 32767
# largest current of 16 bits
MAX_CURRENT_A = 327.0


class SystemStatus:
    """Builder of the messages of a vehicle."""

    def __init__(self, dialect: ModuleType, *, is_vessel: bool) -> None:
        d = self._d = dialect
        self._is_vessel = is_vessel
        self._sensors = (
            d.MAV_SYS_STATUS_SENSOR_3D_GYRO
            | d.MAV_SYS_STATUS_SENSOR_3D_ACCEL
            | d.MAV_SYS_STATUS_SENSOR_3D_MAG
            | d.MAV_SYS_STATUS_SENSOR_ABSOLUTE_PRESSURE
            | d.MAV_SYS_STATUS_SENSOR_GPS
            | d.MAV_SYS_STATUS_AHRS
            | d.MAV_SYS_STATUS_PREARM_CHECK
        )

    def landed_state(self, report: SystemReport) -> Message:
        """Return whether the vehicle stands, flies, takes off or lands.

        As those of PX4, a boat that is armed counts as one in the air.
        """
        d = self._d
        state = {
            FlightMode.TAKEOFF: d.MAV_LANDED_STATE_TAKEOFF,
            FlightMode.LAND: d.MAV_LANDED_STATE_LANDING,
        }.get(report.mode, d.MAV_LANDED_STATE_IN_AIR)
        if not report.armed if self._is_vessel else report.landed:
            state = d.MAV_LANDED_STATE_ON_GROUND
        return d.MAVLink_extended_sys_state_message(d.MAV_VTOL_STATE_UNDEFINED, state)

    def system_status(self, report: SystemReport) -> Message:
        """Return the sensors and the battery."""
        sensors = self._sensors
        volts, centiamperes, left = _battery(report)
        return self._d.MAVLink_sys_status_message(
            sensors, sensors, sensors, 0, volts, centiamperes, left, 0, 0, 0, 0, 0, 0
        )

    def battery_status(self, report: SystemReport) -> Message:
        """Return the battery."""
        d = self._d
        volts, centiamperes, left = _battery(report)
        return d.MAVLink_battery_status_message(
            id=0,
            battery_function=d.MAV_BATTERY_FUNCTION_ALL,
            type=d.MAV_BATTERY_TYPE_LIPO,
            temperature=UNKNOWN_TEMPERATURE,
            voltages=[volts, *[UNKNOWN_VOLTAGE] * 9],
            current_battery=centiamperes,
            current_consumed=UNKNOWN,
            energy_consumed=UNKNOWN,
            battery_remaining=left,
        )

    def mission_current(self, report: SystemReport) -> Message:
        """Return the progress of the mission."""
        return self._d.MAVLink_mission_current_message(*report.mission)

    def system_time(self, report: SystemReport) -> Message:
        """Return the time of the flight; there is no time of day."""
        return self._d.MAVLink_system_time_message(0, milliseconds(report))


def _battery(report: SystemReport) -> tuple[int, int, int]:
    """Return millivolts, hundredths of an ampere, and the percentage that is left."""
    measured = report.measured
    volts = round(1e3 * measured[VOLTAGE]) if VOLTAGE in measured else UNKNOWN_VOLTAGE
    current = UNKNOWN
    if CURRENT in measured:
        # what a charger gives would be taken for an unknown current
        current = round(100.0 * max(0.0, min(MAX_CURRENT_A, measured[CURRENT])))
    left = round(100.0 * measured[CHARGE]) if CHARGE in measured else UNKNOWN
    return volts, current, left
