"""Present waves, and the water surface under one vessel.

A component of amplitude a, wave vector k, angular frequency w and phase p, over a depth h::

    eta = a cos(k . x + p),    u = a w C cos(k . x + p),    u_z = a w S sin(k . x + p)
    C = cosh k(h - d) / sinh kh,    S = sinh k(h - d) / sinh kh      d: below the level of rest

with p growing by -w in a second: the linear theory of Airy (1845), as in Newman (1977), "Marine
Hydrodynamics", chapter 6. On deep water C = S = e^(-k d). Components add up.

A hull feels the mean over its footprint, a rectangle of sides L and B: of a component the share
sinc(k_L L / 2) sinc(k_B B / 2), with k_L and k_B along the sides and sinc x = sin x / x.

Valid for waves that are small relative to their length and the depth. Neglected: effects of second
order in the height (Stokes drift of the water, sharper crests), breaking, effects of a current or a
vessel on the waves. The level of the water at rest is the world's zero.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# below this, sinc is its series, with an error of 1e-16
SMALL_ANGLE = 1e-4


class WaterSurface(Module):
    """Water surface under a vessel: the mean over the rectangle that the hull covers.

    Attributes:
        height_world_m: height of the surface above the world's zero.
        height_rate_mps: rate of the height at a fixed point, by the water's motion alone.
        slope_east: rise per meter to the east.
        slope_north: rise per meter to the north.
        slope_east_rate_ps: rate of the east slope at a fixed point.
        slope_north_rate_ps: rate of the north slope at a fixed point.
        velocity_world_mps: velocity of the water, in addition to the current.
        acceleration_world_mps2: acceleration of the water.
    """

    height_world_m: Real
    height_rate_mps: Real
    slope_east: Real
    slope_north: Real
    slope_east_rate_ps: Real
    slope_north_rate_ps: Real
    velocity_world_mps: Vec3
    acceleration_world_mps2: Vec3


class Waterplane(Module):
    """Rectangle of water that a hull covers, and depth below the surface."""

    x_world_m: Real
    y_world_m: Real
    yaw_rad: Real = 0.0
    length_m: Real = 0.0
    width_m: Real = 0.0
    depth_m: Real = 0.0


class Wave(Module):
    """One wave component; its phase is the present one at the world's zero."""

    amplitude_m: Real
    east_radpm: Real
    north_radpm: Real
    frequency_radps: Real
    phase_rad: Real

    def under(self, waterplane: Waterplane, water_depth_m: Real | None) -> WaterSurface:
        """Return its contribution to the surface at a waterplane."""
        k_east, k_north, w = self.east_radpm, self.north_radpm, self.frequency_radps
        along = k_east * waterplane.x_world_m + k_north * waterplane.y_world_m
        sine, cosine = sin_cos(along + self.phase_rad)
        amplitude = self.amplitude_m * self._attenuation(waterplane)
        height, quadrature = amplitude * cosine, -amplitude * sine
        number = jnp.sqrt(k_east * k_east + k_north * k_north)
        horizontal, vertical = _depth_factors(number, waterplane.depth_m, water_depth_m)
        east, north = k_east / number, k_north / number
        speed, gain = w * horizontal * height, -w * w * horizontal * quadrature
        return WaterSurface(
            height_world_m=height,
            height_rate_mps=-w * quadrature,
            slope_east=k_east * quadrature,
            slope_north=k_north * quadrature,
            slope_east_rate_ps=w * k_east * height,
            slope_north_rate_ps=w * k_north * height,
            velocity_world_mps=Vec3(east * speed, north * speed, -w * vertical * quadrature),
            acceleration_world_mps2=Vec3(east * gain, north * gain, -w * w * vertical * height),
        )

    def _attenuation(self, waterplane: Waterplane) -> Real:
        """Return its attenuation by the mean over the rectangle."""
        sine, cosine = sin_cos(waterplane.yaw_rad)
        forward = cosine * self.east_radpm + sine * self.north_radpm
        left = cosine * self.north_radpm - sine * self.east_radpm
        return _sinc(0.5 * forward * waterplane.length_m) * _sinc(0.5 * left * waterplane.width_m)


class Waves(Module):
    """All wave components, one value per component in each field; depth is None on deep water."""

    amplitudes_m: Float[Array, " waves"]
    east_radpm: Float[Array, " waves"]
    north_radpm: Float[Array, " waves"]
    frequencies_radps: Float[Array, " waves"]
    phases_rad: Float[Array, " waves"]
    water_depth_m: Real | None = None

    def under(self, waterplane: Waterplane) -> WaterSurface:
        """Return the surface under a vessel."""

        def one(*numbers: Float[Array, ""]) -> WaterSurface:
            return Wave(*numbers).under(waterplane, self.water_depth_m)

        each = jax.vmap(one)(
            self.amplitudes_m,
            self.east_radpm,
            self.north_radpm,
            self.frequencies_radps,
            self.phases_rad,
        )
        return jax.tree.map(jnp.sum, each)


def _sinc(angle: Real) -> Real:
    small = jnp.abs(angle) < SMALL_ANGLE
    safe = jnp.where(small, 1.0, angle)
    return jnp.where(small, 1.0 - angle * angle / 6.0, sin_cos(safe)[0] / safe)


def _depth_factors(
    number_radpm: Real, depth_m: Real, water_depth_m: Real | None
) -> tuple[Real, Real]:
    """Return C and S, in a form that does not overflow on deep water."""
    decay = jnp.exp(-number_radpm * depth_m)
    if water_depth_m is None:
        return decay, decay
    bottom = jnp.exp(-2.0 * number_radpm * (water_depth_m - depth_m))
    scale = decay / -jnp.expm1(-2.0 * number_radpm * water_depth_m)
    return scale * (1.0 + bottom), scale * (1.0 - bottom)
