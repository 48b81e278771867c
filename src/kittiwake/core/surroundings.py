"""What the world is like where one vehicle is, at one instant."""

from dataclasses import replace

import equinox as eqx

from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3


class Air(eqx.Module):
    """The state of the air at a height."""

    temperature_k: Real
    pressure_pa: Real
    density_kgpm3: Real


class Surroundings(eqx.Module):
    """What a vehicle feels of the world and of the other vehicles; held over one physics step.

    ``nearest_vehicle_m`` is infinite where nobody asked for distances between vehicles. The current
    is that of the water there, or below.
    """

    gravity_mps2: Real
    air: Air
    wind_world_mps: Vec3
    height_above_ground_m: Real
    nearest_vehicle_m: Real
    current_world_mps: Vec3 = Vec3(0.0, 0.0, 0.0)

    def blown(self, gust_world_mps: Vec3) -> "Surroundings":
        """The same with a gust added to the wind."""
        return replace(self, wind_world_mps=self.wind_world_mps + gust_world_mps)
