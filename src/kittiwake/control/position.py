"""From a place to the acceleration that leads there: a PD law with a speed limit, and an integral.

With position error e, velocity v, natural frequency w, damping ratio z, and the velocity v_0 and
acceleration a_0 of the place itself::

    v_ref = v_0 + w / (2 z) e,         the second part at most so fast
    a = a_0 + 2 z w (v_ref - v) + b,   within limits
    b' = k_i (v_ref - v)               while a is not cut, and b within the same limits

which is a = w^2 e - 2 z w v + b near a place at rest: a step is answered with the damping z. A
vehicle that comes from afar brakes along v = w / (2 z) e, with at most w / (2 z) v_max; the
defaults keep that below the horizontal limit, so that it does not overshoot either.

Upwards w and z may be others: rotors in a climb brake by themselves, and need less of z.

The jerk of the place is passed on. Where nobody tells it, ``jerk_filter_radps`` takes the filtered
derivative of a_0 in its place, so that a vehicle leans over no later than it should.

The integral holds a place in a steady wind; with its gain of 0 there is none. It sums the error of
the velocity, which vanishes at rest only where that of the place does: on a long way it learns the
drag and nothing else, and over a whole step its sum is zero. It is stable for z >= 1/2.
"""

from functools import partial
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.control.velocity import within
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import AccelerationYaw, PositionYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController


class PositionState(eqx.Module):
    """The integral's share of the acceleration, and the filters of what is fed forward, if any."""

    integral_world_mps2: Vec3
    jerk: tuple[PidState, PidState, PidState] | None


class Position(AbstractController):
    """Position and yaw to acceleration and yaw."""

    consumes: ClassVar[type] = PositionYaw
    produces: ClassVar[type] = AccelerationYaw

    natural_frequency_radps: Annotated[Real, POSITIVE] = 1.5
    damping_ratio: Annotated[Real, POSITIVE] = 1.0
    integral_gain_per_s2: Annotated[Real, NOT_NEGATIVE] = 0.0
    max_speed_mps: Annotated[Real, POSITIVE] = 5.0
    max_horizontal_acceleration_mps2: Annotated[Real, POSITIVE] = 4.0
    max_vertical_acceleration_mps2: Annotated[Real, POSITIVE] = 4.0
    jerk_filter_radps: Annotated[Real, POSITIVE] | None = None
    vertical_frequency_radps: Annotated[Real, POSITIVE] | None = None
    vertical_damping_ratio: Annotated[Real, POSITIVE] | None = None

    @override
    def init(self, key: PRNGKeyArray) -> PositionState:
        del key
        none = PidState.initial()
        return PositionState(
            Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0)),
            None if self.jerk_filter_radps is None else (none, none, none),
        )

    @override
    def step(
        self,
        state: PositionState,
        inputs: tuple[PositionYaw, Kinematics],
        dt_s: Real,
        key: PRNGKeyArray,
    ) -> tuple[PositionState, AccelerationYaw]:
        del key
        wanted, estimate = inputs
        error = wanted.position_world_m - estimate.position_world_m
        direct, damping = self._gains()
        approach = error.scaled(direct).shortened(self.max_speed_mps)
        reference = wanted.velocity_world_mps + approach
        lag = reference - estimate.velocity_world_mps
        free = wanted.acceleration_world_mps2 + lag.scaled(damping) + state.integral_world_mps2
        acceleration = self._within(free)
        growth = lag * jnp.where(_same(free, acceleration), self.integral_gain_per_s2 * dt_s, 0.0)
        integral = self._within(state.integral_world_mps2 + growth)
        filters, jerk = self._jerk(state.jerk, wanted, dt_s)
        return PositionState(integral, filters), AccelerationYaw(
            acceleration, wanted.yaw_rad, jerk, wanted.yaw_rate_radps
        )

    def _gains(self) -> tuple[Vec3, Vec3]:
        """Along each axis w / (2 z) and 2 z w."""
        w, z = self.natural_frequency_radps, self.damping_ratio
        w_up = w if self.vertical_frequency_radps is None else self.vertical_frequency_radps
        z_up = z if self.vertical_damping_ratio is None else self.vertical_damping_ratio
        direct, up = w / (2.0 * z), w_up / (2.0 * z_up)
        damping, damping_up = 2.0 * z * w, 2.0 * z_up * w_up
        return Vec3(direct, direct, up), Vec3(damping, damping, damping_up)

    def _jerk(
        self, filters: tuple[PidState, PidState, PidState] | None, wanted: PositionYaw, dt_s: Real
    ) -> tuple[tuple[PidState, PidState, PidState] | None, Vec3]:
        """The filters' next states, and the jerk that is told or found."""
        if filters is None:
            return None, wanted.jerk_world_mps3
        derivative = Pid(0.0, derivative_s=1.0, filter_radps=self.jerk_filter_radps)
        given = wanted.acceleration_world_mps2
        (x, along), (y, across), (z, upwards) = (
            derivative.step(before, axis, dt_s)
            for before, axis in zip(filters, (given.x, given.y, given.z), strict=True)
        )
        told = wanted.jerk_world_mps3
        unknown = (told.x == 0.0) & (told.y == 0.0) & (told.z == 0.0)
        found = Vec3(along, across, upwards)
        return (x, y, z), jax.tree.map(partial(jnp.where, unknown), found, told)

    def _within(self, wanted: Vec3) -> Vec3:
        return within(
            wanted, self.max_horizontal_acceleration_mps2, self.max_vertical_acceleration_mps2
        )


def _same(one: Vec3, other: Vec3) -> Flag:
    return (one.x == other.x) & (one.y == other.y) & (one.z == other.z)
