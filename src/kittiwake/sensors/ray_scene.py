"""Surfaces that the rays of a vehicle's sensors can hit."""

from functools import partial

import jax
import jax.numpy as jnp
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.sensor import SensorInputs
from kittiwake.pytree import Module
from kittiwake.world.moving_obstacles import AbstractMovingObstacle, DeckSurface
from kittiwake.world.plane import AbstractPlane
from kittiwake.world.ray import AbstractObstacle, Hit, Ray, cast_ray


class GroundPlane(AbstractPlane):
    """Plane z = ``height_m``."""

    height_m: Real

    @property
    @override
    def normal(self) -> Vec3:
        return Vec3(0.0, 0.0, 1.0)

    @override
    def height_over_m(self, point_world_m: Vec3) -> Real:
        return point_world_m.z - self.height_m


class RayScene(Module):
    """Static and moving obstacles; the number of a ``Hit`` is the index in this order."""

    obstacles: tuple[AbstractObstacle, ...]

    def cast_ray(self, ray: Ray) -> Hit:
        """Return the first hit along a ray."""
        return cast_ray(self.obstacles, ray)

    def velocity_world_mps(self, hit: Hit, point_world_m: Vec3) -> Vec3:
        """Return the velocity of the surface that was hit at a point; zero without a hit."""
        velocity = Vec3.zero()
        for index, obstacle in enumerate(self.obstacles):
            if isinstance(obstacle, AbstractMovingObstacle):
                is_hit = hit.obstacle_index == index
                own = obstacle.velocity_at(point_world_m)
                velocity = jax.tree.map(partial(jnp.where, is_hit), own, velocity)
        return velocity


def ray_scene(inputs: SensorInputs) -> RayScene:
    """Return the world's obstacles and ground, decks near a vehicle, and known neighbors.

    The vehicle's own body and deck are excluded.
    """
    around = inputs.surroundings
    decks = tuple(DeckSurface(deck) for deck in around.decks)
    ground = GroundPlane(inputs.world.ground_z_m)
    return RayScene((*inputs.world.obstacles, ground, *decks, *around.vehicle_obstacles))
