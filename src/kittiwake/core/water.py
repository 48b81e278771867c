"""The water's surface where one vessel is."""

import equinox as eqx

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


class WaterSurface(eqx.Module):
    """The surface under a vessel as its hull feels it: the mean over the rectangle that it covers.

    Attributes:
        height_world_m: of the surface over the world's zero.
        height_rate_mps: how fast it rises where the vessel is, by the water's motion alone.
        slope_east: how much it rises in a metre to the east.
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
