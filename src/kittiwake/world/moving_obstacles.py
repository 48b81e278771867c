"""Moving obstacles for rays: decks and other vehicles."""

from abc import abstractmethod

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.deck import DeckState
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body, cuboid
from kittiwake.world.plane import distance_to_part_m
from kittiwake.world.ray import AbstractObstacle, Ray


class AbstractMovingObstacle(AbstractObstacle):
    """Obstacle that moves; pictures show it as a vehicle or deck, not among the obstacles."""

    @abstractmethod
    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """Return the velocity of its surface at a point, in the world."""

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        return []


class DeckSurface(AbstractMovingObstacle):
    """Deck surface, visible from both sides."""

    deck: DeckState

    @override
    def distance_m(self, ray: Ray) -> Real:
        q_deck_from_world = self.deck.q_world_from_deck.inverse()
        own = Ray(self.deck.to_deck_axes(ray.origin_m), q_deck_from_world.rotate(ray.direction))
        return distance_to_part_m(own, 0.0, self._inside)

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        del ray, distance_m
        return self.deck.q_world_from_deck.rotate(Vec3(0.0, 0.0, 1.0))

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        half = Vec3(0.5 * self.deck.length_m, 0.5 * self.deck.width_m, 0.0)
        q_deck_from_world = self.deck.q_world_from_deck.inverse()
        return cuboid(self.deck.to_deck_axes(point_world_m), half).gap_m(
            body.rotated(q_deck_from_world)
        )

    @override
    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        return self.deck.velocity_at(point_world_m)

    def _inside(self, point: Vec3) -> Flag:
        along = jnp.abs(point.x) <= 0.5 * self.deck.length_m
        return along & (jnp.abs(point.y) <= 0.5 * self.deck.width_m)


class VehicleObstacle(AbstractMovingObstacle):
    """Another vehicle, as a solid about its center of mass.

    ``present`` is false for one that rays cannot hit, such as a vehicle that has diverged.
    """

    body: AbstractObstacle
    position_world_m: Vec3
    velocity_world_mps: Vec3
    angular_velocity_world_radps: Vec3
    present: Flag

    @override
    def distance_m(self, ray: Ray) -> Real:
        return jnp.where(self.present, self.body.distance_m(ray), jnp.inf)

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        return self.body.normal_world(ray, distance_m)

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        return jnp.where(self.present, self.body.clearance_m(point_world_m, body), jnp.inf)

    @override
    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        lever = point_world_m - self.position_world_m
        return self.velocity_world_mps + self.angular_velocity_world_radps.cross(lever)
