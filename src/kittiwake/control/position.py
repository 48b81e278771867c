"""Position and yaw to acceleration and yaw: a PD law with a speed limit, and an integral.

With position error e, velocity v, natural frequency w, damping ratio z, and the feed-forward
velocity v_0 and acceleration a_0::

    v_ref = v_0 + w / (2 z) e,         the second term limited to v_max
    a = a_0 + 2 z w (v_ref - v) + b,   within limits
    b' = k_i (v_ref - v)               while a is not limited; b within the same limits

which is a = w^2 e - 2 z w v + b near a setpoint at rest: the step response has the damping z. Far
from the setpoint a vehicle decelerates along v = w / (2 z) e, by at most w / (2 z) v_max; with the
defaults this is below the horizontal limit, so that there is no overshoot.

The vertical axis may have other w and z: rotors damp a climb by themselves and require a smaller z.

The feed-forward jerk is passed on. If it is zero, ``jerk_filter_radps`` replaces it by the filtered
derivative of a_0, so that the tilt does not lag.

The integral compensates a steady wind; with a gain of 0 there is none. It integrates the velocity
error, which is zero at rest only if the position error is: on a long distance it adapts to the drag
only, and over a complete step response it sums to zero. It is stable for z >= 1/2.
"""

from functools import partial
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.control.pid import Pid, PidState
from kittiwake.control.velocity import limit_horizontal_and_vertical
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import AccelerationYaw, PositionYaw
from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.pytree import Module


class PositionState(Module):
    """Acceleration of the integral, and the filters of the feed-forward acceleration, if any."""

    integral_world_mps2: Vec3
    jerk: tuple[PidState, PidState, PidState] | None


class Position(AbstractController[PositionState, PositionYaw, AccelerationYaw]):
    """Position and yaw to acceleration and yaw.

    Attributes:
        natural_frequency_radps: w.
        damping_ratio: z.
        integral_gain_per_s2: k_i, which compensates a steady wind.
        max_speed_mps: v_max, the limit of the velocity setpoint.
        max_horizontal_acceleration_mps2: limit of the horizontal acceleration.
        max_vertical_acceleration_mps2: limit of the vertical acceleration.
        jerk_filter_radps: filter of the derivative of the feed-forward acceleration, where no jerk
            is given.
        vertical_frequency_radps: w of the vertical axis; as the others unless given.
        vertical_damping_ratio: z of the vertical axis; as the others unless given.
    """

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
        command, estimate = inputs
        error = command.position_world_m - estimate.position_world_m
        direct, damping = self._gains()
        approach = error.scaled(direct).clip_norm(self.max_speed_mps)
        reference = command.velocity_world_mps + approach
        lag = reference - estimate.velocity_world_mps
        free = command.acceleration_world_mps2 + lag.scaled(damping) + state.integral_world_mps2
        acceleration = self._limited(free)
        growth = lag * jnp.where(_equal(free, acceleration), self.integral_gain_per_s2 * dt_s, 0.0)
        integral = self._limited(state.integral_world_mps2 + growth)
        filters, jerk = self._jerk(state.jerk, command, dt_s)
        return PositionState(integral, filters), AccelerationYaw(
            acceleration, command.yaw_rad, jerk, command.yaw_rate_radps
        )

    def _gains(self) -> tuple[Vec3, Vec3]:
        """Return w / (2 z) and 2 z w of each axis."""
        w, z = self.natural_frequency_radps, self.damping_ratio
        w_up = w if self.vertical_frequency_radps is None else self.vertical_frequency_radps
        z_up = z if self.vertical_damping_ratio is None else self.vertical_damping_ratio
        direct, up = w / (2.0 * z), w_up / (2.0 * z_up)
        damping, damping_up = 2.0 * z * w, 2.0 * z_up * w_up
        return Vec3(direct, direct, up), Vec3(damping, damping, damping_up)

    def _jerk(
        self, filters: tuple[PidState, PidState, PidState] | None, command: PositionYaw, dt_s: Real
    ) -> tuple[tuple[PidState, PidState, PidState] | None, Vec3]:
        """Return the next states of the filters, and the jerk, as given or by differentiation."""
        if filters is None:
            return None, command.jerk_world_mps3
        derivative = Pid(0.0, derivative_s=1.0, filter_radps=self.jerk_filter_radps)
        given = command.acceleration_world_mps2
        (x, jerk_x), (y, jerk_y), (z, jerk_z) = (
            derivative.step(before, axis, dt_s)
            for before, axis in zip(filters, (given.x, given.y, given.z), strict=True)
        )
        jerk = command.jerk_world_mps3
        is_zero = (jerk.x == 0.0) & (jerk.y == 0.0) & (jerk.z == 0.0)
        derived = Vec3(jerk_x, jerk_y, jerk_z)
        return (x, y, z), jax.tree.map(partial(jnp.where, is_zero), derived, jerk)

    def _limited(self, acceleration: Vec3) -> Vec3:
        return limit_horizontal_and_vertical(
            acceleration, self.max_horizontal_acceleration_mps2, self.max_vertical_acceleration_mps2
        )


def _equal(one: Vec3, other: Vec3) -> Flag:
    return (one.x == other.x) & (one.y == other.y) & (one.z == other.z)
