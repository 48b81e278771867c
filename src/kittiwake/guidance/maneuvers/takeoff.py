"""Taking off in three states, to a hover at a height.

With z_0 where it began, z where it is, and the wanted height h over z_0:

    standing    spools its motors up, and holds its place
    rising      z - z_0 <= lift-off    asks for a place 10 m above itself: thrust that lifts off
    climbing    z - z_0 < h            asks for z_0 + h: the climb becomes steady
    hovering    from then on           keeps the height at which it comes to rest,
                                       z + v_z^2 / (2 a), for good

Source: Micklisch et al. 2021, takeoff method, after Gageik et al. 2012. That one climbs to 5 m over
the ground, its second state begins at 3.11 m, 1.65 m over where it stood, and it hovers at 5.63 m;
the rule for coming to rest is not published and chosen here, so that it does not sink back. Other
vehicles are faster after 1.65 m with full thrust, so that rising ends at 0.3 m by default.
"""

from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.places import refuse_places
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs

STANDING, RISING, CLIMBING, HOVERING = range(4)


class TakeoffState(eqx.Module):
    """Where it began, which of the states it is in, the height to keep, and whether it rests."""

    beginning: InitialPose
    phase: Int[Array, ""]
    hover_height_m: Real
    resting: Flag


class Takeoff(AbstractGuidance):
    """Climbs to a height over where it begins, and hovers there.

    Attributes:
        height_m: over where it begins.
        yaw_rad: to look along; the yaw that it begins with if not given.
        spool_s: how long the motors spool up.
        lift_off_m: above where it begins; where rising with full thrust ends.
        lead_m: how far above itself the place lies that is asked for while rising.
        max_deceleration_mps2: with which it comes to rest.
        tolerance_m: how near to its height it is there.
        max_speed_mps: with which it is at rest.
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
        refuse_places(context, [self.leads_to(context)], "height_m")
        return self

    @override
    def leads_to(self, context: BuildContext) -> Vec3:
        return context.place_world_m + Vec3(0.0, 0.0, self.height_m)

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> TakeoffState:
        del key
        return TakeoffState(
            InitialPose.ahead(),
            jnp.asarray(STANDING, jnp.int32),
            jnp.asarray(0.0),
            jnp.asarray(False),
        )

    @override
    def step(
        self, state: TakeoffState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[TakeoffState, PositionYaw]:
        del dt_s, key
        beginning = state.beginning.at(inputs.estimate)
        place, motion = beginning.position_world_m, inputs.estimate
        z, speed = motion.position_world_m.z, motion.velocity_world_mps.z
        risen, goal = z - place.z, place.z + self.height_m
        lifted = risen > jnp.minimum(self.lift_off_m, self.height_m)
        reached = risen > self.height_m - self.tolerance_m
        due = [inputs.time_s >= self.spool_s, lifted, reached]
        phase = state.phase
        for number, over in enumerate(due):
            phase = jnp.where((phase == number) & over, number + 1, phase)
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
        yaw = beginning.yaw_rad if self.yaw_rad is None else self.yaw_rad
        later = TakeoffState(beginning, phase, hover, resting)
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
