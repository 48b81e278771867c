"""Obstacle avoidance by control barrier functions on the commanded velocity.

For each detected point at the distance r in the direction u, and the commanded velocity v,
h = r - d_safe - max(0, u v_now)^2 / (2 a) is the margin that remains after braking, and

    u v <= gamma h

keeps h from decreasing faster than exp(-gamma t). The resulting velocity is the nearest to the
commanded one that satisfies all constraints (``half_spaces``), which leads along walls and, where
h < 0, away from them.

Detected points are kept in world coordinates until the next measurement of their sensor, so that a
slow sensor does not permit a closer approach. All obstacles are assumed to be at rest.

A vehicle that follows velocities with a lag T approaches d_safe without overshoot if gamma is at
most 1 / (4 T). Distances are those from the sensor: d_safe has to exceed the extent of the vehicle
beyond the sensor. A modified velocity has no feed-forward acceleration.

Source: Ames et al., Control barrier functions: theory and applications, ECC 2019.
"""

from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.commands import VelocityYaw
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.guidance.avoidance.half_spaces import nearest_point
from kittiwake.guidance.avoidance.range_sensors import (
    AbstractRangeAvoidance,
    Directions,
    world_directions,
)
from kittiwake.interfaces.guidance import AvoidanceInputs
from kittiwake.pytree import Module, field

# nearer points have no direction
MIN_DISTANCE_M = 1e-3


class BarrierState(Module):
    """Last detected points in world coordinates."""

    points_world_m: Float[Array, "ranges 3"]
    valid: Bool[Array, " ranges"]


class Barrier(AbstractRangeAvoidance[BarrierState, VelocityYaw]):
    """Modifies a velocity minimally to keep the safe distance.

    Attributes:
        sensors: names of range sensors; by default all of the vehicle.
        safe_distance_m: d_safe.
        gain_per_s: gamma.
        max_deceleration_mps2: a, the braking deceleration of the vehicle.
    """

    command_type: ClassVar[type] = VelocityYaw

    sensors: tuple[str, ...] | None = field(static=True, default=None)
    safe_distance_m: Annotated[Real, POSITIVE] = 0.8
    gain_per_s: Annotated[Real, POSITIVE] = 0.5
    max_deceleration_mps2: Annotated[Real, POSITIVE] = 3.0
    beam_directions_body: Directions | None = field(init=False, default=None)

    @override
    def init(self, key: PRNGKeyArray) -> BarrierState:
        del key
        shape = jnp.shape(self._directions)
        return BarrierState(jnp.zeros(shape), jnp.zeros(shape[0], bool))

    @override
    def step(
        self, state: BarrierState, inputs: AvoidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[BarrierState, VelocityYaw]:
        del dt_s, key
        command: VelocityYaw = inputs.command
        seen = self._seen(state, inputs)
        offsets = seen.points_world_m - inputs.estimate.position_world_m.array[None]
        square = jnp.sum(offsets * offsets, axis=1)
        away = square > MIN_DISTANCE_M**2
        distances = jnp.sqrt(jnp.where(away, square, 1.0))
        normals = jnp.where(away[:, None], offsets / distances[:, None], 0.0)
        closing = jnp.maximum(normals @ inputs.estimate.velocity_world_mps.array, 0.0)
        braking = closing * closing / (2.0 * self.max_deceleration_mps2)
        margins = distances - self.safe_distance_m - braking
        wanted = jnp.asarray(command.velocity_world_mps.array)
        velocity = nearest_point(wanted, normals, self.gain_per_s * margins, seen.valid & away)
        unchanged = jnp.all(velocity == wanted)
        acceleration = command.acceleration_world_mps2 * jnp.where(unchanged, 1.0, 0.0)
        safe = VelocityYaw(Vec3.of(velocity), command.yaw_rad, acceleration, command.yaw_rate_radps)
        return seen, safe

    def _seen(self, state: BarrierState, inputs: AvoidanceInputs) -> BarrierState:
        """Return the state with the points of new measurements replaced."""
        ranges, estimate = self._ranges(inputs), inputs.estimate
        directions = world_directions(self._directions, estimate.q_world_from_body)
        points = estimate.position_world_m.array[None] + directions * ranges.distance_m[:, None]
        fresh = [
            jnp.broadcast_to(inputs.fresh[name], jnp.shape(inputs.measurements[name].valid)).ravel()
            for name in self.sensors or ()
        ]
        new = jnp.concatenate(fresh)
        return BarrierState(
            jnp.where(new[:, None], points, state.points_world_m),
            jnp.where(new, ranges.valid, state.valid),
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "Barrier"]:
        return {"by a lidar": cls(("lidar-2d",)), "by two": cls(("ultrasonic", "ultrasonic-fan"))}
