"""Where agents begin that a task places, each by itself."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from kittiwake.core.kinematics import Start
from kittiwake.core.world import FlightArea
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# of the area, about its middle: QRSim's searchers and smellers begin there
SHARE = 0.9


def placed(given: Start, level_m: Float[Array, "agents 2"], height_m: Real | None = None) -> Start:
    """Starts along a leading axis, moved there; at their own height where nothing is said."""

    def one(own: Start, level: Float[Array, "2"]) -> Start:
        z = own.position_world_m.z if height_m is None else jnp.asarray(height_m, level.dtype)
        return replace(own, position_world_m=Vec3(level[0], level[1], z))

    return jax.vmap(one)(given, level_m)


def scattered(given: Start, area: FlightArea, key: PRNGKeyArray) -> Start:
    """Starts along a leading axis, each anywhere but near the limits of an area."""
    dtype = jnp.result_type(float)
    low, high = jnp.asarray([area.x_m, area.y_m], dtype).T
    count = jnp.asarray(given.yaw_rad).shape[0]
    drawn = SHARE * jax.random.uniform(key, (count, 2), dtype, -0.5, 0.5)
    return placed(given, 0.5 * (low + high)[None] + (high - low)[None] * drawn)
