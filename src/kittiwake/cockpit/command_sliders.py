"""The signals that a person can give by sliders: what each slider is, and how far it goes."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, pi, radians
from types import MappingProxyType
from typing import Any, NamedTuple

from kittiwake.core.commands import (
    AccelerationYaw,
    AttitudeThrottle,
    BodyVelocityYawRate,
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
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.runtime.maneuvers import OF_MODES, Ability, VehicleEstimate

REACH_M, SPEED_MPS, PULL_MPS2, LEAN_DEG, RATE_DEGPS = 20.0, 5.0, 5.0, 35.0, 180.0
MOST_WEIGHTS = 2.0
# of a vehicle that does not say how fast its rotors turn
FASTEST_RADPS = 1000.0
FULL_BATTERY_V = 12.0
# an angle that goes to degrees and back stays inside its bounds
INSIDE = 1.0 - 1e-9
# of the weight on an arm of 10 cm
TWIST_ARM_M = 0.1


class Slider(NamedTuple):
    """One slider, from lowest to highest; where it begins."""

    label: str
    low: float
    high: float
    begin: float


class CommandSliders(NamedTuple):
    """The sliders of a kind of signal, and the signal that they say together."""

    title: str
    levers: Sequence[Slider]
    command: Callable[[Sequence[float]], Any]


class Setting(NamedTuple):
    """What the sliders start from and are scaled by; ``last`` is its command, by column."""

    now: VehicleEstimate
    able: Ability
    vehicle: Vehicle
    last: Mapping[str, float] = MappingProxyType({})

    def began(self, column: str, otherwise: float) -> float:
        """What the vehicle was told last in a column of its command."""
        number = self.last.get(column, otherwise)
        return number if isfinite(number) else otherwise


def sliders_of(setting: Setting) -> Mapping[str, CommandSliders]:
    """All that a vehicle can be told by sliders, from high to low, by title."""
    taken = set(setting.able.takes)
    if ModeCommand in taken:
        taken |= {*OF_MODES}
    kinds = [kind for kind in _LEVELS if kind in taken]
    found = [_LEVELS[kind](setting) for kind in kinds]
    return {level.title: level for level in found}


def _places(setting: Setting) -> list[Slider]:
    """Around where the vehicle is, and never below the ground."""
    x, y, z = setting.now.position_m
    low = max(z - REACH_M, min(z, setting.able.ground_z_m))
    return [
        Slider("x [m]", x - REACH_M, x + REACH_M, x),
        Slider("y [m]", y - REACH_M, y + REACH_M, y),
        Slider("z [m]", low, z + REACH_M, z),
    ]


def _yaw(setting: Setting) -> Slider:
    return Slider("yaw [deg]", -180.0, 180.0, setting.now.yaw_rad * 180.0 / pi)


def _axes(names: Sequence[str], unit: str, most: float) -> list[Slider]:
    return [Slider(f"{name} [{unit}]", -most, most, 0.0) for name in names]


def _thrust(setting: Setting) -> Slider:
    weight_n = setting.able.weight_n
    most_n = min(MOST_WEIGHTS * weight_n, setting.able.most_thrust_n)
    return Slider("thrust [N]", 0.0, most_n, weight_n)


def _position_yaw(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> PositionYaw:
        return PositionYaw(Vec3.of(v[:3]), radians(v[3]))

    return CommandSliders("place and yaw", [*_places(setting), _yaw(setting)], signal)


def _velocity_yaw(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> VelocityYaw:
        return VelocityYaw(Vec3.of(v[:3]), radians(v[3]))

    levers = [*_axes(("east", "north", "up"), "m/s", SPEED_MPS), _yaw(setting)]
    return CommandSliders("velocity and yaw", levers, signal)


def _velocity_yaw_rate(setting: Setting) -> CommandSliders:
    del setting

    def signal(v: Sequence[float]) -> VelocityYawRate:
        return VelocityYawRate(Vec3.of(v[:3]), radians(v[3]))

    turn = Slider("yaw rate [deg/s]", -RATE_DEGPS, RATE_DEGPS, 0.0)
    levers = [*_axes(("east", "north", "up"), "m/s", SPEED_MPS), turn]
    return CommandSliders("velocity and yaw rate", levers, signal)


def _body_velocity(setting: Setting) -> CommandSliders:
    del setting

    def signal(v: Sequence[float]) -> BodyVelocityYawRate:
        return BodyVelocityYawRate(Vec3.of(v[:3]), radians(v[3]))

    turn = Slider("yaw rate [deg/s]", -RATE_DEGPS, RATE_DEGPS, 0.0)
    levers = [*_axes(("ahead", "left", "up"), "m/s", SPEED_MPS), turn]
    return CommandSliders("velocity in its own axes", levers, signal)


def _acceleration_yaw(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> AccelerationYaw:
        return AccelerationYaw(Vec3.of(v[:3]), radians(v[3]))

    levers = [*_axes(("east", "north", "up"), "m/s2", PULL_MPS2), _yaw(setting)]
    return CommandSliders("acceleration and yaw", levers, signal)


def _thrust_attitude(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> ThrustAttitude:
        roll, pitch, yaw = map(radians, v[:3])
        return ThrustAttitude(v[3], Quaternion.from_euler(EulerZYX(roll, pitch, yaw)))

    levers = [*_axes(("roll", "pitch"), "deg", LEAN_DEG), _yaw(setting), _thrust(setting)]
    return CommandSliders("attitude and thrust", levers, signal)


def _thrust_rates(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> ThrustRates:
        return ThrustRates(v[3], Vec3.of([*map(radians, v[:3])]))

    levers = [*_axes(("roll", "pitch", "yaw"), "deg/s", RATE_DEGPS), _thrust(setting)]
    return CommandSliders("body rates and thrust", levers, signal)


def _thrust_torque(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> ThrustTorque:
        return ThrustTorque(v[3], Vec3.of(v[:3]))

    most_nm = TWIST_ARM_M * setting.able.weight_n
    levers = [*_axes(("roll", "pitch", "yaw"), "N m", most_nm), _thrust(setting)]
    return CommandSliders("torque and thrust", levers, signal)


def _rotor_speeds(setting: Setting) -> CommandSliders:
    dynamics = setting.vehicle.dynamics
    bounds = dynamics.command_bounds
    low, high = bounds.get("speeds_0_radps", (0.0, FASTEST_RADPS))

    def signal(v: Sequence[float]) -> RotorSpeeds:
        one, two, three, four = v
        return RotorSpeeds((one, two, three, four))

    lowest, highest = float(low), float(high)
    levers = [
        Slider(
            f"rotor {i} [rad/s]", lowest, highest, setting.began(f"cmd_speeds_{i}_radps", lowest)
        )
        for i in range(4)
    ]
    return CommandSliders("rotor speeds", levers, signal)


def _attitude_throttle(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> AttitudeThrottle:
        roll, pitch, turn = map(radians, v[:3])
        return AttitudeThrottle(pitch, roll, v[3], turn, FULL_BATTERY_V)

    bounds = setting.vehicle.dynamics.command_bounds

    def most(column: str, otherwise: float) -> float:
        return float(bounds.get(column, (0.0, radians(otherwise)))[1]) * INSIDE * 180.0 / pi

    levers = [
        *_axes(("roll",), "deg", most("roll_rad", LEAN_DEG)),
        *_axes(("pitch",), "deg", most("pitch_rad", LEAN_DEG)),
        *_axes(("yaw rate",), "deg/s", most("yaw_rate_radps", RATE_DEGPS)),
        Slider("throttle", 0.0, 1.0, setting.began("cmd_throttle", 0.5)),
    ]
    return CommandSliders("sticks", levers, signal)


def _heading_speed(setting: Setting) -> CommandSliders:
    def signal(v: Sequence[float]) -> HeadingSpeed:
        return HeadingSpeed(radians(v[0]), v[1])

    heading = Slider("heading, from east [deg]", -180.0, 180.0, _yaw(setting).begin)
    return CommandSliders(
        "heading and speed", [heading, Slider("speed [m/s]", 0.0, 2.0, 0.0)], signal
    )


def _rudder_thrust(setting: Setting) -> CommandSliders:
    bounds = setting.vehicle.dynamics.command_bounds
    angle = float(bounds.get("rudder_rad", (0.0, radians(LEAN_DEG)))[1]) * INSIDE * 180.0 / pi
    push = bounds.get("thrust_n", (0.0, setting.able.weight_n))

    def signal(v: Sequence[float]) -> RudderThrust:
        return RudderThrust(radians(v[0]), v[1])

    levers = [
        *_axes(("rudder",), "deg", angle),
        Slider("thrust [N]", float(push[0]), float(push[1]), 0.0),
    ]
    return CommandSliders("rudder and thrust", levers, signal)


def _propeller_speeds(setting: Setting) -> CommandSliders:
    bounds = setting.vehicle.dynamics.command_bounds

    def lever(side: str) -> Slider:
        low, high = bounds.get(f"{side}_radps", (-FASTEST_RADPS, FASTEST_RADPS))
        return Slider(f"{side} shaft [rad/s]", float(low), float(high), 0.0)

    def signal(v: Sequence[float]) -> PropellerSpeeds:
        return PropellerSpeeds(v[0], v[1])

    return CommandSliders("shaft speeds", [lever("left"), lever("right")], signal)


_LEVELS: dict[type, Callable[[Setting], CommandSliders]] = {
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
