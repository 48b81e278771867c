"""Commands of the five modes of uav_gazebo, as maneuvers.

Its messages give angular velocities and torques in world axes, and attitudes as the angles of
R = R_x(phi) R_y(theta) R_z(psi) with their rates. The control cascade takes body axes and
quaternions. Vectors that depend on the attitude are rotated anew with each block of a flight.

Source: uav_gazebo (francofusco), its messages and "Orientation vector", "Angular rates".
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, sin
from typing import NamedTuple

from kittiwake.adapters.ranges import (
    ACCELERATION,
    ANGLE,
    ANGULAR_ACCELERATION,
    FORCE,
    POSITION,
    RATE,
    TORQUE,
    VELOCITY,
    Range,
)
from kittiwake.adapters.ros.message_types import Message
from kittiwake.core.commands import (
    BodyVelocityYawRate,
    Command,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import Capabilities, HoldCommand, Maneuver
from kittiwake.runtime.vehicle_estimate import VehicleEstimate

INACTIVE = 0


@dataclass
class WorldFrameManeuver:
    """A command given in world axes; ``to_body`` rotates it by the current attitude.

    Attributes:
        command_type: type of the command in body axes.
        to_body: returns the command in body axes, given q_world_from_body.
    """

    command_type: type
    to_body: Callable[[Quaternion], Command]

    @property
    def description(self) -> str:
        """Short description."""
        return f"holds {self.command_type.__name__}"

    def command(self, now: VehicleEstimate, capabilities: Capabilities) -> Command:
        """Return the command for the current attitude."""
        del capabilities
        return self.to_body(now.motion.q_world_from_body)


class Mode(NamedTuple):
    """One of the control modes of uav_gazebo.

    Attributes:
        number: as in uav_gazebo_msgs/ControlMode.
        name: prefix of its topics.
        type_name: type of its command messages.
        parse: converts a message to a maneuver.
        zero_command: returns the maneuver of a mode without any command so far.
    """

    number: int
    name: str
    type_name: str
    parse: Callable[[Message], Maneuver]
    zero_command: Callable[[], Maneuver]


def position_yaw(message: Message) -> Maneuver:
    """Convert a PositionYawControl.

    Raises:
        CommandError: for numbers that are not finite or too large; so do the other converters.
    """
    return HoldCommand(
        PositionYaw(
            _vector(message, "position", POSITION),
            _number(message, "yaw", ANGLE),
            _vector(message, "velocity", VELOCITY),
            _vector(message, "acceleration", ACCELERATION),
            yaw_rate_radps=_number(message, "yaw_rate", RATE),
        )
    )


def velocity_yawrate(message: Message) -> Maneuver:
    """Convert a VelocityYawRateControl."""
    velocity, acceleration = (
        _vector(message, "velocity", VELOCITY),
        _vector(message, "acceleration", ACCELERATION),
    )
    rate = _number(message, "yaw_rate", RATE)
    if message.body_frame:
        return HoldCommand(BodyVelocityYawRate(velocity, rate, acceleration))
    return HoldCommand(VelocityYawRate(velocity, rate, acceleration))


def thrust_attitude(message: Message) -> Maneuver:
    """Convert a ThrustAttitudeControl."""
    angles, rates = _vector(message, "attitude", ANGLE), _vector(message, "attitude_rates", RATE)
    attitude = quaternion_from_xyz_angles(angles)
    omega = attitude.inverse().rotate(angular_velocity_world(angles, rates))
    return HoldCommand(ThrustAttitude(_thrust_n(message), attitude, omega))


def thrust_velocity(message: Message) -> Maneuver:
    """Convert a ThrustVelocityControl."""
    thrust_n = _thrust_n(message)
    velocity, acceleration = (
        _vector(message, "velocity", RATE),
        _vector(message, "acceleration", ANGULAR_ACCELERATION),
    )

    def to_body(q_world_from_body: Quaternion) -> ThrustRates:
        body = q_world_from_body.inverse()
        return ThrustRates(thrust_n, body.rotate(velocity), body.rotate(acceleration))

    return WorldFrameManeuver(ThrustRates, to_body)


def thrust_torque(message: Message) -> Maneuver:
    """Convert a ThrustTorqueControl."""
    thrust_n, torque = _thrust_n(message), _vector(message, "torque", TORQUE)

    def to_body(q_world_from_body: Quaternion) -> ThrustTorque:
        return ThrustTorque(thrust_n, q_world_from_body.inverse().rotate(torque))

    return WorldFrameManeuver(ThrustTorque, to_body)


# a mode that was never given a command follows zeros, as in uav_gazebo
MODES = tuple(
    Mode(number, name, f"uav_gazebo_msgs/{type_name}", parse, lambda zero=zero: HoldCommand(zero))
    for number, (name, type_name, parse, zero) in enumerate(
        (
            ("position_yaw", "PositionYawControl", position_yaw, PositionYaw(Vec3.zero(), 0.0)),
            (
                "velocity_yawrate",
                "VelocityYawRateControl",
                velocity_yawrate,
                VelocityYawRate(Vec3.zero(), 0.0),
            ),
            ("thrust_attitude", "ThrustAttitudeControl", thrust_attitude, ThrustAttitude.off()),
            (
                "thrust_velocity",
                "ThrustVelocityControl",
                thrust_velocity,
                ThrustRates(0.0, Vec3.zero()),
            ),
            ("thrust_torque", "ThrustTorqueControl", thrust_torque, ThrustTorque.off()),
        ),
        start=1,
    )
)


def quaternion_from_xyz_angles(angles_rad: Vec3) -> Quaternion:
    """Return the rotation R_x(x) R_y(y) R_z(z)."""
    about = [
        Vec3(angles_rad.x, 0.0, 0.0),
        Vec3(0.0, angles_rad.y, 0.0),
        Vec3(0.0, 0.0, angles_rad.z),
    ]
    x, y, z = map(Quaternion.from_rotation_vector, about)
    return x * y * z


def angular_velocity_world(angles_rad: Vec3, rates_radps: Vec3) -> Vec3:
    """Return the angular velocity of a body from its X-Y-Z angles and their rates: D rho'."""
    sin_x, cos_x = sin(angles_rad.x), cos(angles_rad.x)
    sin_y, cos_y = sin(angles_rad.y), cos(angles_rad.y)
    x, y, z = rates_radps.x, rates_radps.y, rates_radps.z
    return Vec3(
        x + sin_y * z,
        cos_x * y - sin_x * cos_y * z,
        sin_x * y + cos_x * cos_y * z,
    )


def _thrust_n(message: Message) -> float:
    """Return the thrust, at least 0: rotors do not pull down."""
    return max(_number(message, "thrust", FORCE), 0.0)


def _number(message: Message, name: str, range_: Range) -> float:
    value = float(getattr(message, name))
    range_.check(name, value)
    return value


def _vector(message: Message, name: str, range_: Range) -> Vec3:
    return range_.vector(name, getattr(message, name))
