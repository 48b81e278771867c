"""Two levels: stop before what is in front, and keep to the middle between left and right.

Forward f is the horizontal direction from the vehicle to the place that is asked for, and to where
that will be after a second if it moves; front, left and right are the sensors that look the most
along f and along f turned by 90 degrees.

    level 1     r_front < r_1               stays where it was when that began
    level 2     r_left, r_right < r_2       shifts the place by k (r_left - r_right) to the left

Halfway between two walls level 2 asks for nothing; besides the place that is asked for, which a
vehicle holds with a stiffness of its own, it holds the middle with 2 k times that stiffness.

Source: Micklisch et al. 2021, obstacle detection method 2 (algorithms 6 to 9), after Wagster et
al.; r_1 is not published. Corrected: algorithm 6 compares with a best sensor that it loses where
two are equal or there is none yet; algorithm 7 mixes radians with 360 and takes 350 degrees for far
from 10 (here scalar products say which sensor looks the most along a direction); algorithm 9 takes
90 for radians and turns places about the origin instead of ways about the vehicle, and the sign of
the commanded x turns its push around on the way back. Algorithm 8 stops at the present place, anew
in each step, so that wind carries a vehicle on slowly: here it is where it began to stop.
"""

from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.sight import (
    AbstractRangeAvoidance,
    Directions,
    Ranges,
    level_looks,
)
from kittiwake.interfaces.guidance import AvoidanceInputs

# a shorter way has no direction
LEAST_WAY_M = 1e-3
AHEAD_S = 1.0


class WagsterState(eqx.Module):
    """Whether it stands still before something, and where."""

    stopped: Bool[Array, ""]
    place_world_m: Vec3


class Wagster(AbstractRangeAvoidance):
    """Stops before what is in front, and keeps to the middle between two walls.

    Attributes:
        sensors: by name; all of the vehicle's that tell ranges if not given.
        front_m: r_1.
        aside_m: r_2.
        centering: k.
    """

    command_type: ClassVar[type] = PositionYaw

    sensors: tuple[str, ...] | None = eqx.field(static=True, default=None)
    front_m: Annotated[Real, POSITIVE] = 0.6
    aside_m: Annotated[Real, POSITIVE] = 5.0
    centering: Annotated[Real, NOT_NEGATIVE] = 1.0
    looks_body: Directions | None = eqx.field(init=False)

    def __post_init__(self) -> None:
        """The sensors are not known yet."""
        self.looks_body = None

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
        asked: PositionYaw = inputs.command
        here = inputs.estimate.position_world_m
        way = asked.position_world_m - here + asked.velocity_world_mps * AHEAD_S
        level = Vec3(way.x, way.y, 0.0)
        length_m = level.norm()
        moves = length_m > LEAST_WAY_M
        forward = level / jnp.where(moves, length_m, 1.0)
        left = Vec3(-forward.y, forward.x, 0.0)
        looks, ranges = level_looks(self._looks, inputs.estimate), self._ranges(inputs)
        front_m, heard = _along(looks, ranges, forward)
        stops = moves & heard & (front_m < self.front_m)
        place = tree_where(state.stopped, state.place_world_m, here)
        standing = PositionYaw(place, asked.yaw_rad, yaw_rate_radps=asked.yaw_rate_radps)
        told = tree_where(stops, standing, asked)
        aside = left * jnp.where(moves, self._push_m(looks, ranges, left), 0.0)
        moved = eqx.tree_at(lambda s: s.position_world_m, told, told.position_world_m + aside)
        return WagsterState(stops, place), moved

    def _push_m(self, looks: Directions, ranges: Ranges, left: Vec3) -> Real:
        """To the left, between two walls."""
        left_m, on_left = _along(looks, ranges, left)
        right_m, on_right = _along(looks, ranges, -left)
        between = on_left & on_right & (left_m < self.aside_m) & (right_m < self.aside_m)
        return jnp.where(between, self.centering * (left_m - right_m), 0.0)


def _along(looks: Directions, ranges: Ranges, way: Vec3) -> tuple[Float[Array, ""], Flag]:
    """What the sensor that looks the most along a direction says."""
    sensor = jnp.argmax(jnp.asarray(looks) @ jnp.asarray(way.array))
    return ranges.distance_m[sensor], ranges.valid[sensor]
