"""Constant setpoint: a position, a velocity, or a horizontal velocity at a height."""

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.commands import Command, PositionYaw, VelocityHeightYaw, VelocityYaw
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class Hold(AbstractGuidance[InitialPose]):
    """Gives a constant setpoint.

    With a velocity this is that velocity, and with a height the horizontal velocity at that height.
    Otherwise it is the position, or by default that of the first estimate. The default yaw is that
    of the first estimate, too.

    Attributes:
        position_world_m: position; by default that where it began.
        velocity_world_mps: velocity, in place of a position.
        height_world_m: height, beside a horizontal velocity.
        yaw_rad: heading; by default that where it began.
    """

    position_world_m: Vec3 | None = None
    velocity_world_mps: Vec3 | None = None
    height_world_m: Real | None = None
    yaw_rad: Real | None = None

    def __post_init__(self) -> None:
        """Raise an error for a position together with a velocity, and a height without one."""
        if self.position_world_m is not None and self.velocity_world_mps is not None:
            message = "`position_world_m`: not allowed with velocity_world_mps"
            raise ValueError(message)
        if self.height_world_m is not None and self.velocity_world_mps is None:
            message = "`height_world_m`: requires velocity_world_mps"
            raise ValueError(message)

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "Hold":
        if self.position_world_m is not None:
            check_positions(context, [self.position_world_m], "position_world_m")
        return self

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        return self.position_world_m or context.task_start_world_m

    @override
    def command_types(self) -> tuple[type[Command]]:
        if self.velocity_world_mps is None:
            return (PositionYaw,)
        return (VelocityYaw if self.height_world_m is None else VelocityHeightYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> InitialPose:
        del key
        return InitialPose.unknown()

    @override
    def step(
        self, state: InitialPose, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InitialPose, Command]:
        del dt_s, key
        initial = state.updated(inputs.estimate)
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        if self.velocity_world_mps is not None:
            return initial, self._velocity_setpoint(self.velocity_world_mps, yaw)
        return initial, PositionYaw(self.position_world_m or initial.position_world_m, yaw)

    def _velocity_setpoint(self, velocity: Vec3, yaw_rad: Real) -> VelocityYaw | VelocityHeightYaw:
        if self.height_world_m is None:
            return VelocityYaw(velocity, yaw_rad)
        return VelocityHeightYaw(velocity.x, velocity.y, self.height_world_m, yaw_rad)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Hold"]:
        return {
            "where it is": cls(),
            "position": cls(position_world_m=Vec3(1.0, 2.0, 3.0)),
            "velocity": cls(velocity_world_mps=Vec3(1.0, 2.0, 3.0)),
            "height": cls(velocity_world_mps=Vec3(1.0, 2.0, 0.0), height_world_m=3.0),
        }
