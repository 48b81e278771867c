"""QRSim's waypoint controller: position and yaw to stick inputs of a self-leveling quadrotor.

The horizontal error, in heading axes, gives a velocity setpoint; the velocity error gives the tilt;
height and yaw have separate loops. Source: QRSim (De Nardi 2013), ``WaypointPID``.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.qrsim_loops import PELICAN_BATTERY_V, HeightLoop, HeightState, YawLoop
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import AttitudeThrottle, PositionYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.euler import RotationZYX
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module


class QRSimWaypointState(Module):
    """State of the height loop, and the last position setpoint."""

    height: HeightState
    last_position_world_m: Vec3


class QRSimWaypoint(AbstractController[QRSimWaypointState, PositionYaw, AttitudeThrottle]):
    """Position and yaw to attitude and throttle.

    Attributes:
        position_gain_per_s: velocity setpoint per meter of horizontal error.
        max_speed_mps: limit of the velocity setpoint.
        velocity_gain_rad_per_mps: tilt per velocity error.
        max_tilt_rad: limit of the tilt.
        height: loop from the height error to the throttle.
        yaw: loop from the yaw error to the yaw rate.
        battery_v: voltage in the command.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = AttitudeThrottle

    position_gain_per_s: Annotated[Real, NOT_NEGATIVE] = 0.9
    max_speed_mps: Annotated[Real, POSITIVE] = 5.0
    velocity_gain_rad_per_mps: Annotated[Real, NOT_NEGATIVE] = 0.09
    max_tilt_rad: Annotated[Real, POSITIVE] = 0.34
    height: HeightLoop = HeightLoop()
    yaw: YawLoop = YawLoop()
    battery_v: Annotated[Real, PELICAN_BATTERY_V] = 12.0

    @override
    def init(self, key: PRNGKeyArray) -> QRSimWaypointState:
        del key
        zero = Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        return QRSimWaypointState(HeightState.initial(), zero)

    @override
    def step(
        self,
        state: QRSimWaypointState,
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[QRSimWaypointState, AttitudeThrottle]:
        del key
        command, estimate = inputs
        setpoint, position = command.position_world_m, estimate.position_world_m
        heading = RotationZYX.of(estimate.euler_world_from_body)
        error = setpoint - position
        forward = heading.cos_yaw * error.x + heading.sin_yaw * error.y
        left = heading.cos_yaw * error.y - heading.sin_yaw * error.x
        velocity = estimate.velocity_body_mps
        same = (setpoint.x == state.last_position_world_m.x) & (
            setpoint.y == state.last_position_world_m.y
        )
        same_height = setpoint.z == state.height.last_height_m
        height, throttle = self.height.throttle(
            state.height, setpoint.z, position.z, same & same_height, dt_s
        )
        sticks = AttitudeThrottle(
            pitch_rad=self._tilt(forward, velocity.x),
            roll_rad=-self._tilt(left, velocity.y),
            throttle=throttle,
            yaw_rate_radps=self.yaw.yaw_rate(
                command.yaw_rad, estimate.euler_world_from_body.yaw_rad
            ),
            battery_v=self.battery_v,
        )
        return QRSimWaypointState(height, setpoint), sticks

    def _tilt(self, error_m: Real, velocity_mps: Real) -> Real:
        speed = jnp.clip(
            self.position_gain_per_s * error_m, -self.max_speed_mps, self.max_speed_mps
        )
        tilt = self.velocity_gain_rad_per_mps * (speed - velocity_mps)
        return jnp.clip(tilt, -self.max_tilt_rad, self.max_tilt_rad)
