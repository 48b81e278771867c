"""Velocity and yaw rate to velocity and yaw.

The yaw setpoint starts at the present yaw and moves at the commanded rate, at most ``max_lead_rad``
ahead of the vehicle: one that cannot turn as fast does not catch up full turns later.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.core.commands import VelocityYaw, VelocityYawRate
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.trigonometry import wrap_angle
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module

LEAD_RAD = Bounds(0.0, 3.0, open_below=True)


class YawRateState(Module):
    """Yaw setpoint, and whether there is one."""

    yaw_rad: Real
    started: Flag


class YawRate(AbstractController[YawRateState, VelocityYawRate, VelocityYaw]):
    """Velocity and yaw rate to velocity and yaw.

    Attributes:
        max_lead_rad: largest lead of the integrated yaw over the present one.
    """

    consumes: ClassVar[type] = VelocityYawRate
    produces: ClassVar[type] = VelocityYaw

    max_lead_rad: Annotated[Real, LEAD_RAD] = 0.5

    @override
    def init(self, key: PRNGKeyArray) -> YawRateState:
        del key
        return YawRateState(jnp.asarray(0.0), jnp.asarray(False))

    @override
    def step(
        self,
        state: YawRateState,
        inputs: tuple[VelocityYawRate, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[YawRateState, VelocityYaw]:
        del key
        command, estimate = inputs
        present = estimate.euler_world_from_body.yaw_rad
        before = jnp.where(state.started, state.yaw_rad, present)
        ahead = wrap_angle(before + command.yaw_rate_radps * dt_s - present)
        lead = jnp.clip(ahead, -self.max_lead_rad, self.max_lead_rad)
        yaw = wrap_angle(present + lead)
        return YawRateState(yaw, jnp.asarray(True)), VelocityYaw(
            command.velocity_world_mps,
            yaw,
            command.acceleration_world_mps2,
            command.yaw_rate_radps,
        )
