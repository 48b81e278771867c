"""Commands and requests with the fields of uav_gazebo's types, for systems without them."""

from typing import NamedTuple

TAKEOFF_HEIGHT_M = 6.0
LANDING_IDLE_S = 5.0
MAX_LANDING_RESIDUAL_M = 0.1


class Vector(NamedTuple):
    """Vector with the fields of geometry_msgs/Vector3."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class PositionYawControl(NamedTuple):
    """Position and yaw in the world, with their derivatives as feed-forward."""

    position: Vector
    yaw: float
    velocity: Vector = Vector()
    acceleration: Vector = Vector()
    yaw_rate: float = 0.0


class VelocityYawRateControl(NamedTuple):
    """Velocity in world or body axes, and a yaw rate."""

    velocity: Vector
    yaw_rate: float
    body_frame: bool
    acceleration: Vector = Vector()


class ThrustAttitudeControl(NamedTuple):
    """Thrust, successive angles about x, y and z, and their rates."""

    thrust: float
    attitude: Vector
    attitude_rates: Vector


class ThrustVelocityControl(NamedTuple):
    """Thrust and angular velocity in world axes."""

    thrust: float
    velocity: Vector
    acceleration: Vector = Vector()


class ThrustTorqueControl(NamedTuple):
    """Thrust and torque in world axes."""

    thrust: float
    torque: Vector


class ControlMode(NamedTuple):
    """Number of a mode."""

    mode: int


class SwitchMode(NamedTuple):
    """Request to switch to a mode."""

    mode: ControlMode


class GetMode(NamedTuple):
    """Request for the current mode."""


class TakeoffRequest(NamedTuple):
    """Request to take off."""

    height: float = TAKEOFF_HEIGHT_M
    takeoff_time: float = 0.0
    idle_time: float = 0.0
    force_takeoff: bool = False


class LandRequest(NamedTuple):
    """Request to land, with an idle time before the residual is measured."""

    land_time: float = 0.0
    idle_time: float = LANDING_IDLE_S
    maximum_residual: float = MAX_LANDING_RESIDUAL_M
    force_landing: bool = False
