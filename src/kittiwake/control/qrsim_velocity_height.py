"""QRSim's velocity-height controller: horizontal velocity, height and yaw to stick inputs.

Source: QRSim (De Nardi 2013), ``VelocityHeightPID``: the tilt of the velocity controller with the
height loop of the waypoint controller.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.qrsim_loops import (
    PELICAN_BATTERY_V,
    HeightLoop,
    HeightState,
    VelocityLoop,
    VelocityState,
    YawLoop,
)
from kittiwake.core.commands import AttitudeThrottle, VelocityHeightYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module


class QRSimVelocityHeightState(Module):
    """States of both loops."""

    velocity: VelocityState
    height: HeightState


class QRSimVelocityHeight(
    AbstractController[QRSimVelocityHeightState, VelocityHeightYaw, AttitudeThrottle]
):
    """Horizontal velocity, height and yaw to attitude and throttle.

    Attributes:
        velocity: loops from the horizontal velocity errors to the tilt.
        height: loop from the height error to the throttle.
        yaw: loop from the yaw error to the yaw rate.
        battery_v: voltage in the command.
    """

    consumes: ClassVar[type] = VelocityHeightYaw
    produces: ClassVar[type] = AttitudeThrottle

    velocity: VelocityLoop = VelocityLoop()
    height: HeightLoop = HeightLoop()
    yaw: YawLoop = YawLoop()
    battery_v: Annotated[Real, PELICAN_BATTERY_V] = 12.0

    @override
    def init(self, key: PRNGKeyArray) -> QRSimVelocityHeightState:
        del key
        return QRSimVelocityHeightState(VelocityState.initial(), HeightState.initial())

    @override
    def step(
        self,
        state: QRSimVelocityHeightState,
        inputs: tuple[VelocityHeightYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[QRSimVelocityHeightState, AttitudeThrottle]:
        del key
        command, estimate = inputs
        level = Vec3(command.velocity_x_world_mps, command.velocity_y_world_mps, 0.0)
        error_frd = self.velocity.error_frd_mps(level, estimate)
        same_height = jnp.asarray(command.height_world_m) == state.height.last_height_m
        same = state.velocity.has_setpoint(level) & same_height
        pitch, roll = self.velocity.tilt_flu(state.velocity, error_frd, same, dt_s)
        height, throttle = self.height.throttle(
            state.height, command.height_world_m, estimate.position_world_m.z, same, dt_s
        )
        sticks = AttitudeThrottle(
            pitch_rad=pitch,
            roll_rad=roll,
            throttle=throttle,
            yaw_rate_radps=self.yaw.yaw_rate(
                command.yaw_rad, estimate.euler_world_from_body.yaw_rad
            ),
            battery_v=self.battery_v,
        )
        return QRSimVelocityHeightState(
            self.velocity.next_state(state.velocity, error_frd, level), height
        ), sticks
