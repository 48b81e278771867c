"""Where Pelicans believe to be, and how they keep away from each other."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.library.other_agents import rows

# a fix of QRSim's receiver is a period old when it comes
LATE_S = 0.2
# who comes so near to another one makes way, as fast, and to its right, so that two that meet pass
CLOSE_M, AWAY_MPS, ASIDE = 18.0, 8.0, 0.5


def now(estimate: Kinematics) -> Kinematics:
    """An estimate with the way made since the last fix; the height is measured at once."""
    place, velocity = estimate.position_world_m, estimate.velocity_world_mps
    moved = Vec3(place.x + LATE_S * velocity.x, place.y + LATE_S * velocity.y, place.z)
    return replace(estimate, position_world_m=moved)


def whereabouts(estimates: Kinematics) -> Float[Array, "agents 3"]:
    """The places of all, as they are estimated now."""
    return rows(jax.vmap(now)(estimates).position_world_m)


def away_from_others_mps(number: Any, here: Float[Array, "agents 3"]) -> Float[Array, "3"]:
    """The velocity with which one makes way to others that are close."""
    ways = here[number][None] - here
    away = jnp.sqrt((ways**2).sum(axis=1) + 1e-6)
    other = jnp.arange(len(here), dtype=jnp.int32) != number
    push = jnp.where(other & (away < CLOSE_M), AWAY_MPS * (1.0 - away / CLOSE_M), 0.0)
    # seen from one that comes from ahead, its right is the left of the way to oneself
    aside = ASIDE * jnp.stack([-ways[:, 1], ways[:, 0], jnp.zeros_like(away)], axis=1)
    return ((ways + aside) / away[:, None] * push[:, None]).sum(axis=0)
