"""Commands and requests with the fields of uav_gazebo's own, for systems without its messages."""

from typing import NamedTuple

TAKEOFF_HEIGHT_M = 6.0
SETTLES_S = 5.0
LANDED_WITHIN_M = 0.1


class Vector(NamedTuple):
    """As geometry_msgs/Vector3."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class PositionYawControl(NamedTuple):
    """A place in the world and how it moves."""

    position: Vector
    yaw: float
    velocity: Vector = Vector()
    acceleration: Vector = Vector()
    yaw_rate: float = 0.0


class VelocityYawRateControl(NamedTuple):
    """A velocity in the axes of the world or the body, and a turn."""

    velocity: Vector
    yaw_rate: float
    body_frame: bool
    acceleration: Vector = Vector()


class ThrustAttitudeControl(NamedTuple):
    """A thrust, angles about x, y and z that turn one after another, and their rates."""

    thrust: float
    attitude: Vector
    attitude_rates: Vector


class ThrustVelocityControl(NamedTuple):
    """A thrust and an angular velocity in the axes of the world."""

    thrust: float
    velocity: Vector
    acceleration: Vector = Vector()


class ThrustTorqueControl(NamedTuple):
    """A thrust and a torque in the axes of the world."""

    thrust: float
    torque: Vector


class ControlMode(NamedTuple):
    """The number of a mode."""

    mode: int


class SwitchMode(NamedTuple):
    """A request for a mode."""

    mode: ControlMode


class GetMode(NamedTuple):
    """A request for the name of the mode."""


class TakeoffRequest(NamedTuple):
    """A request to rise."""

    height: float = TAKEOFF_HEIGHT_M
    takeoff_time: float = 0.0
    idle_time: float = 0.0
    force_takeoff: bool = False


class LandRequest(NamedTuple):
    """A request to go down, with time to settle before it is judged."""

    land_time: float = 0.0
    idle_time: float = SETTLES_S
    maximum_residual: float = LANDED_WITHIN_M
    force_landing: bool = False
