"""Three states by the nearest obstacle: free, slow, back.

With the lowest distance m, in the direction u, and the way D = p_c - p from the vehicle to the
place that is asked for, of which d = D u leads towards the obstacle:

    dangerous   m < a          d -> -(a - m) - d      back, and by as much as was asked for;
                                                      at least a - m where D leads away
    close       m < a + b      d -> c d               more slowly, where it leads towards it
    safe        else           d                      as it is

d counts up to a + b: what lies further behind an obstacle makes it come no faster. What is fed
forward towards the obstacle is slowed alike, and left out in danger.

Source: Micklisch et al. 2021, obstacle detection method I (equation 38, algorithms 4 and 5), after
Gageik et al.; a, b and c are not published. Corrected: equation 38 as printed never gets to
dangerous, which comes first; the law acts on each axis of the world, wherever the obstacle is, so
that it also reverses a command that leads away from it and stops one along a wall; in danger its
way back is longer the further the obstacle, and shorter the further the command leads away. Here it
acts along the direction of the sensor that sees the obstacle, as it is while the vehicle is level.
"""

from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE
from kittiwake.core.commands import PositionYaw
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.sight import AbstractRangeAvoidance, Directions, level_looks
from kittiwake.interfaces.guidance import AvoidanceInputs


class Gageik(AbstractRangeAvoidance):
    """Slows down near an obstacle and goes back from one that is too near.

    Attributes:
        sensors: by name; all of the vehicle's that tell ranges if not given.
        dangerous_m: a.
        close_m: b, how much further the state close reaches.
        reduction: c.
    """

    command_type: ClassVar[type] = PositionYaw

    sensors: tuple[str, ...] | None = eqx.field(static=True, default=None)
    dangerous_m: Annotated[Real, POSITIVE] = 0.5
    close_m: Annotated[Real, NOT_NEGATIVE] = 0.5
    reduction: Annotated[Real, FRACTION] = 0.25
    looks_body: Directions | None = eqx.field(init=False)

    def __post_init__(self) -> None:
        """The sensors are not known yet."""
        self.looks_body = None

    @override
    def step(
        self, state: tuple[()], inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], PositionYaw]:
        del dt_s, key
        asked: PositionYaw = inputs.command
        here = inputs.estimate.position_world_m
        reach_m = self.dangerous_m + self.close_m
        ranges = self._ranges(inputs)
        seen_m = jnp.where(ranges.valid, ranges.distance_m, 2.0 * reach_m)
        nearest = jnp.argmin(seen_m)
        distance_m = seen_m[nearest]
        towards = Vec3.of(level_looks(self._looks, inputs.estimate)[nearest])
        dangerous = distance_m < self.dangerous_m
        way, speed = asked.position_world_m - here, asked.velocity_world_mps
        ahead_m, ahead_mps = way.dot(towards), speed.dot(towards)
        counted = jnp.minimum(ahead_m, reach_m)
        missing_m = self.dangerous_m - distance_m
        back_m = jnp.minimum(counted, -missing_m - jnp.maximum(counted, 0.0))
        told_m = jnp.where(dangerous, back_m, self._slowed(counted))
        told_mps = jnp.where(dangerous, jnp.minimum(ahead_mps, 0.0), self._slowed(ahead_mps))
        changed = PositionYaw(
            asked.position_world_m + towards * (told_m - ahead_m),
            asked.yaw_rad,
            speed + towards * (told_mps - ahead_mps),
            yaw_rate_radps=asked.yaw_rate_radps,
        )
        return state, tree_where(distance_m < reach_m, changed, asked)

    def _slowed(self, towards: Real) -> Real:
        return jnp.minimum(towards, self.reduction * towards)
