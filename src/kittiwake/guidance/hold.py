"""Holding one set point: a place, a velocity, or a horizontal velocity at a height."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.component import AbstractGuidance, GuidanceInputs
from kittiwake.core.signals import PositionYaw, Signal, VelocityHeightYaw, VelocityYaw
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3


class HoldState(eqx.Module):
    """Where the vehicle was believed to be when holding began."""

    began: Flag
    position_world_m: Vec3


class Hold(AbstractGuidance):
    """Gives the same set point for ever.

    With a velocity it asks for that velocity, and with a height as well for the horizontal velocity
    at that height. Without, it asks for the position, or for the place of the first estimate.
    """

    position_world_m: Vec3 | None = None
    velocity_world_mps: Vec3 | None = None
    height_world_m: Real | None = None
    yaw_rad: Real = 0.0

    def __check_init__(self) -> None:
        """Refuses a position beside a velocity, and a height without one."""
        if self.position_world_m is not None and self.velocity_world_mps is not None:
            message = "hold takes position_world_m or velocity_world_mps, not both"
            raise ValueError(message)
        if self.height_world_m is not None and self.velocity_world_mps is None:
            message = "hold takes height_world_m only beside velocity_world_mps"
            raise ValueError(message)

    def signal_types(self) -> tuple[type[Signal]]:
        """The rung of what is held."""
        if self.velocity_world_mps is None:
            return (PositionYaw,)
        return (VelocityYaw if self.height_world_m is None else VelocityHeightYaw,)

    def init(self, key: PRNGKeyArray) -> HoldState:
        """Not begun."""
        del key
        return HoldState(
            jnp.asarray(False), Vec3(jnp.asarray(0.0), jnp.asarray(0.0), jnp.asarray(0.0))
        )

    def step(
        self, state: HoldState, inputs: GuidanceInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[HoldState, Any]:
        """The set point."""
        del dt_s, key
        if self.velocity_world_mps is not None:
            return state, self._velocity_signal(self.velocity_world_mps)
        if self.position_world_m is not None:
            return state, PositionYaw(self.position_world_m, self.yaw_rad)
        here = inputs.estimate.position_world_m
        kept = state.position_world_m
        place = Vec3(
            jnp.where(state.began, kept.x, here.x),
            jnp.where(state.began, kept.y, here.y),
            jnp.where(state.began, kept.z, here.z),
        )
        return HoldState(jnp.asarray(True), place), PositionYaw(place, self.yaw_rad)

    def _velocity_signal(self, velocity: Vec3) -> VelocityYaw | VelocityHeightYaw:
        if self.height_world_m is None:
            return VelocityYaw(velocity, self.yaw_rad)
        return VelocityHeightYaw(velocity.x, velocity.y, self.height_world_m, self.yaw_rad)
