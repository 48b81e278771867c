"""Holding one set point: a place, a velocity, or a horizontal velocity at a height."""

from typing import Any

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.commands import Command, PositionYaw, VelocityHeightYaw, VelocityYaw
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.places import refuse_places
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class Hold(AbstractGuidance):
    """Gives the same set point for ever.

    With a velocity it asks for that velocity, and with a height as well for the horizontal velocity
    at that height. Without, it asks for the position, or for the place of the first estimate. The
    yaw is that of the first estimate, too, if none is given.
    """

    position_world_m: Vec3 | None = None
    velocity_world_mps: Vec3 | None = None
    height_world_m: Real | None = None
    yaw_rad: Real | None = None

    def __check_init__(self) -> None:
        """Refuses a position beside a velocity, and a height without one."""
        if self.position_world_m is not None and self.velocity_world_mps is not None:
            message = "hold takes position_world_m or velocity_world_mps, not both"
            raise ValueError(message)
        if self.height_world_m is not None and self.velocity_world_mps is None:
            message = "hold takes height_world_m only beside velocity_world_mps"
            raise ValueError(message)

    @override
    def prepare(self, context: BuildContext) -> "Hold":
        if self.position_world_m is not None:
            refuse_places(context, [self.position_world_m], "position_world_m")
        return self

    @override
    def leads_to(self, context: BuildContext) -> Vec3:
        return self.position_world_m or context.place_world_m

    @override
    def command_types(self) -> tuple[type[Command]]:
        if self.velocity_world_mps is None:
            return (PositionYaw,)
        return (VelocityYaw if self.height_world_m is None else VelocityHeightYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> InitialPose:
        del key
        return InitialPose.ahead()

    @override
    def step(
        self, state: InitialPose, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InitialPose, Any]:
        del dt_s, key
        beginning = state.at(inputs.estimate)
        yaw = beginning.yaw_rad if self.yaw_rad is None else self.yaw_rad
        if self.velocity_world_mps is not None:
            return beginning, self._velocity_signal(self.velocity_world_mps, yaw)
        return beginning, PositionYaw(self.position_world_m or beginning.position_world_m, yaw)

    def _velocity_signal(self, velocity: Vec3, yaw_rad: Real) -> VelocityYaw | VelocityHeightYaw:
        if self.height_world_m is None:
            return VelocityYaw(velocity, yaw_rad)
        return VelocityHeightYaw(velocity.x, velocity.y, self.height_world_m, yaw_rad)
