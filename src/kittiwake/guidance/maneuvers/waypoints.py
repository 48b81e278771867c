"""Visit of waypoints one after another."""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import Command, PositionYaw
from kittiwake.core.elapsed import elapsed_s
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.planning.survey_pattern import SurveyPattern, check_positions_or_pattern
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field


class WaypointsState(Module):
    """Number of waypoints reached in all rounds, waiting time, and initial pose."""

    reached: Int[Array, ""]
    waited_s: Real
    initial: InitialPose


class Waypoints(AbstractGuidance[WaypointsState]):
    """Commands each waypoint until the estimate has been within the radius for the waiting time.

    The default yaw is that of the first estimate.

    Attributes:
        positions_world_m: waypoints.
        acceptance_radius_m: distance at which a waypoint is reached.
        wait_s: time at each waypoint.
        yaw_rad: heading.
        loop: whether it begins again after the last waypoint.
        pattern: survey pattern, in place of waypoints.
    """

    tracked: ClassVar[bool] = False

    positions_world_m: tuple[Vec3, ...] = ()
    acceptance_radius_m: Annotated[Real, POSITIVE] = 0.5
    wait_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    yaw_rad: Real | None = None
    loop: bool = field(static=True, default=False)
    pattern: SurveyPattern | None = None

    def __post_init__(self) -> None:
        """Raise an error for no waypoints, waypoints beside a pattern, and a loop with one."""
        check_positions_or_pattern(self.positions_world_m, self.pattern)
        if self.loop and len(self.positions_world_m) == 1:
            message = "`loop`: requires at least two positions_world_m; one position is held anyway"
            raise ValueError(message)

    @override
    def command_types(self) -> tuple[type[Command]]:
        return (PositionYaw,)

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "Waypoints":
        places = self._positions_world_m(context)
        check_positions(context, places, "positions_world_m" if self.pattern is None else "pattern")
        if self.pattern is None:
            return self
        return replace(self, positions_world_m=places, pattern=None)

    @override
    def init(self, key: PRNGKeyArray) -> WaypointsState:
        del key
        return WaypointsState(jnp.asarray(0, jnp.int32), jnp.asarray(0.0), InitialPose.unknown())

    @override
    def step(
        self, state: WaypointsState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[WaypointsState, PositionYaw]:
        del key
        error = self._goal(state.reached) - inputs.estimate.position_world_m
        near = error.dot(error) < self.acceptance_radius_m * self.acceptance_radius_m
        waited = jnp.where(near, state.waited_s + dt_s, 0.0)
        # the waiting time counts from the step of arrival
        over = jnp.asarray(elapsed_s(state.waited_s, dt_s) > self.wait_s)
        done = near & over
        if not self.loop:
            done = done & (state.reached < len(self.positions_world_m))
        reached = state.reached + done.astype(jnp.int32)
        initial = state.initial.updated(inputs.estimate)
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        later = WaypointsState(reached, jnp.where(done, 0.0, waited), initial)
        return later, PositionYaw(self._goal(reached), yaw)

    @property
    @override
    def ends(self) -> bool:
        return not self.loop

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        return self._positions_world_m(context)[-1]

    @override
    def finished(self, state: WaypointsState) -> Flag:
        return jnp.logical_and(not self.loop, state.reached >= len(self.positions_world_m))

    @override
    def waypoints_reached(self, state: WaypointsState) -> Int[Array, ""]:
        return state.reached

    @override
    def planned_waypoints(self) -> int | None:
        return None if self.loop else len(self.positions_world_m)

    def _positions_world_m(self, context: BuildContext) -> tuple[Vec3, ...]:
        pattern = self.pattern
        if pattern is None:
            return self.positions_world_m
        return pattern.positions_world_m(context.world.origin)

    def _goal(self, reached: Int[Array, ""]) -> Vec3:
        count = len(self.positions_world_m)
        index = reached % count if self.loop else jnp.minimum(reached, count - 1)

        def pick(axis: str) -> Real:
            return jnp.stack([jnp.asarray(getattr(p, axis)) for p in self.positions_world_m])[index]

        return Vec3(pick("x"), pick("y"), pick("z"))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Waypoints"]:
        places = (Vec3(1.0, 2.0, 10.0), Vec3(3.0, 4.0, 5.0))
        patterns = {name: cls(pattern=each) for name, each in SurveyPattern.examples().items()}
        return {"once": cls(places), "for ever": cls(places, loop=True), **patterns}
