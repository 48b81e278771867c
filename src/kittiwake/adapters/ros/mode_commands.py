"""Commands of the five modes of uav_gazebo, as maneuvers.

Its messages give angular velocities and torques in the axes of the world, and angles as those of
R = R_x(phi) R_y(theta) R_z(psi) with their rates; the control ladder wants body axes and
quaternions. What depends on the attitude is turned anew with each block of a flight.

Source: uav_gazebo (francofusco), its messages and "Orientation vector", "Angular rates".
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, sin
from typing import Any, NamedTuple

from kittiwake.adapters.ros.ranges import (
    ACCELERATION,
    ANGLE,
    FORCE,
    POSITION,
    RATE,
    TORQUE,
    TURN,
    VELOCITY,
    Range,
)
from kittiwake.core.commands import (
    BodyVelocityYawRate,
    PositionYaw,
    ThrustAttitude,
    ThrustRates,
    ThrustTorque,
    VelocityYawRate,
)
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.runtime.maneuvers import (
    Ability,
    HoldCommand,
    Maneuver,
    VehicleEstimate,
    takes_in_body_axes,
)

INACTIVE = 0


@dataclass
class Turned:
    """A command whose axes are not those of its signal: ``turn`` makes that by the attitude."""

    kind: type
    turn: Callable[[Quaternion], Any]

    @property
    def said(self) -> str:
        """Which kind of signal."""
        return f"obeys {self.kind.__name__}"

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """For the present attitude."""
        return HoldCommand(self.turn(Quaternion(*now.attitude))).command(now, able)


@dataclass
class Ahead:
    """A velocity in the body's axes, for vehicles that take it and for others."""

    asked: BodyVelocityYawRate

    @property
    def said(self) -> str:
        """Which kind of signal."""
        return HoldCommand(self.asked).said

    def command(self, now: VehicleEstimate, able: Ability) -> Any:
        """The velocity, turned if it has to be."""
        if takes_in_body_axes(able):
            return HoldCommand(self.asked).command(now, able)
        q, asked = Quaternion(*now.attitude), self.asked
        velocity = q.rotate(asked.velocity_body_mps)
        acceleration = q.rotate(asked.acceleration_body_mps2)
        turned = VelocityYawRate(velocity, asked.yaw_rate_radps, acceleration)
        return HoldCommand(turned).command(now, able)


class Mode(NamedTuple):
    """One of the modes: its number and name, the message of its commands, and how it is read."""

    number: int
    name: str
    kind: str
    read: Callable[[Any], Maneuver]
    still: Callable[[], Maneuver]


def position_yaw(message: Any) -> Maneuver:
    """A PositionYawControl.

    Raises:
        CommandError: for numbers that are not finite or too large, as all of these do.
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


def velocity_yawrate(message: Any) -> Maneuver:
    """A VelocityYawRateControl."""
    velocity, acceleration = (
        _vector(message, "velocity", VELOCITY),
        _vector(message, "acceleration", ACCELERATION),
    )
    rate = _number(message, "yaw_rate", RATE)
    if message.body_frame:
        return Ahead(BodyVelocityYawRate(velocity, rate, acceleration))
    return HoldCommand(VelocityYawRate(velocity, rate, acceleration))


def thrust_attitude(message: Any) -> Maneuver:
    """A ThrustAttitudeControl."""
    angles, rates = _vector(message, "attitude", ANGLE), _vector(message, "attitude_rates", RATE)
    attitude = of_xyz_angles(angles)
    omega = attitude.inverse().rotate(angular_velocity_world(angles, rates))
    return HoldCommand(ThrustAttitude(_thrust_n(message), attitude, omega))


def thrust_velocity(message: Any) -> Maneuver:
    """A ThrustVelocityControl."""
    thrust_n = _thrust_n(message)
    velocity, acceleration = (
        _vector(message, "velocity", RATE),
        _vector(message, "acceleration", TURN),
    )

    def turn(q_world_from_body: Quaternion) -> ThrustRates:
        body = q_world_from_body.inverse()
        return ThrustRates(thrust_n, body.rotate(velocity), body.rotate(acceleration))

    return Turned(ThrustRates, turn)


def thrust_torque(message: Any) -> Maneuver:
    """A ThrustTorqueControl."""
    thrust_n, torque = _thrust_n(message), _vector(message, "torque", TORQUE)

    def turn(q_world_from_body: Quaternion) -> ThrustTorque:
        return ThrustTorque(thrust_n, q_world_from_body.inverse().rotate(torque))

    return Turned(ThrustTorque, turn)


# what a mode follows that was never given a command: zeros, as in uav_gazebo
MODES = tuple(
    Mode(number, name, f"uav_gazebo_msgs/{kind}", read, lambda zeros=zeros: HoldCommand(zeros))
    for number, (name, kind, read, zeros) in enumerate(
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


def of_xyz_angles(angles_rad: Vec3) -> Quaternion:
    """The rotation R_x(x) R_y(y) R_z(z)."""
    about = [
        Vec3(angles_rad.x, 0.0, 0.0),
        Vec3(0.0, angles_rad.y, 0.0),
        Vec3(0.0, 0.0, angles_rad.z),
    ]
    x, y, z = map(Quaternion.from_rotation_vector, about)
    return x * y * z


def angular_velocity_world(angles_rad: Vec3, rates_radps: Vec3) -> Vec3:
    """That of a body whose X-Y-Z angles change at these rates: D rho'."""
    sine, cosine = sin(angles_rad.x), cos(angles_rad.x)
    across, along = sin(angles_rad.y), cos(angles_rad.y)
    x, y, z = rates_radps.x, rates_radps.y, rates_radps.z
    return Vec3(
        x + across * z,
        cosine * y - sine * along * z,
        sine * y + cosine * along * z,
    )


def _thrust_n(message: Any) -> float:
    """Rotors do not pull down."""
    return max(_number(message, "thrust", FORCE), 0.0)


def _number(message: Any, name: str, range_: Range) -> float:
    value = float(getattr(message, name))
    range_.check(name, value)
    return value


def _vector(message: Any, name: str, range_: Range) -> Vec3:
    return range_.vector(name, getattr(message, name))
