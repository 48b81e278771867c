"""Sliders for each command type: labels, ranges and initial values."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, pi, radians
from types import MappingProxyType
from typing import NamedTuple

from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.commands import (
    AccelerationYaw,
    AttitudeThrottle,
    BodyVelocityYawRate,
    Command,
    HeadingSpeed,
    ModeCommand,
    PositionYaw,
    PropellerSpeeds,
    RotorSpeeds,
    RudderThrust,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYaw,
    VelocityYawRate,
)
from kittiwake.core.units import UNIT_SYMBOLS
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.runtime.command_conversion import MODE_COMMAND_TYPES
from kittiwake.runtime.maneuvers import Capabilities
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

RANGE_M, SPEED_MPS, ACCELERATION_MPS2, TILT_DEG, RATE_DEGPS = 20.0, 5.0, 5.0, 35.0, 180.0
MAX_THRUST_WEIGHTS = 2.0
# for a vehicle without rotor speed limits
MAX_SPEED_RADPS = 1000.0
FULL_BATTERY_V = 12.0
# keeps an angle inside its bounds after conversion to degrees and back
INSIDE = 1.0 - 1e-9
# largest torque: the weight on an arm of 10 cm
TORQUE_ARM_M = 0.1


class Slider(NamedTuple):
    """Label, range and initial value of a slider."""

    label: str
    low: float
    high: float
    initial: float


class CommandSliders(NamedTuple):
    """Sliders of a command type, and the function from their values to the command."""

    title: str
    sliders: Sequence[Slider]
    command: Callable[[Sequence[float]], Command]


class SliderContext(NamedTuple):
    """Vehicle data for initial values and ranges; ``last`` is the last command by log column."""

    estimate: VehicleEstimate
    capabilities: Capabilities
    vehicle: AssembledVehicle
    last: Mapping[str, float] = MappingProxyType({})

    def last_value(self, column: str, default: float) -> float:
        """Return the last finite value in a column of the command, or a default."""
        number = self.last.get(column, default)
        return number if isfinite(number) else default


def command_sliders(context: SliderContext) -> Mapping[str, CommandSliders]:
    """Return the sliders of all command types of a vehicle by title, highest level first."""
    accepted = set(context.capabilities.accepted_commands)
    if ModeCommand in accepted:
        accepted |= {*MODE_COMMAND_TYPES}
    groups = [
        make(context) for command_type, make in _COMMAND_TYPES.items() if command_type in accepted
    ]
    if context.vehicle.dynamics.command_type in accepted - {*_COMMAND_TYPES}:
        groups.append(_actuators(context))
    return {sliders.title: sliders for sliders in groups}


def _actuators(context: SliderContext) -> CommandSliders:
    """Return a slider for each number of an actuator command that has no sliders of its own."""
    dynamics = context.vehicle.dynamics
    columns = column_names(dynamics.command_type, dynamics.actuator_count)

    def slider(column: str) -> Slider:
        low, high = map(float, dynamics.command_bounds.get(column, (-1.0, 1.0)))
        initial = context.last_value(f"cmd_{column}", min(max(0.0, low), high))
        name, _, unit = column.rpartition("_")
        known = f"{name} [{UNIT_SYMBOLS[unit]}]" if name and unit in UNIT_SYMBOLS else column
        return Slider(known.replace("_", " "), low, high, initial)

    def command(v: Sequence[float]) -> Command:
        return from_columns(dynamics.command_type, dict(zip(columns, v, strict=True)))

    return CommandSliders("actuators", [slider(column) for column in columns], command)


def _position(context: SliderContext) -> list[Slider]:
    """Return sliders of a position around the vehicle's own, not below the ground."""
    x, y, z = context.estimate.position_m
    low = max(z - RANGE_M, min(z, context.capabilities.ground_z_m))
    return [
        Slider("x [m]", x - RANGE_M, x + RANGE_M, x),
        Slider("y [m]", y - RANGE_M, y + RANGE_M, y),
        Slider("z [m]", low, z + RANGE_M, z),
    ]


def _yaw(context: SliderContext) -> Slider:
    return Slider("yaw [deg]", -180.0, 180.0, context.estimate.yaw_rad * 180.0 / pi)


def _axes(names: Sequence[str], unit: str, limit: float) -> list[Slider]:
    return [Slider(f"{name} [{unit}]", -limit, limit, 0.0) for name in names]


def _thrust(context: SliderContext) -> Slider:
    weight_n = context.capabilities.weight_n
    max_n = min(MAX_THRUST_WEIGHTS * weight_n, context.capabilities.max_thrust_n)
    return Slider("thrust [N]", 0.0, max_n, weight_n)


def _position_yaw(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> PositionYaw:
        return PositionYaw(Vec3.of(v[:3]), radians(v[3]))

    return CommandSliders("position and yaw", [*_position(context), _yaw(context)], command)


def _velocity_yaw(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> VelocityYaw:
        return VelocityYaw(Vec3.of(v[:3]), radians(v[3]))

    sliders = [*_axes(("east", "north", "up"), "m/s", SPEED_MPS), _yaw(context)]
    return CommandSliders("velocity and yaw", sliders, command)


def _velocity_yaw_rate(context: SliderContext) -> CommandSliders:
    del context

    def command(v: Sequence[float]) -> VelocityYawRate:
        return VelocityYawRate(Vec3.of(v[:3]), radians(v[3]))

    yaw_rate = Slider("yaw rate [deg/s]", -RATE_DEGPS, RATE_DEGPS, 0.0)
    sliders = [*_axes(("east", "north", "up"), "m/s", SPEED_MPS), yaw_rate]
    return CommandSliders("velocity and yaw rate", sliders, command)


def _body_velocity(context: SliderContext) -> CommandSliders:
    del context

    def command(v: Sequence[float]) -> BodyVelocityYawRate:
        return BodyVelocityYawRate(Vec3.of(v[:3]), radians(v[3]))

    yaw_rate = Slider("yaw rate [deg/s]", -RATE_DEGPS, RATE_DEGPS, 0.0)
    sliders = [*_axes(("forward", "left", "up"), "m/s", SPEED_MPS), yaw_rate]
    return CommandSliders("body velocity and yaw rate", sliders, command)


def _acceleration_yaw(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> AccelerationYaw:
        return AccelerationYaw(Vec3.of(v[:3]), radians(v[3]))

    sliders = [*_axes(("east", "north", "up"), "m/s2", ACCELERATION_MPS2), _yaw(context)]
    return CommandSliders("acceleration and yaw", sliders, command)


def _thrust_attitude(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> ThrustAttitude:
        roll, pitch, yaw = map(radians, v[:3])
        return ThrustAttitude(v[3], Quaternion.from_euler(EulerZYX(roll, pitch, yaw)))

    sliders = [*_axes(("roll", "pitch"), "deg", TILT_DEG), _yaw(context), _thrust(context)]
    return CommandSliders("attitude and thrust", sliders, command)


def _thrust_rates(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> ThrustRates:
        return ThrustRates(v[3], Vec3.of([*map(radians, v[:3])]))

    sliders = [*_axes(("roll", "pitch", "yaw"), "deg/s", RATE_DEGPS), _thrust(context)]
    return CommandSliders("body rates and thrust", sliders, command)


def _thrust_torque(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> ThrustTorque:
        return ThrustTorque(v[3], Vec3.of(v[:3]))

    max_nm = TORQUE_ARM_M * context.capabilities.weight_n
    sliders = [*_axes(("roll", "pitch", "yaw"), "N m", max_nm), _thrust(context)]
    return CommandSliders("torque and thrust", sliders, command)


def _rotor_speeds(context: SliderContext) -> CommandSliders:
    dynamics = context.vehicle.dynamics
    bounds = dynamics.command_bounds
    low, high = bounds.get("speeds_0_radps", (0.0, MAX_SPEED_RADPS))

    def command(v: Sequence[float]) -> RotorSpeeds:
        return RotorSpeeds(tuple(v))

    lowest, highest = float(low), float(high)
    sliders = [
        Slider(
            f"rotor {i} [rad/s]",
            lowest,
            highest,
            context.last_value(f"cmd_speeds_{i}_radps", lowest),
        )
        for i in range(dynamics.actuator_count)
    ]
    return CommandSliders("rotor speeds", sliders, command)


def _attitude_throttle(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> AttitudeThrottle:
        roll, pitch, yaw_rate = map(radians, v[:3])
        return AttitudeThrottle(pitch, roll, v[3], yaw_rate, FULL_BATTERY_V)

    bounds = context.vehicle.dynamics.command_bounds

    def limit(column: str, default: float) -> float:
        return float(bounds.get(column, (0.0, radians(default)))[1]) * INSIDE * 180.0 / pi

    sliders = [
        *_axes(("roll",), "deg", limit("roll_rad", TILT_DEG)),
        *_axes(("pitch",), "deg", limit("pitch_rad", TILT_DEG)),
        *_axes(("yaw rate",), "deg/s", limit("yaw_rate_radps", RATE_DEGPS)),
        Slider("throttle", 0.0, 1.0, context.last_value("cmd_throttle", 0.5)),
    ]
    return CommandSliders("attitude and throttle", sliders, command)


def _heading_speed(context: SliderContext) -> CommandSliders:
    def command(v: Sequence[float]) -> HeadingSpeed:
        return HeadingSpeed(radians(v[0]), v[1])

    heading = Slider("heading, from east [deg]", -180.0, 180.0, _yaw(context).initial)
    return CommandSliders(
        "heading and speed", [heading, Slider("speed [m/s]", 0.0, 2.0, 0.0)], command
    )


def _rudder_thrust(context: SliderContext) -> CommandSliders:
    bounds = context.vehicle.dynamics.command_bounds
    angle = float(bounds.get("rudder_rad", (0.0, radians(TILT_DEG)))[1]) * INSIDE * 180.0 / pi
    thrust = bounds.get("thrust_n", (0.0, context.capabilities.weight_n))

    def command(v: Sequence[float]) -> RudderThrust:
        return RudderThrust(radians(v[0]), v[1])

    sliders = [
        *_axes(("rudder",), "deg", angle),
        Slider("thrust [N]", float(thrust[0]), float(thrust[1]), 0.0),
    ]
    return CommandSliders("rudder and thrust", sliders, command)


def _propeller_speeds(context: SliderContext) -> CommandSliders:
    bounds = context.vehicle.dynamics.command_bounds

    def slider(side: str) -> Slider:
        low, high = bounds.get(f"{side}_radps", (-MAX_SPEED_RADPS, MAX_SPEED_RADPS))
        return Slider(f"{side} propeller [rad/s]", float(low), float(high), 0.0)

    def command(v: Sequence[float]) -> PropellerSpeeds:
        return PropellerSpeeds(v[0], v[1])

    return CommandSliders("propeller speeds", [slider("left"), slider("right")], command)


_COMMAND_TYPES: dict[type, Callable[[SliderContext], CommandSliders]] = {
    PositionYaw: _position_yaw,
    VelocityYaw: _velocity_yaw,
    VelocityYawRate: _velocity_yaw_rate,
    BodyVelocityYawRate: _body_velocity,
    AccelerationYaw: _acceleration_yaw,
    ThrustAttitude: _thrust_attitude,
    ThrustRates: _thrust_rates,
    ThrustTorque: _thrust_torque,
    RotorSpeeds: _rotor_speeds,
    AttitudeThrottle: _attitude_throttle,
    HeadingSpeed: _heading_speed,
    RudderThrust: _rudder_thrust,
    PropellerSpeeds: _propeller_speeds,
}
