"""The air that rotors throw down onto the vehicles below.

By momentum theory a disc of area A that carries T sends its air down at 2 v_1 = sqrt(2 T / rho A)
some way below it. From there it is a round turbulent jet (Pope 2000, "Turbulent Flows", section
5.1): at a distance s along its axis and r from it::

    w(s, r) = w_0 exp(-ln 2 (r / a)^2),    a = max(S s, sqrt(A ln 2 / pi)),    S = 0.094

a is the jet's half-width, which grows at the spreading rate S (Hussein, Capp, George 1994) from
where its stream has that of 2 v_1. On all of its way the jet carries the momentum T = pi rho w_0^2
a^2 / (2 ln 2), so that near the disc w_0 = 2 v_1, and far below it w_0 = 7.1 sqrt(T / rho) / s.

What others feel is a wind of this velocity, against the axis of the vehicle above. The rotors of a
multirotor count as one disc. Neglected: that the jet takes time and is bent by wind, its swirl and
its unsteadiness, the suction above the disc, that jets join.
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

SPREADING = 0.094
LN_2 = math.log(2.0)


class Downwash(AbstractInteraction):
    """Each vehicle in the jets of all others; the cost grows with the square of their number."""

    @override
    def __call__(self, vehicles: InteractionInput, surroundings: Surroundings) -> Surroundings:
        """The surroundings with the jets added to the wind."""

        def felt(around: Surroundings, here_world_m: Vec3) -> Surroundings:
            density = around.air.density_kgpm3
            jets = jax.vmap(lambda above: jet_world_mps(above, here_world_m, density))
            return around.blown(jax.tree.map(jnp.sum, jets(vehicles)))

        return jax.vmap(felt)(surroundings, vehicles.motion.position_world_m)


def jet_world_mps(above: InteractionInput, here_world_m: Vec3, density_kgpm3: Real) -> Vec3:
    """The velocity that a vehicle gives the air at a place; nothing at its own."""
    axis = above.motion.q_world_from_body.rotate(Vec3(0.0, 0.0, -1.0))
    way = here_world_m - above.motion.position_world_m
    along = axis.dot(way)
    away = way - axis * along
    push = above.wake.thrust_n / density_kgpm3
    blown = (along > 0.0) & (push > 0.0)
    near = jnp.sqrt(above.wake.disc_area_m2 * (LN_2 / math.pi))
    width = jnp.maximum(SPREADING * along, near)
    fastest = jnp.sqrt(jnp.where(blown, push, 1.0) * (2.0 * LN_2 / math.pi)) / width
    speed = fastest * jnp.exp(-LN_2 * away.dot(away) / (width * width))
    # chosen by component: what is no number, in a vehicle that has diverged, stays with it
    return jax.tree.map(lambda part: jnp.where(blown, part * speed, 0.0), axis)
