"""Velocity in body axes to velocity in world axes, for example of a joystick."""

from typing import ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.commands import BodyVelocityYawRate, VelocityYawRate
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController


class BodyVelocity(AbstractController[tuple[()], BodyVelocityYawRate, VelocityYawRate]):
    """Velocity, acceleration and yaw rate from body to world axes, by the full attitude."""

    consumes: ClassVar[type] = BodyVelocityYawRate
    produces: ClassVar[type] = VelocityYawRate

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[BodyVelocityYawRate, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], VelocityYawRate]:
        del dt_s, key
        command, estimate = inputs
        q = estimate.q_world_from_body
        return state, VelocityYawRate(
            q.rotate(command.velocity_body_mps),
            command.yaw_rate_radps,
            q.rotate(command.acceleration_body_mps2),
        )
