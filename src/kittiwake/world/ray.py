"""Rays and what they meet: what obstacles show and sensors see, and how near they are.

A ray is o + t d with |d| = 1 and t >= 0; a surface that it does not meet is infinitely far. A ray
that begins inside of something meets it from within. Many obstacles of one kind are gone through in
a loop, so that a hundred boxes compile like one.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake.contact.solid import Solid
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Count, Flag, Real, namespace
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.clearance import POINT, Body

# what is smaller is not divided by: its inverse square is still a number in single precision
LEAST_SLOPE = 1e-12
# of the largest part of a direction, so that single precision holds it
SMALLEST_PART, LARGEST_PART = 1e-30, 1e30
# so many obstacles of a kind are each compiled on their own, with their numbers folded in
FEW = 4
NOTHING = -1


class Ray(eqx.Module):
    """A half line, in the world's axes if nothing else is said; ``direction`` has unit length."""

    origin_m: Vec3
    direction: Vec3

    def at(self, distance_m: Real) -> Vec3:
        """The point so far along."""
        return self.origin_m + self.direction * distance_m


def unit(direction: Vec3) -> Vec3:
    """The direction with unit length, whatever length it has."""
    parts = [abs(part) for part in (direction.x, direction.y, direction.z)]
    # the square of a small number is zero, and that of a large one infinite
    largest = max(parts) if namespace(*parts) is np else reduce(jnp.maximum, parts)
    near_unit = direction / largest
    return near_unit / near_unit.norm()


def refuse_without_direction(direction: Vec3, name: str, instead: str) -> None:
    """Refuses a parameter that is no direction, with what to write instead."""
    parts = (direction.x, direction.y, direction.z)
    if not all(isinstance(part, int | float) for part in parts):
        return
    if not SMALLEST_PART <= max(map(abs, parts)) <= LARGEST_PART:
        given = ", ".join(f"{part:g}" for part in parts)
        message = (
            f"{name}: [{given}] is no direction; its largest part must be from {SMALLEST_PART:g} "
            f"to {LARGEST_PART:g}; write {instead}"
        )
        raise ValueError(message)


class Hit(eqx.Module):
    """The first point of any obstacle along a ray.

    Attributes:
        distance_m: infinite if there is none.
        normal_world: of unit length, to the side that the ray comes from; zero if there is none.
        number: which obstacle it is, or -1; where several are equally near, one of them.
    """

    distance_m: Real
    normal_world: Vec3
    number: Count

    @property
    def met(self) -> Flag:
        """Whether there is such a point."""
        return jnp.isfinite(self.distance_m)

    def range_m(self, longest_m: Real) -> Real:
        """The distance, or the longest one that is told; finite, and so are its derivatives."""
        return jnp.minimum(self.distance_m, longest_m)

    def incidence_cosine(self, ray: Ray) -> Real:
        """Of the angle between the normal and the way back; 0 if nothing was met."""
        return -self.normal_world.dot(ray.direction)


class AbstractObstacle(eqx.Module):
    """Something in the world that rays meet, and that vehicles may hit."""

    @abstractmethod
    def distance_m(self, ray: Ray) -> Real:
        """How far its first point is along a ray; infinite if there is none."""

    @abstractmethod
    def normal_world(self, ray: Ray, distance_m: Real) -> Vec3:
        """The direction across its surface there, of any length and to either side."""

    @abstractmethod
    def clearance_m(self, point_world_m: Vec3, body: Body = POINT) -> Real:
        """How far it is from a point, or from a body about it; negative inside of a solid."""

    @abstractmethod
    def outline_world(self) -> list[Float[np.ndarray, "points 3"]]:
        """Lines that show it in a picture; none for what has no end."""

    def solids_world(self) -> tuple[Solid, ...]:
        """What a physics engine takes it for, before anything is compiled.

        Raises:
            ScenarioError: if it cannot be touched.
        """
        message = f"{type(self).__name__} has no solids to touch; write physics: compliant"
        raise ScenarioError(message)


class Nearest(eqx.Module):
    """Of some things the first along a ray, or the nearest: how far, and its place among them."""

    distance_m: Real
    place: Count


def nearest_of(things: Any, distance_m: Callable[[Any], Real]) -> Nearest:
    """The first of things of one kind, or the nearest.

    Args:
        things: one of them, with a leading axis in each of its leaves.
        distance_m: how far one is; infinite if it is not met.
    """
    leaves = jax.tree.leaves(things)
    dtype = jnp.result_type(*leaves)

    def further(so_far: Nearest, numbered: tuple[Count, Any]) -> tuple[Nearest, None]:
        place, thing = numbered
        distance = jnp.asarray(distance_m(thing), dtype)
        nearer = distance < so_far.distance_m
        return Nearest(
            jnp.where(nearer, distance, so_far.distance_m),
            jnp.where(nearer, place, so_far.place),
        ), None

    none = Nearest(jnp.asarray(jnp.inf, dtype), jnp.asarray(0, jnp.int32))
    places = jnp.arange(len(leaves[0]), dtype=jnp.int32)
    return jax.lax.scan(further, none, (places, things))[0]


def cast(obstacles: Sequence[AbstractObstacle], ray: Ray) -> Hit:
    """The first point of any of the obstacles along a ray."""
    dtype = jnp.result_type(ray.origin_m.x)
    groups = _groups(obstacles, dtype)
    # without the barrier each component of the normal would compute all distances again
    first = jax.lax.optimization_barrier(
        [group.least(lambda obstacle: obstacle.distance_m(ray)) for group in groups]
    )
    distances = [met.distance_m for met in first]
    nearest = reduce(jnp.minimum, distances, jnp.asarray(jnp.inf, dtype))
    reached = jnp.where(jnp.isfinite(nearest), nearest, 0.0)
    normal, number = Vec3.zero(), jnp.asarray(NOTHING, jnp.int32)
    for group, met in zip(groups, first, strict=True):
        own = jnp.isfinite(nearest) & (met.distance_m == nearest) & (number == NOTHING)
        across = group.normal_world(ray, reached, met.place)
        normal = jax.tree.map(partial(jnp.where, own), across, normal)
        number = jnp.where(own, jnp.asarray(group.numbers, jnp.int32)[met.place], number)
    return Hit(nearest, _facing(ray, normal), number)


def nearest_obstacle(
    obstacles: Sequence[AbstractObstacle], point_world_m: Vec3, body: Body = POINT
) -> Nearest:
    """The obstacle with the least clearance, by its place; of none that is infinite."""
    dtype = jnp.result_type(point_world_m.x)
    nearest = Nearest(jnp.asarray(jnp.inf, dtype), jnp.asarray(NOTHING, jnp.int32))
    for group in _groups(obstacles, dtype):
        met = group.least(lambda member: member.clearance_m(point_world_m, body))
        nearer = met.distance_m < nearest.distance_m
        number = jnp.asarray(group.numbers, jnp.int32)[met.place]
        nearest = Nearest(
            jnp.where(nearer, met.distance_m, nearest.distance_m),
            jnp.where(nearer, number, nearest.place),
        )
    return nearest


class _Group(eqx.Module):
    """Obstacles of one kind, by their numbers: one, or many with a leading axis in each leaf."""

    numbers: tuple[int, ...] = eqx.field(static=True)
    members: AbstractObstacle

    def least(self, distance_m: Callable[[AbstractObstacle], Real]) -> Nearest:
        """The one of which a distance is the least."""
        if len(self.numbers) > 1:
            return nearest_of(self.members, distance_m)
        return Nearest(jnp.asarray(distance_m(self.members)), jnp.asarray(0, jnp.int32))

    def normal_world(self, ray: Ray, distance_m: Real, place: Count) -> Vec3:
        """Across the surface of one of them."""
        if len(self.numbers) > 1:
            member = jax.tree.map(lambda leaf: leaf[place], self.members)
            return member.normal_world(ray, distance_m)
        return self.members.normal_world(ray, distance_m)


def _groups(obstacles: Sequence[AbstractObstacle], dtype: Any) -> list[_Group]:
    """Those of which there are many together; the others each on their own."""
    kinds: dict[Any, list[int]] = {}
    for number, obstacle in enumerate(obstacles):
        leaves, structure = jax.tree.flatten(obstacle)
        kinds.setdefault((structure, *map(jnp.shape, leaves)), []).append(number)
    groups: list[_Group] = []
    for numbers in kinds.values():
        alike = [obstacles[number] for number in numbers]
        if len(alike) > FEW:
            stacked = jax.tree.map(lambda *leaves: jnp.stack(_strong(leaves, dtype)), *alike)
            groups.append(_Group(tuple(numbers), stacked))
        else:
            groups.extend(_Group((n,), one) for n, one in zip(numbers, alike, strict=True))
    return groups


def _strong(leaves: Sequence[Any], dtype: Any) -> list[Array]:
    return [jnp.asarray(leaf, dtype) for leaf in leaves]


def _facing(ray: Ray, normal: Vec3) -> Vec3:
    """Of unit length, on the side that the ray comes from; nothing stays nothing."""
    length = normal.norm()
    scale = jnp.where(length > 0.0, 1.0 / jnp.where(length > 0.0, length, 1.0), 0.0)
    return normal * jnp.where(normal.dot(ray.direction) > 0.0, -scale, scale)
