"""From a velocity in the axes of the body to one in the world, as a joystick's user means it."""

from typing import ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.commands import BodyVelocityYawRate, VelocityYawRate
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController


class BodyVelocity(AbstractController):
    """Velocity, acceleration and yaw rate from body to world axes, by the whole attitude."""

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
        wanted, estimate = inputs
        q = estimate.q_world_from_body
        return state, VelocityYawRate(
            q.rotate(wanted.velocity_body_mps),
            wanted.yaw_rate_radps,
            q.rotate(wanted.acceleration_body_mps2),
        )
