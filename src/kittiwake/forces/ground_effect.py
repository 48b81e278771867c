"""Ground effect: the larger thrust of a rotor near a surface.

The image of the rotor below the surface pushes its air back up (Cheeseman and Bennett 1955, "The
effect of the ground on a helicopter rotor in forward flight", ARC R&M 3021, equation 4, in hover)::

    T / T_free = 1 / (1 - (R / 4 z)^2)

z is the hub's height over the surface, R the rotor's radius. Valid from z = R / 2 on, where the
thrust is a third more; below it stays so. Neglected: that it fades in forward flight, and that the
images of a multirotor's other rotors add to it (Sanchez-Cuevas, Heredia, Ollero 2017,
"Characterization of the aerodynamic ground effect and its influence in multirotor control").
"""

import jax.numpy as jnp
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.parts import AbstractGroundEffect


class CheesemanBennett(AbstractGroundEffect):
    """Ground effect of one rotor by the method of images."""

    @override
    def thrust_ratio(self, height_m: Real, radius_m: Real) -> Real:
        nearness = radius_m / (4.0 * jnp.maximum(height_m, 0.5 * radius_m))
        return 1.0 / (1.0 - nearness * nearness)
