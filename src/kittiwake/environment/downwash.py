"""Downwash of rotors on the vehicles below.

By momentum theory a disc of area A with thrust T accelerates its air to 2 v_1 = sqrt(2 T / rho A)
some way below it. From there it is a round turbulent jet (Pope 2000, "Turbulent Flows", section
5.1): at a distance s along its axis and r from it::

    w(s, r) = w_0 exp(-ln 2 (r / a)^2),    a = max(S s, sqrt(A ln 2 / pi)),    S = 0.094

a is the jet's half-width, which grows at the spreading rate S (Hussein, Capp, George 1994) from
where its stream has that of 2 v_1. Along its whole length the jet has the momentum T = pi rho w_0^2
a^2 / (2 ln 2), so that near the disc w_0 = 2 v_1, and far below it w_0 = 7.1 sqrt(T / rho) / s.

Others are in a wind of this velocity, opposite to the axis of the vehicle above. The rotors of a
multirotor count as one disc. Neglected: the delay of the jet, its deflection by wind, its swirl and
unsteadiness, the suction above the disc, and merging of jets.
"""

import math

import jax
import jax.numpy as jnp
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.environment import AbstractInteraction
from kittiwake.world.interaction_input import InteractionInput
from kittiwake.world.surroundings import Surroundings

SPREADING_RATE = 0.094
LN_2 = math.log(2.0)


class Downwash(AbstractInteraction):
    """Downwash of all other vehicles; the cost grows with the square of their number."""

    @override
    def __call__(self, vehicles: InteractionInput, surroundings: Surroundings) -> Surroundings:
        def with_jets(around: Surroundings, here_world_m: Vec3) -> Surroundings:
            density = around.air.density_kgpm3
            jets = jax.vmap(lambda above: jet_world_mps(above, here_world_m, density))
            return around.with_gust(jax.tree.map(jnp.sum, jets(vehicles)))

        return jax.vmap(with_jets)(surroundings, vehicles.motion.position_world_m)


def jet_world_mps(above: InteractionInput, here_world_m: Vec3, density_kgpm3: Real) -> Vec3:
    """Return the velocity of a vehicle's jet at a position; zero at its own."""
    axis = above.motion.q_world_from_body.rotate(Vec3(0.0, 0.0, -1.0))
    offset = here_world_m - above.motion.position_world_m
    along = axis.dot(offset)
    radial = offset - axis * along
    flux = above.wake.thrust_n / density_kgpm3
    inside = (along > 0.0) & (flux > 0.0)
    near_width = jnp.sqrt(above.wake.disc_area_m2 * (LN_2 / math.pi))
    width = jnp.maximum(SPREADING_RATE * along, near_width)
    peak = jnp.sqrt(jnp.where(inside, flux, 1.0) * (2.0 * LN_2 / math.pi)) / width
    speed = peak * jnp.exp(-LN_2 * radial.dot(radial) / (width * width))
    # selected by component, so that NaN of a diverged vehicle does not spread
    return jax.tree.map(lambda component: jnp.where(inside, component * speed, 0.0), axis)
