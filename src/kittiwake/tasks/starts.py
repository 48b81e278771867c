"""Initial positions of agents that a task draws."""

from collections.abc import Sequence
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.kinematics import Start
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.world import FlightArea

# share of each side of the area, about its center, in which QRSim's agents begin
INNER_SHARE = 0.9
# number of drawn layouts; a tenth of those for CatsMouse keep the required distance
TRIES = 256


def place_starts(
    given: Start, level_m: Float[Array, "agents 2"], height_m: Real | None = None
) -> Start:
    """Move stacked starts to horizontal positions, and to a height if one is given."""

    def one(own: Start, level: Float[Array, "2"]) -> Start:
        z = own.position_world_m.z if height_m is None else jnp.asarray(height_m, level.dtype)
        return replace(own, position_world_m=Vec3(level[0], level[1], z))

    return jax.vmap(one)(given, level_m)


def first_separated(
    layouts_m: Float[Array, "layouts agents 2"], min_distance_m: Real
) -> Float[Array, "agents 2"]:
    """Return the first layout that keeps a distance between all agents, else the widest one."""
    count = layouts_m.shape[1]
    one, other = np.triu_indices(count, 1)
    offsets = layouts_m[:, one] - layouts_m[:, other]
    distances_m = jnp.hypot(offsets[..., 0], offsets[..., 1]).min(
        axis=1, initial=jnp.asarray(min_distance_m)
    )
    return layouts_m[jnp.argmax(distances_m)]


def scatter_starts(
    given: Start,
    sides_m: Sequence[Sequence[Real]],
    min_distance_m: Real,
    key: PRNGKeyArray,
    height_m: Real | None = None,
) -> Start:
    """Draw positions of stacked starts in a rectangle, with a distance between all agents."""
    dtype = jnp.result_type(float)
    low, high = jnp.asarray(sides_m, dtype).T
    shape = (TRIES, jnp.asarray(given.yaw_rad).shape[0], 2)
    drawn = jax.random.uniform(key, shape, dtype, -0.5, 0.5)
    layouts = (0.5 * (low + high))[None, None] + (high - low)[None, None] * drawn
    return place_starts(given, first_separated(layouts, min_distance_m), height_m)


def inner_area(area: FlightArea) -> tuple[tuple[Real, Real], tuple[Real, Real]]:
    """Return the sides of the inner part of an area, away from its limits."""

    def inner(low: Real, high: Real) -> tuple[Real, Real]:
        edge = 0.5 * (1.0 - INNER_SHARE) * (high - low)
        return low + edge, high - edge

    return inner(*area.x_m), inner(*area.y_m)
