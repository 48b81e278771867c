"""Obstacle avoidance with three states of the nearest obstacle: safe, close, dangerous.

With the lowest distance m, in the direction u, and the vector D = p_c - p from the vehicle to the
commanded position, of which d = D u points towards the obstacle:

    dangerous   m < a          d -> -(a - m) - d      back, by as much as was commanded ahead;
                                                      at least a - m where D points away
    close       m < a + b      d -> c d               more slowly, where it points towards it
    safe        else           d                      unchanged

d is limited to a + b: a setpoint farther behind an obstacle makes the approach no faster. Feed-
forward towards the obstacle is reduced alike, and omitted in the state dangerous.

Source: Micklisch et al. 2021, obstacle detection method I (equation 38, algorithms 4 and 5), after
Gageik et al.; a, b and c are not published. Corrected: equation 38 as printed never reaches
dangerous, which comes first; the law acts on each axis of the world, wherever the obstacle is, so
that it also reverses a command that points away from it and stops one along a wall; in danger its
way back is longer the further the obstacle, and shorter the further the command points away. Here
it acts along the direction of the sensor that detects the obstacle, taken with the vehicle level.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.range_sensors import (
    AbstractRangeAvoidance,
    Directions,
    level_directions,
)
from kittiwake.interfaces.guidance import AvoidanceInputs
from kittiwake.pytree import field


class Gageik(AbstractRangeAvoidance[tuple[()], PositionYaw]):
    """Slows down near an obstacle, and retreats from one that is too close.

    Attributes:
        sensors: names of range sensors; by default all of the vehicle.
        dangerous_m: a.
        close_m: b, by which the state close extends further.
        reduction: c.
    """

    command_type: ClassVar[type] = PositionYaw

    sensors: tuple[str, ...] | None = field(static=True, default=None)
    dangerous_m: Annotated[Real, POSITIVE] = 0.5
    close_m: Annotated[Real, NOT_NEGATIVE] = 0.5
    reduction: Annotated[Real, FRACTION] = 0.25
    beam_directions_body: Directions | None = field(init=False, default=None)

    @override
    def step(
        self, state: tuple[()], inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PositionYaw]:
        del dt_s, key
        command: PositionYaw = inputs.command
        here = inputs.estimate.position_world_m
        reach_m = self.dangerous_m + self.close_m
        ranges = self._ranges(inputs)
        seen_m = jnp.where(ranges.valid, ranges.distance_m, 2.0 * reach_m)
        nearest = jnp.argmin(seen_m)
        distance_m = seen_m[nearest]
        towards = Vec3.of(level_directions(self._directions, inputs.estimate)[nearest])
        dangerous = distance_m < self.dangerous_m
        offset, velocity = command.position_world_m - here, command.velocity_world_mps
        ahead_m, ahead_mps = offset.dot(towards), velocity.dot(towards)
        limited_m = jnp.minimum(ahead_m, reach_m)
        missing_m = self.dangerous_m - distance_m
        back_m = jnp.minimum(limited_m, -missing_m - jnp.maximum(limited_m, 0.0))
        modified_m = jnp.where(dangerous, back_m, self._slowed(limited_m))
        modified_mps = jnp.where(dangerous, jnp.minimum(ahead_mps, 0.0), self._slowed(ahead_mps))
        changed = PositionYaw(
            command.position_world_m + towards * (modified_m - ahead_m),
            command.yaw_rad,
            velocity + towards * (modified_mps - ahead_mps),
            yaw_rate_radps=command.yaw_rate_radps,
        )
        return state, tree_where(distance_m < reach_m, changed, command)

    def _slowed(self, towards: Real) -> Real:
        return jnp.minimum(towards, self.reduction * towards)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Gageik"]:
        return {"by a ring": cls(("ultrasonic-fan",))}
