"""Ray casting: obstacles, the first hit along a ray, and clearances.

A ray is o + t d with |d| = 1 and t >= 0; a surface that it does not hit is infinitely far. A ray
that begins inside a solid hits it from within. Many obstacles of one kind are processed in a loop,
so that a hundred boxes compile as fast as one.
"""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from functools import partial, reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, ArrayLike, Float
from typing_extensions import TypeVar

from kittiwake.contact.solid import Solid
from kittiwake.core.component import AbstractModel
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Flag, Integer, Real, namespace
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.world.clearance import POINT, Body

# divisors are larger: the inverse square of this is finite in single precision
MIN_SLOPE = 1e-12
# bounds of the largest component of a direction, so that single precision can represent it
MIN_COMPONENT, MAX_COMPONENT = 1e-30, 1e30
# up to this number of obstacles of a kind are compiled one by one, as constants
MAX_UNROLLED = 4
NOTHING = -1


class Ray(Module):
    """Half line, in world axes unless stated otherwise; ``direction`` has unit length."""

    origin_m: Vec3
    direction: Vec3

    def at(self, distance_m: Real) -> Vec3:
        """Return the point at a distance."""
        return self.origin_m + self.direction * distance_m


def unit(direction: Vec3) -> Vec3:
    """Return the direction normalized to unit length, without overflow."""
    components = [abs(component) for component in (direction.x, direction.y, direction.z)]
    # the square of a small number is zero, and that of a large one infinite
    largest = max(components) if namespace(*components) is np else reduce(jnp.maximum, components)
    near_unit = direction / largest
    return near_unit / near_unit.norm()


def validate_direction(direction: Vec3, name: str, suggestion: str) -> None:
    """Raise ValueError if a parameter is no direction; the message contains the suggestion."""
    components = (direction.x, direction.y, direction.z)
    if not all(isinstance(component, int | float) for component in components):
        return
    if not MIN_COMPONENT <= max(map(abs, components)) <= MAX_COMPONENT:
        given = ", ".join(f"{component:g}" for component in components)
        message = (
            f"{name}: got [{given}], which is no direction; its largest component must be from "
            f"{MIN_COMPONENT:g} to {MAX_COMPONENT:g}. Write {suggestion}"
        )
        raise ValueError(message)


class Hit(Module):
    """First hit of a ray with any obstacle.

    Attributes:
        distance_m: distance along the ray; infinite without a hit.
        normal_world: unit normal towards the ray's origin; zero without a hit.
        obstacle_index: index of the obstacle, or -1; one of them if several are equally near.
    """

    distance_m: Real
    normal_world: Vec3
    obstacle_index: Integer

    @property
    def exists(self) -> Flag:
        """True if the ray hits an obstacle."""
        return jnp.isfinite(self.distance_m)

    def range_m(self, longest_m: Real) -> Real:
        """Return the distance, at most ``longest_m``; it and its derivatives are finite."""
        return jnp.minimum(self.distance_m, longest_m)

    def incidence_cosine(self, ray: Ray) -> Real:
        """Return the cosine of the angle between normal and reversed ray; 0 without a hit."""
        return -self.normal_world.dot(ray.direction)


class AbstractObstacle(AbstractModel):
    """Obstacle in the world, for rays and collisions."""

    @abstractmethod
    def distance_m(self, ray: Ray) -> Real:
        """Return the distance of its first point along a ray; infinite if there is none."""

    @abstractmethod
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        """Return a normal of its surface there, of any length and either sign."""

    @abstractmethod
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        """Return its distance from a point, or from a body about it; negative inside a solid."""

    @abstractmethod
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        """Return lines that show it in a picture; none for an infinite shape."""

    def solids_world(self) -> tuple[Solid, ...]:
        """Return the solids that represent it in a physics engine, before compilation.

        Raises:
            ScenarioError: if it has no solids.
        """
        message = f"{type(self).__name__} has no solids for contact; write physics: compliant"
        raise ScenarioError(message)


class Nearest(Module):
    """Nearest of several items: its distance, and its index among them."""

    distance_m: Real
    index: Integer


Item = TypeVar("Item")


def nearest_of(items: Item, distance_m: Callable[[Item], Real]) -> Nearest:
    """Return the nearest of several items of one kind.

    Args:
        items: one item with a leading axis in each of its leaves.
        distance_m: distance of an item; infinite if it is not hit.
    """
    leaves = jax.tree.leaves(items)
    dtype = jnp.result_type(*leaves)

    def update(so_far: Nearest, indexed: tuple[Integer, Item]) -> tuple[Nearest, None]:
        index, item = indexed
        distance = jnp.asarray(distance_m(item), dtype)
        nearer = distance < so_far.distance_m
        return Nearest(
            jnp.where(nearer, distance, so_far.distance_m),
            jnp.where(nearer, index, so_far.index),
        ), None

    none = Nearest(jnp.asarray(jnp.inf, dtype), jnp.asarray(0, jnp.int32))
    indices = jnp.arange(len(leaves[0]), dtype=jnp.int32)
    return jax.lax.scan(update, none, (indices, items))[0]


def cast_ray(obstacles: Sequence[AbstractObstacle], ray: Ray) -> Hit:
    """Return the first hit of a ray with any of the obstacles."""
    dtype = jnp.result_type(ray.origin_m.x)
    groups = _groups(obstacles, dtype)
    # without the barrier each component of the normal would recompute all distances
    first = jax.lax.optimization_barrier(
        [group.nearest(lambda obstacle: obstacle.distance_m(ray)) for group in groups]
    )
    distances = [hit.distance_m for hit in first]
    nearest = reduce(jnp.minimum, distances, jnp.asarray(jnp.inf, dtype))
    reached = jnp.where(jnp.isfinite(nearest), nearest, 0.0)
    normal, obstacle_index = Vec3.zero(), jnp.asarray(NOTHING, jnp.int32)
    for group, hit in zip(groups, first, strict=True):
        own = jnp.isfinite(nearest) & (hit.distance_m == nearest) & (obstacle_index == NOTHING)
        group_normal = group.normal_world(ray, reached, hit.index)
        normal = jax.tree.map(partial(jnp.where, own), group_normal, normal)
        obstacle_index = jnp.where(
            own, jnp.asarray(group.indices, jnp.int32)[hit.index], obstacle_index
        )
    return Hit(nearest, _facing_unit_normal(ray, normal), obstacle_index)


def nearest_obstacle(
    obstacles: Sequence[AbstractObstacle], point_world_m: Vec3, body: Body = POINT
) -> Nearest:
    """Return the obstacle with the smallest clearance; infinite without obstacles."""
    dtype = jnp.result_type(point_world_m.x)
    nearest = Nearest(jnp.asarray(jnp.inf, dtype), jnp.asarray(NOTHING, jnp.int32))
    for group in _groups(obstacles, dtype):
        candidate = group.nearest(lambda member: member.clearance_m(point_world_m, body))
        nearer = candidate.distance_m < nearest.distance_m
        index = jnp.asarray(group.indices, jnp.int32)[candidate.index]
        nearest = Nearest(
            jnp.where(nearer, candidate.distance_m, nearest.distance_m),
            jnp.where(nearer, index, nearest.index),
        )
    return nearest


class _Group(Module):
    """Obstacles of one kind: one, or many with a leading axis in each leaf."""

    indices: tuple[int, ...] = field(static=True)
    members: AbstractObstacle

    def nearest(self, distance_m: Callable[[AbstractObstacle], Real]) -> Nearest:
        """Return the member with the smallest distance."""
        if len(self.indices) > 1:
            return nearest_of(self.members, distance_m)
        return Nearest(jnp.asarray(distance_m(self.members)), jnp.asarray(0, jnp.int32))

    def normal_world(self, ray: Ray, distance_m: Real, index: Integer) -> Vec3:
        """Return a normal of the surface of one member."""
        if len(self.indices) > 1:
            member = jax.tree.map(lambda leaf: leaf[index], self.members)
            return member.normal_world(ray, distance_m)
        return self.members.normal_world(ray, distance_m)


def _groups(obstacles: Sequence[AbstractObstacle], dtype: DTypeLike) -> list[_Group]:
    """Group obstacles of one kind if there are many; others form groups of one."""
    kinds: dict[Hashable, list[int]] = {}
    for index, obstacle in enumerate(obstacles):
        leaves, structure = jax.tree.flatten(obstacle)
        kinds.setdefault((structure, *map(jnp.shape, leaves)), []).append(index)
    groups: list[_Group] = []
    for indices in kinds.values():
        alike = [obstacles[index] for index in indices]
        if len(alike) > MAX_UNROLLED:
            stacked = jax.tree.map(lambda *leaves: jnp.stack(_as_arrays(leaves, dtype)), *alike)
            groups.append(_Group(tuple(indices), stacked))
        else:
            groups.extend(_Group((index,), one) for index, one in zip(indices, alike, strict=True))
    return groups


def _as_arrays(leaves: Sequence[ArrayLike], dtype: DTypeLike) -> list[Array]:
    return [jnp.asarray(leaf, dtype) for leaf in leaves]


def _facing_unit_normal(ray: Ray, normal: Vec3) -> Vec3:
    """Return the unit normal towards the ray's origin; zero stays zero."""
    length = normal.norm()
    scale = jnp.where(length > 0.0, 1.0 / jnp.where(length > 0.0, length, 1.0), 0.0)
    return normal * jnp.where(normal.dot(ray.direction) > 0.0, -scale, scale)
