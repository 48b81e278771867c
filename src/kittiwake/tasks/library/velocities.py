"""Acting by velocities over the ground."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.columns import axis_column
from kittiwake.core.commands import VelocityYaw
from kittiwake.geometry.vec3 import Vec3
from kittiwake.tasks.action_mapping import ActionMapping, Span

AXES = {axis: axis_column("velocity_world_mps", axis) for axis in "xyz"}


def velocities(reach_mps: Vec3) -> ActionMapping:
    """Looking east, up to so fast each way; an axis without any reach is never asked for."""
    reaches = {axis: float(getattr(reach_mps, axis)) for axis in AXES}
    return ActionMapping(
        VelocityYaw, {AXES[axis]: Span(0.0, reach) for axis, reach in reaches.items() if reach}
    )


def asking(
    mapping: ActionMapping, velocity_world_mps: Vec3, told: Float[Array, " told"] | None = None
) -> Float[Array, " numbers"]:
    """The action that asks for a velocity, and tells what is told."""
    wanted = {column: getattr(velocity_world_mps, axis) for axis, column in AXES.items()}
    return mapping.action({name: jnp.asarray(wanted[name]) for name in mapping.spans}, told)
