"""Flight to a position: with a setpoint jump, or smoothly with a speed limit.

With a speed limit v and an acceleration limit a the setpoint moves straight to the position along

    s = 10 t^3 - 15 t^4 + 6 t^5,    t from 0 to 1 in T = max(15 d / (8 v), sqrt(10 d / (sqrt(3) a)))

the motion of minimum jerk from rest to rest over a distance d, whose derivatives are fed forward.

Source: Flash and Hogan, The coordination of arm movements, J. Neuroscience 5 (1985).
"""

from math import sqrt
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.positions import check_positions
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module

# of the minimum-jerk motion over a distance of 1 in a time of 1
PEAK_SPEED, PEAK_ACCELERATION = 15.0 / 8.0, 10.0 / sqrt(3.0)


class GotoState(Module):
    """Initial pose, and flag of the arrival."""

    initial: InitialPose
    arrived: Flag


class Goto(AbstractGuidance[GotoState]):
    """Flies to a position and stays there.

    Attributes:
        position_world_m: the position.
        yaw_rad: constant yaw; by default that at the start.
        radius_m: distance at which it has arrived.
        speed_mps: largest speed; by default unlimited.
        acceleration_mps2: largest acceleration with a speed limit.
    """

    tracked: ClassVar[bool] = False

    position_world_m: Vec3
    yaw_rad: Real | None = None
    radius_m: Annotated[Real, POSITIVE] = 0.3
    speed_mps: Annotated[Real, POSITIVE] | None = None
    acceleration_mps2: Annotated[Real, POSITIVE] = 2.0

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "Goto":
        check_positions(context, [self.position_world_m], "position_world_m")
        return self

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        del context
        return self.position_world_m

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def init(self, key: PRNGKeyArray) -> GotoState:
        del key
        return GotoState(InitialPose.unknown(), jnp.asarray(False))

    @override
    def step(
        self, state: GotoState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[GotoState, PositionYaw]:
        del dt_s, key
        initial, goal = state.initial.updated(inputs.estimate), self.position_world_m
        yaw = initial.yaw_rad if self.yaw_rad is None else self.yaw_rad
        error = goal - inputs.estimate.position_world_m
        arrived = state.arrived | (error.dot(error) < self.radius_m * self.radius_m)
        later = GotoState(initial, arrived)
        if self.speed_mps is None:
            return later, PositionYaw(goal, yaw)
        offset = goal - initial.position_world_m
        share, rates = self._progress(offset.norm(), inputs.time_s, self.speed_mps)
        velocity, acceleration, jerk = (offset * rate for rate in rates)
        position = initial.position_world_m + offset * share
        return later, PositionYaw(position, yaw, velocity, acceleration, jerk)

    @override
    def finished(self, state: GotoState) -> Flag:
        return state.arrived

    def _progress(
        self, distance_m: Real, time_s: Real, speed_mps: Real
    ) -> tuple[Real, tuple[Real, Real, Real]]:
        """Return the share of the distance that is done, and its first three derivatives."""
        by_speed_s = PEAK_SPEED * distance_m / speed_mps
        by_acceleration_s = jnp.sqrt(
            jnp.maximum(PEAK_ACCELERATION * distance_m / self.acceleration_mps2, 1e-6)
        )
        duration_s = jnp.maximum(by_speed_s, by_acceleration_s)
        t = jnp.clip(time_s / duration_s, 0.0, 1.0)
        share = t * t * t * (10.0 + t * (-15.0 + 6.0 * t))
        first = 30.0 * t * t * (1.0 - t) * (1.0 - t) / duration_s
        second = 60.0 * t * (1.0 - t) * (1.0 - 2.0 * t) / duration_s**2
        third = 60.0 * (1.0 - 6.0 * t * (1.0 - t)) / duration_s**3
        moving = (t > 0.0) & (t < 1.0)
        return share, (first, second, jnp.where(moving, third, 0.0))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Goto"]:
        return {
            "at once": cls(Vec3(4.0, 2.0, 10.0)),
            "smoothly": cls(Vec3(4.0, 2.0, 10.0), speed_mps=2.0),
        }
