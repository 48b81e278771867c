"""Actions that command velocities over the ground."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.columns import axis_column
from kittiwake.core.commands import VelocityYaw
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.action_mapping import ActionMapping, Span

AXES = {axis: axis_column("velocity_world_mps", axis) for axis in "xyz"}


def velocity_mapping(limit_mps: Vec3) -> ActionMapping:
    """Return the mapping up to a limit along each axis, with yaw 0; axes of limit 0 are fixed."""
    limits = {axis: float(getattr(limit_mps, axis)) for axis in AXES}
    return ActionMapping(
        VelocityYaw, {AXES[axis]: Span(0.0, limit) for axis, limit in limits.items() if limit}
    )


def velocity_action(
    mapping: ActionMapping,
    velocity_world_mps: Vec3,
    reported: Float[Array, " reported"] | None = None,
) -> Float[Array, " numbers"]:
    """Return the action that commands a velocity, with the reported numbers."""
    values = {column: getattr(velocity_world_mps, axis) for axis, column in AXES.items()}
    return mapping.action({name: jnp.asarray(values[name]) for name in mapping.spans}, reported)
