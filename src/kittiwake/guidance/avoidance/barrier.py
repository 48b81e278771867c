"""Keeping a velocity from leading into obstacles, by control barriers.

For each thing that is seen at the distance r in the direction u, and the velocity v that is asked
for, h = r - d_safe - max(0, u v_now)^2 / (2 a) is what is free beside the way to brake, and

    u v <= gamma h

is what keeps h from falling faster than exp(-gamma t). The velocity that is flown is the nearest to
what is asked for that satisfies all of them (``half_spaces``), which leads along walls and, where
h < 0, away from them.

What is seen stays where it was seen, as a point in the world, until its sensor speaks again, so
that a slow sensor is no reason to come nearer. Everything is taken to stand still.

A vehicle that follows velocities with a lag T comes to d_safe without overshooting if gamma is at
most 1 / (4 T). Distances are those from the sensor: d_safe has to be larger than how far the
vehicle reaches beyond it. A velocity that is changed has no acceleration fed forward.

Source: Ames et al., Control barrier functions: theory and applications, ECC 2019.
"""

from typing import Annotated, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import VelocityYaw
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.half_spaces import nearest_point
from kittiwake.guidance.avoidance.sight import AbstractRangeAvoidance, Directions, world_looks
from kittiwake.interfaces.guidance import AvoidanceInputs

# what is nearer than this has no direction
LEAST_DISTANCE_M = 1e-3


class BarrierState(eqx.Module):
    """What was seen last, in the world."""

    points_world_m: Float[Array, "ranges 3"]
    valid: Bool[Array, " ranges"]


class Barrier(AbstractRangeAvoidance):
    """Changes a velocity as little as keeps the distance.

    Attributes:
        sensors: by name; all of the vehicle's that tell ranges if not given.
        safe_distance_m: d_safe.
        gain_per_s: gamma.
        max_deceleration_mps2: a, with which the vehicle can brake.
    """

    command_type: ClassVar[type] = VelocityYaw

    sensors: tuple[str, ...] | None = eqx.field(static=True, default=None)
    safe_distance_m: Annotated[Real, POSITIVE] = 0.8
    gain_per_s: Annotated[Real, POSITIVE] = 0.5
    max_deceleration_mps2: Annotated[Real, POSITIVE] = 3.0
    looks_body: Directions | None = eqx.field(init=False)

    def __post_init__(self) -> None:
        """The sensors are not known yet."""
        self.looks_body = None

    @override
    def init(self, key: PRNGKeyArray) -> BarrierState:
        del key
        shape = jnp.shape(self._looks)
        return BarrierState(jnp.zeros(shape), jnp.zeros(shape[0], bool))

    @override
    def step(
        self, state: BarrierState, inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[BarrierState, VelocityYaw]:
        del dt_s, key
        asked: VelocityYaw = inputs.command
        seen = self._seen(state, inputs)
        ways = seen.points_world_m - inputs.estimate.position_world_m.array[None]
        square = jnp.sum(ways * ways, axis=1)
        away = square > LEAST_DISTANCE_M**2
        distances = jnp.sqrt(jnp.where(away, square, 1.0))
        normals = jnp.where(away[:, None], ways / distances[:, None], 0.0)
        closing = jnp.maximum(normals @ inputs.estimate.velocity_world_mps.array, 0.0)
        braking = closing * closing / (2.0 * self.max_deceleration_mps2)
        free = distances - self.safe_distance_m - braking
        wanted = jnp.asarray(asked.velocity_world_mps.array)
        told = nearest_point(wanted, normals, self.gain_per_s * free, seen.valid & away)
        same = jnp.all(told == wanted)
        ahead = asked.acceleration_world_mps2 * jnp.where(same, 1.0, 0.0)
        return seen, VelocityYaw(Vec3.of(told), asked.yaw_rad, ahead, asked.yaw_rate_radps)

    def _seen(self, state: BarrierState, inputs: AvoidanceInputs) -> BarrierState:
        """What is new takes the place of what was seen before."""
        ranges, estimate = self._ranges(inputs), inputs.estimate
        looks = world_looks(self._looks, estimate.q_world_from_body)
        points = estimate.position_world_m.array[None] + looks * ranges.distance_m[:, None]
        news = [
            jnp.broadcast_to(inputs.fresh[name], jnp.shape(inputs.measurements[name].valid)).ravel()
            for name in self.sensors or ()
        ]
        new = jnp.concatenate(news)
        return BarrierState(
            jnp.where(new[:, None], points, state.points_world_m),
            jnp.where(new, ranges.valid, state.valid),
        )
