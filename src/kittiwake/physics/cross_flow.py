"""What water that passes a hull sideways does to it, strip by strip.

With the velocity to the left v and the yaw rate r through the water, and x along the hull::

    Y = -1/2 rho T C_D integral of |v + x r| (v + x r) dx,     N = the same with x in it

Fossen (2021), "Handbook of Marine Craft Hydrodynamics and Motion Control", 2nd edition, section
6.4.3, with C_D after Hoerner (1965), "Fluid-Dynamic Drag", by beam over twice the draft. Both
keep their form when y and z are turned over. They take energy from any motion.
"""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Count, Real

AT_LEAST_TWO = Bounds(low=2.0)


class CrossFlow(eqx.Module):
    """The integral as a sum over the edges of equal strips.

    ``end_share`` is what the two outermost edges count: a half in the rule of trapezoids.
    """

    length_m: Annotated[Real, POSITIVE]
    draft_m: Annotated[Real, POSITIVE]
    drag_coefficient: Annotated[Real, NOT_NEGATIVE]
    strips: Annotated[Count, AT_LEAST_TWO] = eqx.field(static=True, default=20)
    end_share: Annotated[Real, FRACTION] = 0.5

    def force_and_moment(
        self, sway_mps: Real, yaw_rate_radps: Real, density_kgpm3: Real
    ) -> tuple[Real, Real]:
        """To the left, and about the body's z axis."""
        shares = np.linspace(-0.5, 0.5, int(self.strips) + 1)
        x = self.length_m * jnp.asarray(shares, float)
        inner = jnp.asarray(np.abs(shares) < 0.5, float)
        weights = inner + self.end_share * (1.0 - inner)
        passing = sway_mps + x * yaw_rate_radps
        drag = weights * jnp.abs(passing) * passing
        width_m = self.length_m / float(self.strips)
        scale = -0.5 * density_kgpm3 * self.draft_m * self.drag_coefficient * width_m
        return scale * jnp.sum(drag), scale * jnp.sum(x * drag)
