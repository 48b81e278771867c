"""Hydrostatic restoring forces of a vessel, linear in sinkage and heel.

With the height h of the center of flotation above the water surface, the vector k in body axes
that is (-s_east, -s_north, 1) in the world for a surface of those slopes, and up e_z::

    F = -rho g A h e_z                  at the center of flotation, at least -m g
    K = -m g GM_T k_y k_z,  M = m g GM_L k_x k_z,  N = m g (GM_T - GM_L) k_x k_y

A is the waterplane area, GM are the metacentric heights. Fossen (2021), "Handbook of Marine Craft
Hydrodynamics and Motion Control", 2nd edition, section 4.2, has the same for small angles, with
forces along the body's axes. Here force and couple are derived from one potential,
``(rho g A h^2 + m g GM_T k_y^2 + m g GM_L k_x^2) / 2``, so that energy is conserved.

Valid for vertical sides and heels of about ten degrees. A hull that has left the water is pulled
down by its weight only.
"""

from typing import Annotated

import jax.numpy as jnp

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.wrench import Wrench
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# below this fraction of the buoyancy at rest the hull counts as partly out of the water
TOUCHING = 0.1


class Flotation(Module):
    """Position of a hull relative to the water surface.

    Attributes:
        out_body: the vector k, normal to the water surface, in body axes.
        up_body: the vertical, in body axes.
        lift_n: buoyancy minus the weight of the bare vessel.
        wet: one in the water, zero out of it, continuous between.
    """

    out_body: Vec3
    up_body: Vec3
    lift_n: Real
    wet: Real


class Hydrostatics(Module):
    """Waterplane area and metacentric heights; the center of flotation is on the centerline."""

    waterplane_area_m2: Annotated[Real, POSITIVE]
    transverse_metacentric_height_m: Annotated[Real, POSITIVE]
    longitudinal_metacentric_height_m: Annotated[Real, POSITIVE]
    center_of_flotation_x_body_m: Real = 0.0

    def flotation(
        self, height_m: Real, out_body: Vec3, up_body: Vec3, weight_n: Real, pressure_npm3: Real
    ) -> Flotation:
        """Return the flotation at a height of the body's origin above the water."""
        flotation_m = height_m + self.center_of_flotation_x_body_m * out_body.x
        free_n = -pressure_npm3 * self.waterplane_area_m2 * flotation_m
        lift_n = jnp.maximum(free_n, -weight_n)
        wet = jnp.clip((free_n + weight_n) / (TOUCHING * weight_n), 0.0, 1.0)
        return Flotation(out_body, up_body, lift_n, wet)

    def wrench(self, flotation: Flotation, weight_n: Real, center_of_mass_body_m: Vec3) -> Wrench:
        """Return the hydrostatic wrench about the body's origin."""
        k, wet = flotation.out_body, flotation.wet
        roll = weight_n * self.transverse_metacentric_height_m
        pitch = weight_n * self.longitudinal_metacentric_height_m
        couple = Vec3(-roll * k.y * k.z, pitch * k.x * k.z, (roll - pitch) * k.x * k.y) * wet
        center = Vec3(self.center_of_flotation_x_body_m, 0.0, 0.0)
        # out of the water only the weight remains
        point = center * wet + center_of_mass_body_m * (1.0 - wet)
        lift = Wrench(flotation.up_body * flotation.lift_n, Vec3.zero()).at(point)
        return lift + Wrench(Vec3.zero(), couple)
