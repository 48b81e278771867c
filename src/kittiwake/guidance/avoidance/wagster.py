"""Obstacle avoidance with two levels: stop before obstacles ahead, and center between walls.

Forward f is the horizontal direction from the vehicle to the commanded position, and to its
position after a second if it moves; front, left and right are the sensors that point the most along
f and along f rotated by 90 degrees.

    level 1     r_front < r_1               holds the position at which that began
    level 2     r_left, r_right < r_2       shifts the position by k (r_left - r_right) to the left

Halfway between two walls level 2 changes nothing; in addition to the commanded position, which a
vehicle holds with its own stiffness, it holds the center with 2 k times that stiffness.

Source: Micklisch et al. 2021, obstacle detection method 2 (algorithms 6 to 9), after Wagster et
al.; r_1 is not published. Corrected: algorithm 6 compares with a best sensor that it loses where
two are equal or there is none yet; algorithm 7 mixes radians with 360 and takes 350 degrees for far
from 10 (here scalar products select the sensor that points the most along a direction); algorithm 9
takes 90 for radians and rotates positions about the origin instead of offsets about the vehicle,
and the sign of the commanded x reverses its push on the way back. Algorithm 8 stops at the present
position, anew in each step, so that wind carries a vehicle on slowly: here it is the position at
which it began to stop.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.range_sensors import (
    AbstractRangeAvoidance,
    Directions,
    Ranges,
    level_directions,
)
from kittiwake.interfaces.guidance import AvoidanceInputs
from kittiwake.pytree import Module, field

# a shorter vector has no direction
MIN_OFFSET_M = 1e-3
AHEAD_S = 1.0


class WagsterState(Module):
    """Flag of a stop before an obstacle, and its position."""

    stopped: Bool[Array, ""]
    stop_position_world_m: Vec3


class Wagster(AbstractRangeAvoidance[WagsterState, PositionYaw]):
    """Stops before obstacles ahead, and keeps to the center between two walls.

    Attributes:
        sensors: names of range sensors; by default all of the vehicle.
        front_m: r_1.
        aside_m: r_2.
        centering: k.
    """

    command_type: ClassVar[type] = PositionYaw

    sensors: tuple[str, ...] | None = field(static=True, default=None)
    front_m: Annotated[Real, POSITIVE] = 0.6
    aside_m: Annotated[Real, POSITIVE] = 5.0
    centering: Annotated[Real, NOT_NEGATIVE] = 1.0
    beam_directions_body: Directions | None = field(init=False, default=None)

    @override
    def init(self, key: PRNGKeyArray) -> WagsterState:
        del key
        zero = jnp.asarray(0.0)
        return WagsterState(jnp.asarray(False), Vec3(zero, zero, zero))

    @override
    def step(
        self, state: WagsterState, inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[WagsterState, PositionYaw]:
        del dt_s, key
        command: PositionYaw = inputs.command
        here = inputs.estimate.position_world_m
        offset = command.position_world_m - here + command.velocity_world_mps * AHEAD_S
        level = Vec3(offset.x, offset.y, 0.0)
        length_m = level.norm()
        moves = length_m > MIN_OFFSET_M
        forward = level / jnp.where(moves, length_m, 1.0)
        left = Vec3(-forward.y, forward.x, 0.0)
        directions, ranges = (
            level_directions(self._directions, inputs.estimate),
            self._ranges(inputs),
        )
        front_m, detected = _along(directions, ranges, forward)
        stops = moves & detected & (front_m < self.front_m)
        place = tree_where(state.stopped, state.stop_position_world_m, here)
        standing = PositionYaw(place, command.yaw_rad, yaw_rate_radps=command.yaw_rate_radps)
        stopped = tree_where(stops, standing, command)
        aside = left * jnp.where(moves, self._push_m(directions, ranges, left), 0.0)
        modified = replace(stopped, position_world_m=stopped.position_world_m + aside)
        return WagsterState(stops, place), modified

    def _push_m(self, directions: Directions, ranges: Ranges, left: Vec3) -> Real:
        """Return the shift to the left between two walls."""
        left_m, on_left = _along(directions, ranges, left)
        right_m, on_right = _along(directions, ranges, -left)
        between = on_left & on_right & (left_m < self.aside_m) & (right_m < self.aside_m)
        return jnp.where(between, self.centering * (left_m - right_m), 0.0)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Wagster"]:
        return {"by a ring": cls(("ultrasonic-fan",))}


def _along(directions: Directions, ranges: Ranges, forward: Vec3) -> tuple[Float[Array, ""], Flag]:
    """Return range and validity of the sensor that points the most along a direction."""
    sensor = jnp.argmax(jnp.asarray(directions) @ jnp.asarray(forward.array))
    return ranges.distance_m[sensor], ranges.valid[sensor]
