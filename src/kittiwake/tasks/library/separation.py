"""Current position estimates of Pelicans, and mutual avoidance."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.scalar import Integer
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.library.other_agents import rows

# delay of a fix of QRSim's receiver: one period
DELAY_S = 0.2
# range of avoidance, its speed, and its share to the right, so that two that meet pass
CLOSE_M, AWAY_MPS, ASIDE = 18.0, 8.0, 0.5


def compensate_delay(estimate: Kinematics) -> Kinematics:
    """Return an estimate moved by the delay of a fix; the height has no delay."""
    place, velocity = estimate.position_world_m, estimate.velocity_world_mps
    moved = Vec3(place.x + DELAY_S * velocity.x, place.y + DELAY_S * velocity.y, place.z)
    return replace(estimate, position_world_m=moved)


def current_positions(estimates: Kinematics) -> Float[Array, "agents 3"]:
    """Return the current position estimates of all agents."""
    return rows(jax.vmap(compensate_delay)(estimates).position_world_m)


def avoidance_velocity_mps(index: Integer, here: Float[Array, "agents 3"]) -> Float[Array, "3"]:
    """Return the velocity by which an agent avoids others that are close."""
    offsets = here[index][None] - here
    distance = jnp.sqrt((offsets**2).sum(axis=1) + 1e-6)
    other = jnp.arange(len(here), dtype=jnp.int32) != index
    push = jnp.where(other & (distance < CLOSE_M), AWAY_MPS * (1.0 - distance / CLOSE_M), 0.0)
    # the right of an agent that comes from ahead is the left of its offset
    aside = ASIDE * jnp.stack([-offsets[:, 1], offsets[:, 0], jnp.zeros_like(distance)], axis=1)
    return ((offsets + aside) / distance[:, None] * push[:, None]).sum(axis=0)
