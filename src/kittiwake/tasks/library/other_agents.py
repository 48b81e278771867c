"""The other agents, as each one sees them: first the next one, at the end the one before it."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.task import Agent, TaskScene


def mates(scene: TaskScene, agent: Agent) -> Agent:
    """All agents but one, along a leading axis; none where it is alone."""
    numbers = jnp.asarray(scene.agents.number)
    places = (agent.number + numbers[1:]) % len(numbers)
    return jax.tree.map(lambda leaf: leaf[places], scene.agents)


def ways_to(there: Kinematics, here: Kinematics) -> Float[Array, "others 3"]:
    """The ways to several places from one, in axes of the world."""
    return rows(there.position_world_m) - rows(here.position_world_m)[None]


def rows(vectors: Vec3) -> Float[Array, "*vectors 3"]:
    """A vector as an array, or vectors with a leading axis as its rows."""
    return jnp.stack([jnp.asarray(part) for part in (vectors.x, vectors.y, vectors.z)], axis=-1)
