"""Setpoints of attitude and rates of a client that flies by itself, as maneuvers.

Vehicles whose controllers do not accept rates fly the attitude to which the rates lead.
Source: MAVLink, SET_ATTITUDE_TARGET.
"""

from dataclasses import dataclass, field
from math import cos

from kittiwake.adapters.mavlink.dialect import Message
from kittiwake.adapters.ranges import RATE
from kittiwake.core.commands import ThrustAttitude, ThrustRates
from kittiwake.core.errors import CommandError
from kittiwake.geometry.frames import swap_euler, swap_flu_frd
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import Capabilities, HoldCommand, Maneuver
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

RATES_IGNORED, THRUST_IGNORED, ATTITUDE_IGNORED = 0b111, 1 << 6, 1 << 7
# thrust that no actuator limits
UNLIMITED_N = 1e6
# half of the angle to the vehicle's attitude beyond which the attitude of rates begins anew
MAX_HALF_ERROR_COSINE = cos(0.25)


@dataclass
class RatesByAttitude:
    """Thrust with the attitude to which body rates lead.

    Attributes:
        thrust_n: the thrust.
        rates_body_radps: the rates.
        q_world_from_body: the attitude; None until the first command.
        time_s: its time.
    """

    thrust_n: float
    rates_body_radps: Vec3
    q_world_from_body: Quaternion | None = None
    time_s: float = field(default=0.0)

    @property
    def description(self) -> str:
        """The type of the setpoint."""
        return "holds ThrustRates"

    def continued(self, last: Maneuver | None) -> "RatesByAttitude":
        """Return this setpoint with the attitude to which the last one has led."""
        if isinstance(last, RatesByAttitude):
            self.q_world_from_body, self.time_s = last.q_world_from_body, last.time_s
        return self

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> ThrustAttitude:
        """Return the attitude, turned by the rates since the last call."""
        del capabilities
        present = now.motion.q_world_from_body
        q = self.q_world_from_body
        if q is None or _half_angle_cosine(q, present) < MAX_HALF_ERROR_COSINE:
            q, self.time_s = present, now.time_s
        turn = self.rates_body_radps * (now.time_s - self.time_s)
        self.q_world_from_body = (q * Quaternion.from_rotation_vector(turn)).normalized()
        self.time_s = now.time_s
        return ThrustAttitude(self.thrust_n, self.q_world_from_body, self.rates_body_radps)


def attitude_target(message: Message, capabilities: Capabilities) -> Maneuver:
    """Return the maneuver of a target of attitude or rates, with a share of the largest thrust.

    Raises:
        CommandError: if thrust, or both attitude and rates, are ignored, for numbers that are out
            of range, or for a vehicle that has no thrust along an axis, or no largest one.
    """
    mask = message.type_mask
    if ThrustAttitude not in capabilities.accepted_commands:
        text = "attitude setpoint: the vehicle has no attitude controller; send positions"
        raise CommandError(text)
    if capabilities.max_thrust_n >= UNLIMITED_N:
        text = (
            "attitude setpoint: the thrust of this vehicle model has no limit, of which `thrust` "
            "could be a share; send positions, velocities or accelerations"
        )
        raise CommandError(text)
    if mask & THRUST_IGNORED:
        text = f"type_mask {mask:#x}: the thrust must not be ignored"
        raise CommandError(text)
    if not 0.0 <= message.thrust <= 1.0:
        text = f"thrust: got {message.thrust:g}; must be from 0 to 1"
        raise CommandError(text)
    thrust_n = float(message.thrust) * capabilities.max_thrust_n
    if mask & ATTITUDE_IGNORED:
        return _rates_maneuver(message, thrust_n, capabilities)
    return HoldCommand(ThrustAttitude(thrust_n, _attitude(message), _rates(message)))


def _rates_maneuver(message: Message, thrust_n: float, capabilities: Capabilities) -> Maneuver:
    if message.type_mask & RATES_IGNORED:
        text = f"type_mask {message.type_mask:#x}: write an attitude or all rates"
        raise CommandError(text)
    if ThrustRates in capabilities.accepted_commands:
        return HoldCommand(ThrustRates(thrust_n, _rates(message)))
    return RatesByAttitude(thrust_n, _rates(message))


def _rates(message: Message) -> Vec3:
    if message.type_mask & RATES_IGNORED:
        return Vec3.zero()
    given = Vec3(message.body_roll_rate, message.body_pitch_rate, message.body_yaw_rate)
    return RATE.vector("rates", swap_flu_frd(given))


def _attitude(message: Message) -> Quaternion:
    q = Quaternion(*(float(part) for part in message.q))
    size = (q.w**2 + q.x**2 + q.y**2 + q.z**2) ** 0.5
    if not 0.5 < size < 2.0:
        text = f"q: got a quaternion of length {size:g}; must be 1"
        raise CommandError(text)
    unit = Quaternion(q.w / size, q.x / size, q.y / size, q.z / size)
    return Quaternion.from_euler(swap_euler(unit.to_euler()))


def _half_angle_cosine(one: Quaternion, other: Quaternion) -> float:
    return abs(float(one.w * other.w + one.x * other.x + one.y * other.y + one.z * other.z))
