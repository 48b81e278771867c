"""Return to the position where the flight began, at a height."""

from dataclasses import replace
from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.goto import Goto, GotoState
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class ReturnHome(AbstractGuidance[GotoState]):
    """Flies over the start position and stays there; the other fields are those of ``goto``.

    Attributes:
        home_world_m: position; by default the start of the vehicle.
        height_world_m: height of flight and arrival; by default the present one.
        yaw_rad: heading.
        radius_m: distance at which it is done.
        speed_mps: speed along the way; a jump of the setpoint without it.
        acceleration_mps2: acceleration of that motion.
    """

    tracked: ClassVar[bool] = False

    home_world_m: Vec3 | None = None
    height_world_m: Real | None = None
    yaw_rad: Real | None = None
    radius_m: Annotated[Real, POSITIVE] = 0.3
    speed_mps: Annotated[Real, POSITIVE] | None = None
    acceleration_mps2: Annotated[Real, POSITIVE] = 2.0

    @override
    def prepare(self, context: BuildContext) -> "ReturnHome":
        check_positions(context, [self.end_position_world_m(context)], "home")
        return replace(self, home_world_m=self.home_world_m or context.start.position_world_m)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        home = self.home_world_m or context.start.position_world_m
        height = self.height_world_m
        return Vec3(home.x, home.y, context.task_start_world_m.z if height is None else height)

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> GotoState:
        return self._goto(Vec3.zero()).init(key)

    @override
    def step(
        self, state: GotoState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[GotoState, PositionYaw]:
        began = state.initial.updated(inputs.estimate).position_world_m
        home = Vec3.zero() if self.home_world_m is None else self.home_world_m
        height = began.z if self.height_world_m is None else self.height_world_m
        return self._goto(Vec3(home.x, home.y, height)).step(state, inputs, dt_s, key)

    @override
    def finished(self, state: GotoState) -> Flag:
        return state.arrived

    def _goto(self, goal_world_m: Vec3) -> Goto:
        return Goto(
            goal_world_m, self.yaw_rad, self.radius_m, self.speed_mps, self.acceleration_mps2
        )
