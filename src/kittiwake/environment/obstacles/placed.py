"""Base class of shapes with a position and an attitude in the world."""

from abc import abstractmethod
from functools import reduce

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from typing_extensions import override

from kittiwake.contact.solid import Points, Solid, SolidShape
from kittiwake.geometry.euler import EulerZYX
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import AbstractVar
from kittiwake.world.clearance import POINT, Body, Clearance
from kittiwake.world.ray import AbstractObstacle, Ray


class AbstractPlaced(AbstractObstacle):
    """Shape that is described in its own axes, about its own center.

    Attributes:
        center_world_m: position of the center.
        yaw_rad: yaw, the first rotation.
        pitch_rad: pitch, the second rotation.
        roll_rad: roll, the third rotation.
    """

    center_world_m: AbstractVar[Vec3]
    yaw_rad: AbstractVar[Real]
    pitch_rad: AbstractVar[Real]
    roll_rad: AbstractVar[Real]

    @override
    def distance_m(self, ray: Ray) -> Real:
        q_own_from_world = self._q_world_from_own().inverse()
        origin = q_own_from_world.rotate(ray.origin_m - self.center_world_m)
        return self.distance_along_m(Ray(origin, q_own_from_world.rotate(ray.direction)))

    @override
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        q = self._q_world_from_own()
        return q.rotate(
            self.normal_at(q.inverse().rotate(ray.at(distance_m) - self.center_world_m))
        )

    @override
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        q_own_from_world = self._q_world_from_own().inverse()
        own = q_own_from_world.rotate(point_world_m - self.center_world_m)
        rotated = body.rotated(q_own_from_world)
        return reduce(jnp.minimum, [near.gap_m(rotated) for near in self.nearest(own)])

    @override
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        return [self.to_world(line) for line in self.outline()]

    def solid(self, shape: SolidShape, *sizes_m: Real) -> tuple[Solid]:
        """Return a simple solid with this shape's pose."""
        return (Solid.at(shape, sizes_m, self.center_world_m, self._q_world_from_own()),)

    def to_world(self, points_own_m: Points) -> Points:
        """Transform points from its own axes to the world."""
        q, center = self._q_world_from_own(), np.asarray(self.center_world_m.array)
        axes = np.stack([q.rotate(Vec3.of(axis)).array for axis in np.eye(3).tolist()])
        return points_own_m @ axes + center

    @abstractmethod
    def distance_along_m(self, ray_own: Ray) -> Real:
        """Return the distance of its first point along a ray in its own axes, or infinity."""

    @abstractmethod
    def normal_at(self, point_own_m: Vec3) -> Vec3:
        """Return a normal at a point of its surface, in its own axes, of any length."""

    @abstractmethod
    def nearest(self, point_own_m: Vec3) -> list[Clearance]:
        """Return its clearance from a point in its own axes; each local minimum if not convex."""

    @abstractmethod
    def outline(self) -> list[Float[np.ndarray, "points 3"]]:
        """Return lines that show it, in its own axes."""

    def _q_world_from_own(self) -> Quaternion:
        return q_world_from_own(self.yaw_rad, self.pitch_rad, self.roll_rad)


def q_world_from_own(yaw_rad: Real, pitch_rad: Real, roll_rad: Real) -> Quaternion:
    """Return the rotation of a shape by its angles."""
    return Quaternion.from_euler(EulerZYX(roll_rad, pitch_rad, yaw_rad))
