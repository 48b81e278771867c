"""Propeller on a shaft along the body's x axis.

``T = k |n| n`` with different k for ahead and astern, and a shaft that follows its command with a
first-order lag. Neglected: the torque, and the effect of the speed through the water on the thrust,
so that a bollard-pull k is too large under way.
"""

from typing import Annotated

import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


class Propeller(Module):
    """Propeller: position, thrust coefficients, largest shaft speeds, and lag."""

    place_body_m: Vec3
    ahead_ns2: Annotated[Real, POSITIVE]
    astern_ns2: Annotated[Real, POSITIVE]
    max_ahead_radps: Annotated[Real, POSITIVE]
    max_astern_radps: Annotated[Real, POSITIVE]
    lag_s: Annotated[Real, POSITIVE]

    @property
    def speed_range_radps(self) -> tuple[Real, Real]:
        """Largest shaft speeds astern (negative) and ahead."""
        return -self.max_astern_radps, self.max_ahead_radps

    def speed_rate_radps2(self, speed_radps: Real, commanded_radps: Real) -> Real:
        """Return the angular acceleration of the shaft for a commanded speed."""
        return (commanded_radps - speed_radps) / self.lag_s

    def wrench(self, speed_radps: Real) -> Wrench:
        """Return the wrench about the body's origin."""
        factor = jnp.where(speed_radps > 0.0, self.ahead_ns2, self.astern_ns2)
        thrust_n = factor * speed_radps * jnp.abs(speed_radps)
        return Wrench(Vec3(thrust_n, 0.0, 0.0), Vec3.zero()).at(self.place_body_m)
