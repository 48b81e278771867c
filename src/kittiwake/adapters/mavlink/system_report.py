"""State of a vehicle that its clients learn."""

from collections.abc import Mapping, Sequence
from math import asin, atan2, copysign, pi, sqrt
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float64

from kittiwake.adapters.mavlink.dialect import FlightMode
from kittiwake.core.commands import Command
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.dynamics import AbstractDynamics

Numbers: TypeAlias = tuple[float, float, float]

# columns of a log row from which measurements are read, beside those of the actuators
CHARGE, VOLTAGE, CURRENT = "act_battery_charge", "act_battery_v", "act_battery_a"
SATELLITES, HDOP, VDOP = "sensor.gnss.satellites", "sensor.gnss.hdop", "sensor.gnss.vdop"
MEASURED = (CHARGE, VOLTAGE, CURRENT, SATELLITES, HDOP, VDOP)


class NedMotion(NamedTuple):
    """Motion in plain numbers: axes north, east and down, and those forward, right and down."""

    position_ned_m: Numbers
    velocity_ned_mps: Numbers
    roll_rad: float
    pitch_rad: float
    yaw_rad: float
    q_ned_from_frd: tuple[float, float, float, float]
    rates_frd_radps: Numbers

    @classmethod
    def of(cls, motion: Kinematics) -> "NedMotion":
        """Return a motion in the axes of MAVLink."""
        rates = motion.angular_velocity_body_radps
        q = q_ned_from_frd(motion.q_world_from_body)
        return cls(
            _swapped(motion.position_world_m),
            _swapped(motion.velocity_world_mps),
            *_angles(q),
            q,
            (float(rates.x), -float(rates.y), -float(rates.z)),
        )


class MissionProgress(NamedTuple):
    """Number of the present item, count of the items, and MISSION_STATE."""

    current: int
    total: int
    state: int


class SystemReport(NamedTuple):
    """State of a vehicle, as its clients learn it.

    Attributes:
        time_s: time of the flight.
        position_world_m: the estimated position in the world.
        motion: the estimated motion.
        mode: the flight mode.
        armed: whether the motors may turn.
        landed: whether it stands on something.
        home_world_m: the position to which it returns.
        home_time_s: time at which that was set.
        mission: progress of the mission.
        setpoint: the command that is flown; None if it is unknown.
        measured: values of ``MEASURED`` columns, as far as there are any.
        throttle: share of the largest thrust; None if it is unknown.
    """

    time_s: float
    position_world_m: Vec3
    motion: NedMotion
    mode: FlightMode
    armed: bool
    landed: bool
    home_world_m: Vec3
    home_time_s: float
    mission: MissionProgress
    setpoint: Command | None
    measured: Mapping[str, float] = MappingProxyType({})
    throttle: float | None = None


class ThrottleMeter:
    """Share of the largest thrust that the actuators of a vehicle give."""

    def __init__(self, columns: Sequence[str], dynamics: AbstractDynamics, most_n: float) -> None:
        self._terms: list[tuple[int, float]] = []
        if "act_thrust_n" in columns:
            self._terms, self._power = [(columns.index("act_thrust_n"), float(most_n))], 1
            return
        self._power = 2
        for name, (_, high) in dynamics.command_bounds.items():
            # such as the bounds of "speeds_0_radps", the command of "act_rotor_0_radps"
            column = f"act_{name.replace('speeds_', 'rotor_')}"
            if column in columns and name.endswith("_radps"):
                self._terms.append((columns.index(column), float(high)))

    def throttle(self, row: Float64[np.ndarray, "columns"]) -> float | None:
        """Return the share for a row of the log; None for unknown actuators."""
        if not self._terms:
            return None
        shares = [abs(float(row[place]) / most) ** self._power for place, most in self._terms]
        return min(1.0, sum(shares) / len(shares))


def milliseconds(report: SystemReport) -> int:
    """Return the time of a report as messages have it."""
    return round(1e3 * report.time_s) & 0xFFFFFFFF


def q_ned_from_frd(q: Quaternion) -> tuple[float, float, float, float]:
    """Return an attitude in the axes of MAVLink, of both signs the one with w >= 0."""
    w, x, y, z = float(q.w), float(q.x), float(q.y), float(q.z)
    # the turns by pi of both frames, around (1, 1, 0) and around x
    scale = copysign(sqrt(0.5), w + z)
    return scale * (w + z), scale * (x + y), scale * (x - y), scale * (w - z)


def _angles(q: tuple[float, float, float, float]) -> Numbers:
    w, x, y, z = q
    sine_pitch = max(-1.0, min(1.0, 2.0 * (w * y - z * x)))
    roll = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    yaw = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    # at a yaw of pi one of the two
    return roll, asin(sine_pitch), -pi if yaw == pi else yaw


def _swapped(v: Vec3) -> Numbers:
    return float(v.y), float(v.x), -float(v.z)
