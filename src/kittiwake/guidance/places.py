"""Places that a vehicle is to go to, looked at before it flies."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from kittiwake.core.component import Situation
from kittiwake.core.errors import ScenarioError
from kittiwake.core.ray import nearest_obstacle
from kittiwake.core.world import World
from kittiwake.geometry.vec3 import Vec3


def refuse_places(situation: Situation, places_world_m: Sequence[Vec3], called: str) -> None:
    """Refuses places outside the world's area, below its ground, or inside of an obstacle.

    Raises:
        ScenarioError: with the first such place, and with what is in the way.
    """
    world = situation.world
    for place in places_world_m:
        for axis in "xyz":
            low, high = getattr(world.area, f"{axis}_m")
            if not low <= getattr(place, axis) <= high:
                message = (
                    f"{_said(called, place)} is outside the area, where {axis} is {low:g} to "
                    f"{high:g} m; write a place inside, or a larger world.area"
                )
                raise ScenarioError(message)
        if place.z < world.ground_z_m:
            message = (
                f"{_said(called, place)} is below the ground, which is at z = "
                f"{world.ground_z_m:g}; write a higher place"
            )
            raise ScenarioError(message)
    if world.obstacles and places_world_m:
        _refuse_inside(world, places_world_m, called)


def _refuse_inside(world: World, places_world_m: Sequence[Vec3], called: str) -> None:
    points = np.array([[place.x, place.y, place.z] for place in places_world_m], float)

    def nearest(point: jax.Array) -> tuple[jax.Array, jax.Array]:
        found = nearest_obstacle(world.obstacles, Vec3(point[0], point[1], point[2]))
        return jnp.asarray(found.distance_m), jnp.asarray(found.place)

    # also where a vehicle is built inside of a compiled function
    with jax.enable_x64(True), jax.ensure_compile_time_eval():  # noqa: FBT003  JAX's own
        distances_m, numbers = map(np.asarray, jax.jit(jax.vmap(nearest))(jnp.asarray(points)))
    for place, distance_m, number in zip(places_world_m, distances_m, numbers, strict=True):
        if distance_m < 0.0:
            names = world.obstacle_names
            name = f"world.obstacles.{names[number]}" if names else f"obstacle {number + 1}"
            message = (
                f"{_said(called, place)} is inside of {name}, {-distance_m:.3g} m deep; write a "
                "place outside"
            )
            raise ScenarioError(message)


def _said(called: str, place: Vec3) -> str:
    return f"{called}: [{place.x:g}, {place.y:g}, {place.z:g}]"
