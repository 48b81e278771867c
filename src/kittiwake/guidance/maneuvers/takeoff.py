"""Takeoff in three states, to a hover at a height.

With z_0 the initial height, z the present one, and the desired height h over z_0:

    standing    spools the motors up, and holds the position
    rising      z - z_0 <= lift-off    setpoint 10 m above the vehicle: thrust for lift-off
    climbing    z - z_0 < h            setpoint z_0 + h: the climb becomes steady
    hovering    from then on           holds the height at which it comes to rest,
                                       z + v_z^2 / (2 a)

Source: Micklisch et al. 2021, takeoff method, after Gageik et al. 2012. That one climbs to 5 m over
the ground, its second state begins at 3.11 m, 1.65 m over where it stood, and it hovers at 5.63 m;
the rule for coming to rest is not published and chosen here, so that it does not sink back. Other
vehicles are faster after 1.65 m with full thrust, so that rising ends at 0.3 m by default.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module

STANDING, RISING, CLIMBING, HOVERING = range(4)


class TakeoffState(Module):
    """Initial pose, phase, height to hold, and flag of rest."""

    initial: InitialPose
    phase: Int[Array, ""]
    hover_height_m: Real
    resting: Flag


class Takeoff(AbstractGuidance[TakeoffState]):
    """Climbs to a height over its initial position, and hovers there.

    Attributes:
        height_m: height over the initial position.
        yaw_rad: constant yaw; by default that at the start.
        spool_s: time in which the motors spool up.
        lift_off_m: height over the initial position at which rising with full thrust ends.
        lead_m: offset of the setpoint above the vehicle while rising.
        max_deceleration_mps2: deceleration with which it comes to rest.
        tolerance_m: distance to the height at which it is reached.
        max_speed_mps: speed below which it is at rest.
    """

    tracked: ClassVar[bool] = False

    height_m: Annotated[Real, POSITIVE] = 5.0
    yaw_rad: Real | None = None
    spool_s: Annotated[Real, NOT_NEGATIVE] = 0.24
    lift_off_m: Annotated[Real, POSITIVE] = 0.3
    lead_m: Annotated[Real, POSITIVE] = 10.0
    max_deceleration_mps2: Annotated[Real, POSITIVE] = 4.0
    tolerance_m: Annotated[Real, POSITIVE] = 0.1
    max_speed_mps: Annotated[Real, POSITIVE] = 0.2

    @override
    def prepare(self, context: BuildContext) -> "Takeoff":
        check_positions(context, [self.end_position_world_m(context)], "height_m")
        return self

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        return context.task_start_world_m + Vec3(0.0, 0.0, self.height_m)

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> TakeoffState:
        del key
        return TakeoffState(
            InitialPose.unknown(),
            jnp.asarray(STANDING, jnp.int32),
            jnp.asarray(0.0),
            jnp.asarray(False),
        )

    @override
    def step(
        self, state: TakeoffState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[TakeoffState, PositionYaw]:
        del dt_s, key
        initial = state.initial.updated(inputs.estimate)
        place, motion = initial.position_world_m, inputs.estimate
        z, speed = motion.position_world_m.z, motion.velocity_world_mps.z
        risen, goal = z - place.z, place.z + self.height_m
        lifted = risen > jnp.minimum(self.lift_off_m, self.height_m)
        reached = risen > self.height_m - self.tolerance_m
        due = [inputs.time_s >= self.spool_s, lifted, reached]
        phase = state.phase
        for index, over in enumerate(due):
            phase = jnp.where((phase == index) & over, index + 1, phase)
        rest = z + jnp.maximum(speed, 0.0) ** 2 / (2.0 * self.max_deceleration_mps2)
        begins = (phase == HOVERING) & (state.phase != HOVERING)
        hover = jnp.where(begins, jnp.maximum(rest, goal), state.hover_height_m)
        height = jnp.select(
            [phase == STANDING, phase == RISING, phase == CLIMBING],
            [place.z, z + self.lead_m, goal],
            hover,
        )
        quiet = motion.velocity_world_mps.norm() < self.max_speed_mps
        near = jnp.abs(z - hover) < self.tolerance_m
        resting = state.resting | ((phase == HOVERING) & quiet & near)
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        later = TakeoffState(initial, phase, hover, resting)
        return later, PositionYaw(Vec3(place.x, place.y, height), yaw)

    @override
    def finished(self, state: TakeoffState) -> Flag:
        return state.resting

    @override
    def phases(self) -> tuple[str, ...]:
        return ("spooling up", "rising", "climbing", "hovering")

    @override
    def phase(self, state: TakeoffState) -> Int[Array, ""]:
        return state.phase
