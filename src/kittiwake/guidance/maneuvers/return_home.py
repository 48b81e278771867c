"""Going back to where the flight began, at a height."""

from dataclasses import replace
from typing import Annotated, ClassVar

from jaxtyping import PRNGKeyArray

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.maneuvers.goto import Goto, GotoState
from kittiwake.guidance.places import refuse_places
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs


class ReturnHome(AbstractGuidance):
    """Goes over the place of the start and stays there; the fields are those of ``goto``.

    Attributes:
        home_world_m: the place; where the vehicle starts if not given.
        height_world_m: to fly and to arrive at; the one that it begins with if not given.
    """

    tracked: ClassVar[bool] = False

    home_world_m: Vec3 | None = None
    height_world_m: Real | None = None
    yaw_rad: Real | None = None
    radius_m: Annotated[Real, POSITIVE] = 0.3
    speed_mps: Annotated[Real, POSITIVE] | None = None
    acceleration_mps2: Annotated[Real, POSITIVE] = 2.0

    def prepare(self, context: BuildContext) -> "ReturnHome":
        """The same, where home is known and a place to be."""
        refuse_places(context, [self.leads_to(context)], "home")
        return replace(self, home_world_m=self.home_world_m or context.start.position_world_m)

    def leads_to(self, context: BuildContext) -> Vec3:
        """Over home."""
        home = self.home_world_m or context.start.position_world_m
        height = self.height_world_m
        return Vec3(home.x, home.y, context.place_world_m.z if height is None else height)

    def command_types(self) -> tuple[type[PositionYaw]]:
        """Places."""
        return (PositionYaw,)

    def init(self, key: PRNGKeyArray) -> GotoState:
        """Not yet on the way."""
        return self._goto(Vec3.zero()).init(key)

    def step(
        self, state: GotoState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[GotoState, PositionYaw]:
        """Home, or a place on the way."""
        began = state.beginning.at(inputs.estimate).position_world_m
        home = Vec3.zero() if self.home_world_m is None else self.home_world_m
        height = began.z if self.height_world_m is None else self.height_world_m
        return self._goto(Vec3(home.x, home.y, height)).step(state, inputs, dt_s, key)

    def finished(self, state: GotoState) -> Flag:
        """Once it has arrived."""
        return state.arrived

    def _goto(self, place_world_m: Vec3) -> Goto:
        way = (self.yaw_rad, self.radius_m, self.speed_mps, self.acceleration_mps2)
        return Goto(place_world_m, *way)
