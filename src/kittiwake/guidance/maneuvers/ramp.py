"""Takeoff and landing along a ramp of height, as in uav_gazebo.

The setpoint rises or sinks linearly by a height h in T = 4 s max(1, |h| / 1 m), if no time is
given, with its velocity fed forward. At nine tenths of the time it jumps to the end; after the
whole time and a pause, the distance to the end is the residual. The takeoff is done then with any
residual; a landing with a larger residual than allowed fails, and the vehicle holds its setpoint.

Source: uav_gazebo (public), its manager of takeoff and landing at 50 Hz. There a takeoff is refused
unless the motors are off, which guidance cannot know: here it is refused if the vehicle moves. Both
can be forced.
"""

from dataclasses import replace
from typing import Annotated

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import CommandChoice, MotorsOff, PositionYaw
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.height_ramp import Ramp
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module, field

# a faster vehicle is flying
MAX_REST_MPS = 0.1
# a vehicle higher over the ground does not stand
MAX_STANDING_M = 0.1
RAMP, PAUSE, REFUSED, DONE = range(4)


class RampState(Module):
    """Initial pose, and phase."""

    initial: InitialPose
    part: Int[Array, ""]


class RampTakeoff(AbstractGuidance[RampState]):
    """Climbs linearly by a height, and stays there.

    Attributes:
        height_m: height over the initial position.
        duration_s: duration of the ramp; by default 4 s for each meter, and at least 4 s.
        idle_s: pause before it is done.
        force: takes off even if the vehicle moves.
    """

    height_m: Annotated[Real, POSITIVE] = 1.0
    duration_s: Annotated[Real, POSITIVE] | None = None
    idle_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    force: bool = field(static=True, default=False)

    @override
    def prepare(self, context: BuildContext) -> "RampTakeoff":
        check_positions(context, [self.end_position_world_m(context)], "height_m")
        return self

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        return context.task_start_world_m + Vec3(0.0, 0.0, self.height_m)

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> RampState:
        del key
        return RampState(InitialPose.unknown(), jnp.asarray(RAMP, jnp.int32))

    @override
    def step(
        self, state: RampState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[RampState, PositionYaw]:
        del dt_s, key
        initial = state.initial.updated(inputs.estimate)
        z = initial.position_world_m.z
        ramp = Ramp.of(z, z + self.height_m, self.duration_s)
        moves = inputs.estimate.velocity_world_mps.norm() > MAX_REST_MPS
        forbidden = jnp.logical_not(state.initial.known) & moves & (not self.force)
        refused = (state.part == REFUSED) | forbidden
        part = jnp.where(refused, REFUSED, _part(ramp, inputs.time_s, self.idle_s))
        point = _point(ramp, initial, jnp.where(refused, 0.0, inputs.time_s))
        climb = jnp.where(refused, 0.0, point.velocity_world_mps.z)
        point = replace(point, velocity_world_mps=Vec3(0.0, 0.0, climb))
        return RampState(initial, part), point

    @override
    def finished(self, state: RampState) -> Flag:
        return state.part == DONE

    @override
    def phases(self) -> tuple[str, ...]:
        return (
            "on the ramp up",
            "at its end",
            f"takeoff refused: faster than {MAX_REST_MPS:g} m/s without force",
            "taken off",
        )

    @override
    def phase(self, state: RampState) -> Int[Array, ""]:
        return state.part


class RampLand(AbstractGuidance[RampState]):
    """Sinks linearly to the height of the start, and switches the motors off there.

    Attributes:
        landing_height_world_m: final height; by default the height of the start.
        duration_s: duration of the ramp; by default 4 s for each meter, and at least 4 s.
        idle_s: pause before the residual is checked.
        max_residual_m: largest residual of a successful landing.
        force: switches the motors off with any residual.
    """

    landing_height_world_m: Real | None = None
    duration_s: Annotated[Real, POSITIVE] | None = None
    idle_s: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_residual_m: Annotated[Real, POSITIVE] = 0.2
    force: bool = field(static=True, default=False)

    @override
    def prepare(self, context: BuildContext) -> "RampLand":
        if self.landing_height_world_m is not None:
            return self
        world, start_m = context.world, context.start.position_world_m.z
        standing_m = world.ground_z_m + (context.dynamics.standing_height_m or 0.0)
        if not world.platforms and start_m > standing_m + MAX_STANDING_M:
            message = (
                f"the flight starts in the air at z = {start_m:g}; write "
                f"landing_height_world_m, such as {standing_m:.4g}"
            )
            raise ScenarioError(message)
        return replace(self, landing_height_world_m=start_m)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        place, height = context.task_start_world_m, self.landing_height_world_m
        return Vec3(place.x, place.y, place.z if height is None else height)

    @override
    def command_types(self) -> tuple[type, ...]:
        return (PositionYaw, MotorsOff)

    @override
    def init(self, key: PRNGKeyArray) -> RampState:
        del key
        return RampState(InitialPose.unknown(), jnp.asarray(RAMP, jnp.int32))

    @override
    def step(
        self, state: RampState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[RampState, CommandChoice]:
        del dt_s, key
        initial = state.initial.updated(inputs.estimate)
        goal = 0.0 if self.landing_height_world_m is None else self.landing_height_world_m
        ramp = Ramp.of(initial.position_world_m.z, goal, self.duration_s)
        point = _point(ramp, initial, inputs.time_s)
        part = _part(ramp, inputs.time_s, self.idle_s)
        residual = (point.position_world_m - inputs.estimate.position_world_m).norm()
        failed = (residual > self.max_residual_m) & (not self.force)
        decided = state.part >= REFUSED
        judged = jnp.where((part == DONE) & failed, REFUSED, part)
        part = jnp.where(decided, state.part, judged)
        commands = (point, MotorsOff())
        return RampState(initial, part), CommandChoice(commands, jnp.where(part == DONE, 1, 0))

    @override
    def finished(self, state: RampState) -> Flag:
        return state.part == DONE

    @override
    def phases(self) -> tuple[str, ...]:
        refused = "landing refused: more than max_residual_m from the end of the ramp"
        return ("on the ramp down", "at its end", refused, "motors off")

    @override
    def phase(self, state: RampState) -> Int[Array, ""]:
        return state.part


def _point(ramp: Ramp, initial: InitialPose, time_s: Real) -> PositionYaw:
    """Return the setpoint at a time."""
    place, velocity = initial.position_world_m, Vec3(0.0, 0.0, ramp.rate_mps(time_s))
    above = Vec3(place.x, place.y, ramp.height_m(time_s))
    return PositionYaw(above, initial.yaw_rad, velocity)


def _part(ramp: Ramp, time_s: Real, idle_s: Real) -> Int[Array, ""]:
    """Return the phase at a time."""
    late = jnp.where(time_s > ramp.duration_s + idle_s, DONE, PAUSE)
    return jnp.where(time_s > ramp.duration_s, late, RAMP).astype(jnp.int32)
