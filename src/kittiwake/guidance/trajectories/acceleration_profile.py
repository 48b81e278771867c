"""The acceleration profiles of the UAV-USV simulator's third demonstration, integrated exactly.

Over two halves of length T each, with s from 0 to 1 in each half and the step of minimum jerk
``p = 10 s^3 - 15 s^4 + 6 s^5``::

    there and back by d:    x = d p,               then d (1 - p)
    along by d:             x' = (d / T) p,        then (d / T) (1 - p)

The acceleration of the first is that of minimum jerk, then the same mirrored; that of the second is
``30 (d / T^2) s^2 (1 - s)^2``, then its negative. Both begin and end at rest. Source: Velasco et
al. (2020), Drones 4(3), 37, with its program ("ComeBack", "Go_Hover"): 5 m there and back while 25
m along, in 20 s.
"""

from typing import Annotated

import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.initial_pose import InitialPose
from kittiwake.guidance.trajectories.polynomials import derived, horner
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.interfaces.guidance import AbstractGuidance, GuidanceInputs
from kittiwake.pytree import Module

# p and its integral, by powers of s
STEP = (0.0, 0.0, 0.0, 10.0, -15.0, 6.0)
AREA = (0.0, 0.0, 0.0, 0.0, 2.5, -3.0, 1.0)


class ProfileState(Module):
    """Initial pose, and elapsed time."""

    initial: InitialPose
    time_s: Real


class AccelerationProfile(AbstractGuidance[ProfileState]):
    """Moves there and back along one vector while along another, in two halves, and then holds.

    Attributes:
        there_and_back_world_m: displacement that is flown there and back.
        along_world_m: displacement that is flown once.
        half_s: duration of each half.
        yaw_rad: heading.
    """

    there_and_back_world_m: Vec3 = Vec3(5.0, 0.0, 0.0)
    along_world_m: Vec3 = Vec3(0.0, 25.0, 0.0)
    half_s: Annotated[Real, POSITIVE] = 10.0
    yaw_rad: Real = 0.0

    @override
    def command_types(self) -> tuple[type[PositionYaw]]:
        return (PositionYaw,)

    @override
    def end_position_world_m(self, context: BuildContext) -> Vec3:
        return context.task_start_world_m + self.along_world_m

    @override
    def init(self, key: PRNGKeyArray) -> ProfileState:
        del key
        return ProfileState(InitialPose.unknown(), jnp.asarray(0.0))

    @override
    def step(
        self, state: ProfileState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[ProfileState, PositionYaw]:
        del dt_s, key
        initial = state.initial.updated(inputs.estimate)
        start = initial.position_world_m
        offset, velocity, acceleration, jerk = (
            self.there_and_back_world_m * back + self.along_world_m * ahead
            for back, ahead in zip(*self._shares(inputs.time_s), strict=True)
        )
        setpoint = PositionYaw(start + offset, self.yaw_rad, velocity, acceleration, jerk)
        return ProfileState(initial, jnp.asarray(inputs.time_s)), setpoint

    @override
    def finished(self, state: ProfileState) -> Bool[Array, ""]:
        return jnp.asarray(state.initial.known & (state.time_s >= 2.0 * self.half_s))

    def _shares(self, time_s: Real) -> tuple[list[Real], list[Real]]:
        """Return the shares of both vectors that are done, and their three derivatives."""
        second = time_s >= self.half_s
        s = jnp.clip(time_s / self.half_s - jnp.where(second, 1.0, 0.0), 0.0, 1.0)
        moving = time_s < 2.0 * self.half_s
        sign = jnp.where(second, -1.0, 1.0)
        step, area = (
            [sign * horner(derived(powers, n), s) for n in range(4)] for powers in (STEP, AREA)
        )
        back = [step[0] + jnp.where(second, 1.0, 0.0), *step[1:]]
        ahead = [
            area[0] + jnp.where(second, 0.5 + s, 0.0),
            area[1] + jnp.where(second, 1.0, 0.0),
            *area[2:],
        ]
        return self._in_time(back, moving), self._in_time(ahead, moving)

    def _in_time(self, by_s: list[Real], moving: Flag) -> list[Real]:
        """Return derivatives by time from those by s; zero after the end."""
        rates = [jnp.where(moving, rate / self.half_s**n, 0.0) for n, rate in enumerate(by_s)]
        return [by_s[0], *rates[1:]]
