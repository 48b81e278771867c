"""Informed avoidance: away from predicted conflicts with vehicles and known obstacles.

With r and w the position and velocity of another vehicle relative to the own, the two are nearest
at::

    t* = min(max(-r w / |w|^2, 0), T),    m = r + w t*

If |m| < c, the vehicle evades, away from the predicted position of the other::

    v = -k (c - |m|) m / |m|,   summed over all

If both would meet in one point, m has no direction, and each evades to its own right. Obstacles of
the world, and its ground, are known as from a map: at a few points of the path ahead within T, the
clearance is compared with c in the same way. The formula follows an idea of Micklisch et al.
(2021), whose own formula is not published.
"""

from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.neighbors import Neighbor, NeighborTable
from kittiwake.core.tree_where import tree_where
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.behavior import AbstractBehavior
from kittiwake.interfaces.build_context import BuildContext, independent_of_start
from kittiwake.pytree import Module, field, replace_unchecked
from kittiwake.swarm.teammates import sum_over_neighbors
from kittiwake.world.ray import AbstractObstacle, nearest_obstacle

# number of points of the path ahead that are compared with the map
PATH_POINTS = 4
# shorter vectors have no direction, and slower vehicles count as standing
MIN_DISTANCE_M = 1e-3
MIN_SPEED_MPS = 1e-3


class KnownWorld(Module):
    """Map of obstacles and ground."""

    obstacles: tuple[AbstractObstacle, ...]
    ground_z_m: Real

    def clearance_m(self, position: Float[Array, "3"]) -> Real:
        """Return the distance from a position to the nearest obstacle or the ground."""
        height = position[2] - self.ground_z_m
        if not self.obstacles:
            return height
        point = Vec3(position[0], position[1], position[2])
        return jnp.minimum(height, nearest_obstacle(self.obstacles, point).distance_m)


class InformedAvoid(AbstractBehavior):
    """Evades vehicles and obstacles that would come too close.

    Attributes:
        clearance_m: c, the distance to keep.
        horizon_s: T, the prediction horizon.
        gain_hz: k.
    """

    clearance_m: Annotated[Real, POSITIVE] = 1.5
    horizon_s: Annotated[Real, POSITIVE] = 2.0
    gain_hz: Annotated[Real, NOT_NEGATIVE] = 1.0
    known: KnownWorld | None = field(init=False, default=None)

    @override
    @independent_of_start
    def prepare(self, context: BuildContext) -> "InformedAvoid":
        world = context.world
        known = KnownWorld(world.obstacles, world.ground_z_m)
        return replace_unchecked(self, known=known)

    @override
    def desired_velocity_world_mps(self, own: Kinematics, neighbors: NeighborTable) -> Vec3:
        velocity = sum_over_neighbors(
            neighbors, lambda neighbor: self._from_neighbor(own, neighbor)
        )
        return velocity if self.known is None else velocity + self._from_map(own, self.known)

    def _from_neighbor(self, own: Kinematics, neighbor: Neighbor) -> Vec3:
        offset = neighbor.position_world_m - own.position_world_m
        relative_velocity = neighbor.velocity_world_mps - own.velocity_world_mps
        square = relative_velocity.dot(relative_velocity)
        moving = square > MIN_SPEED_MPS**2
        until_s = jnp.where(
            moving, -offset.dot(relative_velocity) / jnp.where(moving, square, 1.0), 0.0
        )
        until_s = jnp.clip(until_s, 0.0, self.horizon_s)
        return self._evasion(offset + relative_velocity * until_s, offset)

    def _evasion(self, miss: Vec3, offset: Vec3) -> Vec3:
        """Return the velocity away from the miss vector m, or to the right if it vanishes."""
        square = miss.dot(miss)
        has_direction = square > MIN_DISTANCE_M**2
        distance = jnp.sqrt(jnp.where(has_direction, square, 1.0))
        level_square = offset.x * offset.x + offset.y * offset.y
        beside = level_square > MIN_DISTANCE_M**2
        level = jnp.sqrt(jnp.where(beside, level_square, 1.0))
        # to the right of the direction to the other; north if that is straight up or down
        to_right = Vec3(
            jnp.where(beside, offset.y / level, 0.0), jnp.where(beside, -offset.x / level, 1.0), 0.0
        )
        away = tree_where(has_direction, as_arrays(-miss / distance), as_arrays(to_right))
        deficit_m = self.clearance_m - jnp.where(has_direction, distance, 0.0)
        return away * (jnp.maximum(deficit_m, 0.0) * self.gain_hz)

    def _from_map(self, own: Kinematics, known: KnownWorld) -> Vec3:
        position, velocity = own.position_world_m.array, own.velocity_world_mps.array
        times_s = jnp.linspace(0.0, 1.0, PATH_POINTS) * self.horizon_s
        path = position[None] + velocity[None] * times_s[:, None]
        clearance, gradient = jax.vmap(jax.value_and_grad(known.clearance_m))(path)
        nearest = jnp.argmin(clearance)
        steepness = jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(gradient[nearest])), 1e-12))
        deficit_m = jnp.maximum(self.clearance_m - clearance[nearest], 0.0)
        return Vec3.of(gradient[nearest] * (deficit_m * self.gain_hz / steepness))

    @classmethod
    @override
    def examples(cls) -> dict[str, "InformedAvoid"]:
        return {"without a map": cls(), "by a map": cls(4.0, horizon_s=5.0)}
