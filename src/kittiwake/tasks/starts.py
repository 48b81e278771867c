"""Where agents begin that a task places."""

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

# of the area, about its middle: QRSim's searchers and smellers begin there
SHARE = 0.9
# layouts that are drawn: a tenth of those of the cats of CatsMouse have them far enough apart
TRIES = 256


def placed(given: Start, level_m: Float[Array, "agents 2"], height_m: Real | None = None) -> Start:
    """Starts along a leading axis, moved there; at their own height where nothing is said."""

    def one(own: Start, level: Float[Array, "2"]) -> Start:
        z = own.position_world_m.z if height_m is None else jnp.asarray(height_m, level.dtype)
        return replace(own, position_world_m=Vec3(level[0], level[1], z))

    return jax.vmap(one)(given, level_m)


def first_apart(
    layouts_m: Float[Array, "layouts agents 2"], apart_m: Real
) -> Float[Array, "agents 2"]:
    """The first layout with all agents so far apart, or else the one that comes nearest to it."""
    count = layouts_m.shape[1]
    one, other = np.triu_indices(count, 1)
    ways = layouts_m[:, one] - layouts_m[:, other]
    apart = jnp.hypot(ways[..., 0], ways[..., 1]).min(axis=1, initial=jnp.asarray(apart_m))
    return layouts_m[jnp.argmax(apart)]


def scattered(
    given: Start,
    sides_m: Sequence[Sequence[Real]],
    apart_m: Real,
    key: PRNGKeyArray,
    height_m: Real | None = None,
) -> Start:
    """Starts along a leading axis, anywhere between these sides, so far apart."""
    dtype = jnp.result_type(float)
    low, high = jnp.asarray(sides_m, dtype).T
    shape = (TRIES, jnp.asarray(given.yaw_rad).shape[0], 2)
    drawn = jax.random.uniform(key, shape, dtype, -0.5, 0.5)
    layouts = (0.5 * (low + high))[None, None] + (high - low)[None, None] * drawn
    return placed(given, first_apart(layouts, apart_m), height_m)


def inside(area: FlightArea) -> tuple[tuple[Real, Real], tuple[Real, Real]]:
    """The sides of what is not near the limits of an area."""

    def shrunk(low: Real, high: Real) -> tuple[Real, Real]:
        edge = 0.5 * (1.0 - SHARE) * (high - low)
        return low + edge, high - edge

    return shrunk(*area.x_m), shrunk(*area.y_m)
