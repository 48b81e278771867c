"""What keeps a vessel afloat and upright, linear in sinkage and heel.

With the height h of the center of flotation over the water's surface, the vector k in body axes
that is (-s_east, -s_north, 1) in the world for a surface of those slopes, and up e_z::

    F = -rho g A h e_z                  at the center of flotation, no less than -m g
    K = -m g GM_T k_y k_z,  M = m g GM_L k_x k_z,  N = m g (GM_T - GM_L) k_x k_y

A is the waterplane's area, GM are the metacentric heights. Fossen (2021), "Handbook of Marine Craft
Hydrodynamics and Motion Control", 2nd edition, section 4.2, has the same for small angles, with
forces along the body's axes. Here force and couple come of one potential,
``(rho g A h^2 + m g GM_T k_y^2 + m g GM_L k_x^2) / 2``, so that no motion gains energy by them.

Valid for straight sides and heels of some ten degrees. A hull that has left the water by its
displacement over the waterplane's area is no longer pulled down by more than its weight.
"""

from typing import Annotated

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# of the buoyancy at rest: what still touches the water below that counts as half out of it
TOUCHING = 0.1


class Afloat(eqx.Module):
    """How a hull lies in the water.

    ``out_body`` is the vector k, ``up_body`` is up, ``lift_n`` is the buoyancy less the weight of
    the bare vessel. ``wet`` is one in the water and zero out of it.
    """

    out_body: Vec3
    up_body: Vec3
    lift_n: Real
    wet: Real


class Hydrostatics(eqx.Module):
    """Waterplane and metacentric heights; the center of flotation is on the centreline."""

    waterplane_area_m2: Annotated[Real, POSITIVE]
    transverse_metacentric_height_m: Annotated[Real, POSITIVE]
    longitudinal_metacentric_height_m: Annotated[Real, POSITIVE]
    center_of_flotation_x_body_m: Real = 0.0

    def afloat(
        self, height_m: Real, out_body: Vec3, up_body: Vec3, weight_n: Real, pressure_npm3: Real
    ) -> Afloat:
        """By the height of the body's origin over the water, and rho g."""
        flotation_m = height_m + self.center_of_flotation_x_body_m * out_body.x
        free_n = -pressure_npm3 * self.waterplane_area_m2 * flotation_m
        lift_n = jnp.maximum(free_n, -weight_n)
        wet = jnp.clip((free_n + weight_n) / (TOUCHING * weight_n), 0.0, 1.0)
        return Afloat(out_body, up_body, lift_n, wet)

    def wrench(self, afloat: Afloat, weight_n: Real, center_of_mass_body_m: Vec3) -> Wrench:
        """About the body's origin."""
        k, wet = afloat.out_body, afloat.wet
        roll = weight_n * self.transverse_metacentric_height_m
        pitch = weight_n * self.longitudinal_metacentric_height_m
        couple = Vec3(-roll * k.y * k.z, pitch * k.x * k.z, (roll - pitch) * k.x * k.y) * wet
        flotation = Vec3(self.center_of_flotation_x_body_m, 0.0, 0.0)
        # out of the water nothing but the weight is left
        place = flotation * wet + center_of_mass_body_m * (1.0 - wet)
        lift = Wrench(afloat.up_body * afloat.lift_n, Vec3.zero()).at(place)
        return lift + Wrench(Vec3.zero(), couple)
