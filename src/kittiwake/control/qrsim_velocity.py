"""QRSim's velocity controller: velocity and yaw to stick inputs.

Source: QRSim (De Nardi 2013), ``VelocityPID``. All three axes work on body velocities; the vertical
one is proportional and integral on the throttle.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.qrsim_loops import PELICAN_BATTERY_V, VelocityLoop, VelocityState, YawLoop
from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.core.commands import AttitudeThrottle, VelocityYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController


class QRSimVelocity(AbstractController[VelocityState, VelocityYaw, AttitudeThrottle]):
    """Velocity and yaw to attitude and throttle.

    Attributes:
        velocity: loops from the horizontal velocity errors to the tilt.
        yaw: loop from the yaw error to the yaw rate.
        hover_throttle: throttle without an error.
        climb_gain_s_per_m: throttle per vertical velocity error.
        climb_sum_gain_s_per_m: throttle per summed vertical velocity error.
        battery_v: voltage in the command.
    """

    consumes: ClassVar[type] = VelocityYaw
    produces: ClassVar[type] = AttitudeThrottle

    velocity: VelocityLoop = VelocityLoop()
    yaw: YawLoop = YawLoop()
    hover_throttle: Real = 0.59
    climb_gain_s_per_m: Annotated[Real, NOT_NEGATIVE] = 0.2
    climb_sum_gain_s_per_m: Annotated[Real, NOT_NEGATIVE] = 0.002
    battery_v: Annotated[Real, PELICAN_BATTERY_V] = 12.0

    @override
    def init(self, key: PRNGKeyArray) -> VelocityState:
        del key
        return VelocityState.initial()

    @override
    def step(
        self,
        state: VelocityState,
        inputs: tuple[VelocityYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[VelocityState, AttitudeThrottle]:
        del key
        command, estimate = inputs
        velocity = command.velocity_world_mps
        error_frd = self.velocity.error_frd_mps(velocity, estimate)
        same = state.has_setpoint(velocity)
        pitch, roll = self.velocity.tilt_flu(state, error_frd, same, dt_s)
        throttle = (
            self.hover_throttle
            - self.climb_gain_s_per_m * error_frd.z
            - self.climb_sum_gain_s_per_m * state.sum_mps.z
        )
        sticks = AttitudeThrottle(
            pitch_rad=pitch,
            roll_rad=roll,
            throttle=jnp.clip(throttle, 0.0, 1.0),
            yaw_rate_radps=self.yaw.yaw_rate(
                command.yaw_rad, estimate.euler_world_from_body.yaw_rad
            ),
            battery_v=self.battery_v,
        )
        return self.velocity.next_state(state, error_frd, velocity), sticks
