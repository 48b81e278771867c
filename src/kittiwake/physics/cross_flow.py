"""Cross-flow drag of a hull by strip theory.

With the velocity to the left v and the yaw rate r through the water, and x along the hull::

    Y = -1/2 rho T C_D integral of |v + x r| (v + x r) dx,     N: the same with the factor x

Fossen (2021), "Handbook of Marine Craft Hydrodynamics and Motion Control", 2nd edition, section
6.4.3, with C_D after Hoerner (1965), "Fluid-Dynamic Drag", by beam over twice the draft. Both
keep their form when y and z change sign. They dissipate energy in any motion.
"""

from typing import Annotated

import jax.numpy as jnp
import numpy as np

from kittiwake.core.bounds import FRACTION, NOT_NEGATIVE, POSITIVE, Bounds
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.pytree import Module, field

AT_LEAST_TWO = Bounds(low=2.0)


class CrossFlow(Module):
    """Cross-flow drag as a sum over the edges of equal strips.

    ``end_share`` is the weight of the two outermost edges: one half in the trapezoidal rule.
    """

    length_m: Annotated[Real, POSITIVE]
    draft_m: Annotated[Real, POSITIVE]
    drag_coefficient: Annotated[Real, NOT_NEGATIVE]
    strips: Annotated[Integer, AT_LEAST_TWO] = field(static=True, default=20)
    end_share: Annotated[Real, FRACTION] = 0.5

    def force_and_moment(
        self, sway_mps: Real, yaw_rate_radps: Real, density_kgpm3: Real
    ) -> tuple[Real, Real]:
        """Return the force to the left, and the moment about the body's z axis."""
        shares = np.linspace(-0.5, 0.5, int(self.strips) + 1)
        x = self.length_m * jnp.asarray(shares, float)
        inner = jnp.asarray(np.abs(shares) < 0.5, float)
        weights = inner + self.end_share * (1.0 - inner)
        lateral = sway_mps + x * yaw_rate_radps
        drag = weights * jnp.abs(lateral) * lateral
        width_m = self.length_m / float(self.strips)
        scale = -0.5 * density_kgpm3 * self.draft_m * self.drag_coefficient * width_m
        return scale * jnp.sum(drag), scale * jnp.sum(x * drag)
