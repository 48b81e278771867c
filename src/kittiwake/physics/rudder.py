"""Rudder with stall."""

import math
from typing import Annotated

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.pytree import Module

RUDDER_ANGLE = Bounds(low=0.0, high=math.pi / 2.0, open_below=True)
# below this speed the flow has no direction; its square is a normal number in float32, too
STILL_MPS = 1e-12


class Rudder(Module):
    """Rudder blade with a force along its normal, by the flow at the blade.

    ``F = rho/2 A C u^2 sin(pi/2 sat(alpha / alpha_stall))``: it grows with the angle of attack up
    to the stall and is constant beyond. The flow's direction is that at ``inflow_x_body_m``, where
    the yaw rate adds ``x r`` to the lateral velocity. For a rudder in free flow this is its own
    position ``x_body_m``; behind a hull it is an effective one, as in the MMG method (Yasukawa,
    Yoshimura 2015, "Introduction of MMG standard method for ship maneuvering predictions"). With
    ``inflow_x_body_m = x_body_m`` the force dissipates energy in any motion.
    """

    area_m2: Annotated[Real, POSITIVE]
    max_lift_coefficient: Annotated[Real, NOT_NEGATIVE]
    stall_rad: Annotated[Real, POSITIVE]
    x_body_m: Real
    inflow_x_body_m: Real
    max_angle_rad: Annotated[Real, RUDDER_ANGLE]
    max_rate_radps: Annotated[Real | None, POSITIVE] = None

    def force(
        self,
        surge_mps: Real,
        sway_mps: Real,
        yaw_rate_radps: Real,
        angle_rad: Real,
        density_kgpm3: Real,
    ) -> tuple[Real, Real]:
        """Return the forces forward and to the left, by the velocities through the water.

        A positive angle has the trailing edge to the left.
        """
        sine, cosine = sin_cos(angle_rad)
        lateral = sway_mps + self.inflow_x_body_m * yaw_rate_radps
        # the blade's own velocity along its chord and along its normal (sine, cosine)
        along = surge_mps * cosine - lateral * sine
        across = surge_mps * sine + lateral * cosine
        attack = -_angle(across, jnp.abs(along))
        lift = jnp.sin(0.5 * math.pi * jnp.clip(attack / self.stall_rad, -1.0, 1.0))
        pressure_pa = 0.5 * density_kgpm3 * surge_mps * surge_mps
        force_n = pressure_pa * self.area_m2 * self.max_lift_coefficient * lift
        return force_n * sine, force_n * cosine

    def start_and_rate(
        self, angle_rad: Real, commanded_rad: Real, dt_s: Real
    ) -> tuple[Real, Float[Array, ""]]:
        """Return the angle at the beginning of a step and its rate; a step without a limit."""
        if self.max_rate_radps is None:
            return commanded_rad, jnp.zeros_like(jnp.asarray(commanded_rad))
        limit = self.max_rate_radps
        return angle_rad, jnp.clip((commanded_rad - angle_rad) / dt_s, -limit, limit)


def _angle(across: Real, along: Real) -> Float[Array, ""]:
    """Return the direction of a flow; zero, with zero gradient, without flow."""
    flowing = across * across + along * along > STILL_MPS**2
    return jnp.arctan2(jnp.where(flowing, across, 0.0), jnp.where(flowing, along, 1.0))
