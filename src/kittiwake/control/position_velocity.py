"""From a place to the velocity that leads there: v = v_0 + k (p_ref - p), within a speed limit.

v_0 is the velocity of the place itself; the limit is that of the way to it. Above a controller that
follows velocities with a lag T the answer to a step is damped by 1 / (2 sqrt(k T)).
"""

from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw, VelocityYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.controller import AbstractController


class PositionVelocity(AbstractController):
    """Position and yaw to velocity and yaw."""

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
        wanted, estimate = inputs
        error = wanted.position_world_m - estimate.position_world_m
        approach = (error * self.gain_per_s).shortened(self.max_speed_mps)
        return state, VelocityYaw(
            wanted.velocity_world_mps + approach,
            wanted.yaw_rad,
            wanted.acceleration_world_mps2,
            wanted.yaw_rate_radps,
        )
