"""Informed avoidance: aside from what is known to be in the way.

With r and w the place and the velocity of another relative to one's own, the two are nearest at::

    t* = min(max(-r w / |w|^2, 0), T),    m = r + w t*

Where |m| < c, the vehicle goes aside, away from where the other will be::

    v = -k (c - |m|) m / |m|,   summed over all

If both would meet in one point, m has no direction, and each goes to its own right. Obstacles of
the world, and its ground, are known as from a map: at a few places of the way that lies ahead
within T, what is free there is compared with c in the same way. The formula follows the idea that
Micklisch et al. (2021) name; theirs is not published.
"""

from typing import Annotated

import equinox as eqx
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
from kittiwake.interfaces.build_context import BuildContext
from kittiwake.swarm.teammates import over_heard
from kittiwake.world.ray import AbstractObstacle, nearest_obstacle

# of the way ahead, that are compared with the map
PLACES = 4
# shorter ways have no direction, and slower others stand
LEAST_M = 1e-3
LEAST_MPS = 1e-3


class KnownWorld(eqx.Module):
    """What a map shows."""

    obstacles: tuple[AbstractObstacle, ...]
    ground_z_m: Real

    def clearance_m(self, place: Float[Array, "3"]) -> Real:
        """What is free about a place."""
        height = place[2] - self.ground_z_m
        if not self.obstacles:
            return height
        point = Vec3(place[0], place[1], place[2])
        return jnp.minimum(height, nearest_obstacle(self.obstacles, point).distance_m)


class InformedAvoid(AbstractBehavior):
    """Aside from others and from obstacles that would come too near.

    Attributes:
        clearance_m: c, that is to be kept.
        horizon_s: T, how far it looks ahead.
        gain_hz: k.
    """

    clearance_m: Annotated[Real, POSITIVE] = 1.5
    horizon_s: Annotated[Real, POSITIVE] = 2.0
    gain_hz: Annotated[Real, NOT_NEGATIVE] = 1.0
    known: KnownWorld | None = eqx.field(init=False)

    def __post_init__(self) -> None:
        """The map is not known yet."""
        self.known = None

    @override
    def prepare(self, context: BuildContext) -> "InformedAvoid":
        world = context.world
        known = KnownWorld(world.obstacles, world.ground_z_m)
        return eqx.tree_at(lambda own: own.known, self, known, is_leaf=lambda leaf: leaf is None)

    @override
    def desired_velocity_world_mps(self, own: Kinematics, peers: NeighborTable) -> Vec3:
        aside = over_heard(peers, lambda peer: self._from_peer(own, peer))
        return aside if self.known is None else aside + self._from_map(own, self.known)

    def _from_peer(self, own: Kinematics, peer: Neighbor) -> Vec3:
        way = peer.position_world_m - own.position_world_m
        drift = peer.velocity_world_mps - own.velocity_world_mps
        square = drift.dot(drift)
        moving = square > LEAST_MPS**2
        until_s = jnp.where(moving, -way.dot(drift) / jnp.where(moving, square, 1.0), 0.0)
        return self._aside(way + drift * jnp.clip(until_s, 0.0, self.horizon_s), way)

    def _aside(self, miss: Vec3, way: Vec3) -> Vec3:
        square = miss.dot(miss)
        apart = square > LEAST_M**2
        distance = jnp.sqrt(jnp.where(apart, square, 1.0))
        level_square = way.x * way.x + way.y * way.y
        beside = level_square > LEAST_M**2
        level = jnp.sqrt(jnp.where(beside, level_square, 1.0))
        # to the right of what comes towards one; northwards of what is straight above or below
        to_right = Vec3(
            jnp.where(beside, way.y / level, 0.0), jnp.where(beside, -way.x / level, 1.0), 0.0
        )
        away = tree_where(apart, as_arrays(-miss / distance), as_arrays(to_right))
        near_m = self.clearance_m - jnp.where(apart, distance, 0.0)
        return away * (jnp.maximum(near_m, 0.0) * self.gain_hz)

    def _from_map(self, own: Kinematics, known: KnownWorld) -> Vec3:
        place, velocity = own.position_world_m.array, own.velocity_world_mps.array
        times_s = jnp.linspace(0.0, 1.0, PLACES) * self.horizon_s
        ahead = place[None] + velocity[None] * times_s[:, None]
        free, slope = jax.vmap(jax.value_and_grad(known.clearance_m))(ahead)
        nearest = jnp.argmin(free)
        steepness = jnp.sqrt(jnp.maximum(jnp.sum(jnp.square(slope[nearest])), 1e-12))
        near_m = jnp.maximum(self.clearance_m - free[nearest], 0.0)
        return Vec3.of(slope[nearest] * (near_m * self.gain_hz / steepness))
