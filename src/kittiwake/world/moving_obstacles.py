"""What rays meet that moves by itself: decks, and other vehicles."""

from abc import abstractmethod

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from kittiwake.contact.deck import DeckState
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body, cuboid
from kittiwake.world.plane import to_part_m
from kittiwake.world.ray import AbstractObstacle, Ray


class AbstractMovingObstacle(AbstractObstacle):
    """An obstacle that moves; pictures show it as what it is, and not among the obstacles."""

    @abstractmethod
    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """The velocity of its surface at a point, in the world."""

    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        """None."""
        return []


class DeckSurface(AbstractMovingObstacle):
    """A surface that can be stood on, seen from both sides."""

    support: DeckState

    def distance_m(self, ray: Ray) -> Real:
        """To the plane, where that lies in the rectangle."""
        turn = self.support.q_world_from_deck.inverse()
        own = Ray(self.support.across(ray.origin_m), turn.rotate(ray.direction))
        return to_part_m(own, 0.0, self._inside)

    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        """The same all over."""
        del ray, distance_m
        return self.support.q_world_from_deck.rotate(Vec3(0.0, 0.0, 1.0))

    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        """That of a box without height."""
        half = Vec3(0.5 * self.support.length_m, 0.5 * self.support.width_m, 0.0)
        turn = self.support.q_world_from_deck.inverse()
        return cuboid(self.support.across(point_world_m), half).left_m(body.turned(turn))

    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """That of the support."""
        return self.support.velocity_at(point_world_m)

    def _inside(self, point: Vec3) -> Flag:
        along = jnp.abs(point.x) <= 0.5 * self.support.length_m
        return along & (jnp.abs(point.y) <= 0.5 * self.support.width_m)


class VehicleObstacle(AbstractMovingObstacle):
    """Another vehicle as a solid about its center of mass.

    ``present`` is false for one that is not there to be met, such as a vehicle that has diverged.
    """

    body: AbstractObstacle
    position_world_m: Vec3
    velocity_world_mps: Vec3
    angular_velocity_world_radps: Vec3
    present: Flag

    def distance_m(self, ray: Ray) -> Real:
        """That of the solid."""
        return jnp.where(self.present, self.body.distance_m(ray), jnp.inf)

    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        """That of the solid."""
        return self.body.normal_world(ray, distance_m)

    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        """That of the solid."""
        return jnp.where(self.present, self.body.clearance_m(point_world_m, body), jnp.inf)

    def velocity_at(self, point_world_m: Vec3) -> Vec3:
        """Of a rigid body."""
        lever = point_world_m - self.position_world_m
        return self.velocity_world_mps + self.angular_velocity_world_radps.cross(lever)
