"""Waves as they are now, and the water's surface where one vessel is.

A component of amplitude a, wave vector k, angular frequency w and phase p, over a depth h::

    eta = a cos(k . x + p),    u = a w C cos(k . x + p),    u_z = a w S sin(k . x + p)
    C = cosh k(h - d) / sinh kh,    S = sinh k(h - d) / sinh kh      d: below the level of rest

with p growing by -w in a second: the linear theory of Airy (1845), as in Newman (1977), "Marine
Hydrodynamics", chapter 6. On deep water C = S = e^(-k d). Components add up.

A hull feels the mean over its footprint, a rectangle of sides L and B: of a component the share
sinc(k_L L / 2) sinc(k_B B / 2), with k_L and k_B along the sides and sinc x = sin x / x.

Valid for waves that are small against their length and the depth. Neglected: what is of second
order in the height (Stokes drift of the water, sharper crests), breaking, what a current or a
vessel does to the waves. The water at rest is at the world's zero.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.trigonometry import sin_cos
from kittiwake.geometry.vec3 import Vec3

# below this sinc is its series, 1e-16 off in double precision and less than rounding in single
SMALL_ANGLE = 1e-4


class WaterSurface(eqx.Module):
    """The surface under a vessel as its hull feels it: the mean over the rectangle that it covers.

    Attributes:
        height_world_m: of the surface over the world's zero.
        height_rate_mps: how fast it rises where the vessel is, by the water's motion alone.
        slope_east: how much it rises in a meter to the east.
        slope_north: and to the north.
        slope_east_rate_ps: how fast that grows, by the water's motion alone.
        slope_north_rate_ps: and the other.
        velocity_world_mps: of the water, on top of the current.
        acceleration_world_mps2: of the water.
    """

    height_world_m: Real
    height_rate_mps: Real
    slope_east: Real
    slope_north: Real
    slope_east_rate_ps: Real
    slope_north_rate_ps: Real
    velocity_world_mps: Vec3
    acceleration_world_mps2: Vec3


class Waterplane(eqx.Module):
    """The rectangle of water that a hull covers, and how far below the surface it is asked for."""

    x_world_m: Real
    y_world_m: Real
    yaw_rad: Real = 0.0
    length_m: Real = 0.0
    width_m: Real = 0.0
    depth_m: Real = 0.0


class Wave(eqx.Module):
    """One component: its phase is that at the world's zero now."""

    amplitude_m: Real
    east_radpm: Real
    north_radpm: Real
    frequency_radps: Real
    phase_rad: Real

    def under(self, place: Waterplane, water_depth_m: Real | None) -> WaterSurface:
        """What it adds to the surface there."""
        k_east, k_north, w = self.east_radpm, self.north_radpm, self.frequency_radps
        along = k_east * place.x_world_m + k_north * place.y_world_m
        sine, cosine = sin_cos(along + self.phase_rad)
        felt = self.amplitude_m * self._share(place)
        high, steep = felt * cosine, -felt * sine
        number = jnp.sqrt(k_east * k_east + k_north * k_north)
        level, upright = _with_depth(number, place.depth_m, water_depth_m)
        east, north = k_east / number, k_north / number
        speed, gain = w * level * high, -w * w * level * steep
        return WaterSurface(
            height_world_m=high,
            height_rate_mps=-w * steep,
            slope_east=k_east * steep,
            slope_north=k_north * steep,
            slope_east_rate_ps=w * k_east * high,
            slope_north_rate_ps=w * k_north * high,
            velocity_world_mps=Vec3(east * speed, north * speed, -w * upright * steep),
            acceleration_world_mps2=Vec3(east * gain, north * gain, -w * w * upright * high),
        )

    def _share(self, place: Waterplane) -> Real:
        """What is left of it in the mean over the rectangle."""
        sine, cosine = sin_cos(place.yaw_rad)
        forward = cosine * self.east_radpm + sine * self.north_radpm
        left = cosine * self.north_radpm - sine * self.east_radpm
        return _sinc(0.5 * forward * place.length_m) * _sinc(0.5 * left * place.width_m)


class Waves(eqx.Module):
    """All components, each field with one number of each; the depth is None on deep water."""

    amplitudes_m: Float[Array, " waves"]
    east_radpm: Float[Array, " waves"]
    north_radpm: Float[Array, " waves"]
    frequencies_radps: Float[Array, " waves"]
    phases_rad: Float[Array, " waves"]
    water_depth_m: Real | None = None

    def under(self, place: Waterplane) -> WaterSurface:
        """The surface under a vessel."""

        def one(*numbers: Float[Array, ""]) -> WaterSurface:
            return Wave(*numbers).under(place, self.water_depth_m)

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


def _with_depth(number_radpm: Real, depth_m: Real, water_depth_m: Real | None) -> tuple[Real, Real]:
    """C and S, written so that nothing overflows on deep water."""
    fading = jnp.exp(-number_radpm * depth_m)
    if water_depth_m is None:
        return fading, fading
    bottom = jnp.exp(-2.0 * number_radpm * (water_depth_m - depth_m))
    scale = fading / -jnp.expm1(-2.0 * number_radpm * water_depth_m)
    return scale * (1.0 + bottom), scale * (1.0 - bottom)
