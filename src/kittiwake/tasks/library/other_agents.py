"""Other agents as seen by each agent, in cyclic order from the next one on."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.kinematics import Kinematics
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.task import Agent, TaskScene


def other_agents(scene: TaskScene, agent: Agent) -> Agent:
    """Return all agents but one, along a leading axis; empty for a single agent."""
    indices = jnp.asarray(scene.agents.index)
    others = (agent.index + indices[1:]) % len(indices)
    return jax.tree.map(lambda leaf: leaf[others], scene.agents)


def offsets_to(there: Kinematics, here: Kinematics) -> Float[Array, "others 3"]:
    """Return the offsets from one position to several others, in world axes."""
    return rows(there.position_world_m) - rows(here.position_world_m)[None]


def rows(vectors: Vec3) -> Float[Array, "*vectors 3"]:
    """Return a vector as an array, or vectors with a leading axis as its rows."""
    return jnp.stack([jnp.asarray(part) for part in (vectors.x, vectors.y, vectors.z)], axis=-1)
