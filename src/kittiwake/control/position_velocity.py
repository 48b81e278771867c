"""Position and yaw to velocity and yaw: v = v_0 + k (p_ref - p), within a speed limit.

v_0 is the feed-forward velocity; the limit applies to the second term. With a velocity controller
of time constant T the step response has the damping ratio 1 / (2 sqrt(k T)).
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, VelocityYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController


class PositionVelocity(AbstractController[tuple[()], PositionYaw, VelocityYaw]):
    """Position and yaw to velocity and yaw.

    Attributes:
        gain_per_s: velocity per meter of error.
        max_speed_mps: limit of the velocity.
    """

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = VelocityYaw

    gain_per_s: Annotated[Real, POSITIVE] = 0.6
    max_speed_mps: Annotated[Real, POSITIVE] = 3.0

    @override
    def step(
        self,
        state: tuple[()],
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[tuple[()], VelocityYaw]:
        del dt_s, key
        command, estimate = inputs
        error = command.position_world_m - estimate.position_world_m
        approach = (error * self.gain_per_s).clip_norm(self.max_speed_mps)
        return state, VelocityYaw(
            command.velocity_world_mps + approach,
            command.yaw_rad,
            command.acceleration_world_mps2,
            command.yaw_rate_radps,
        )
