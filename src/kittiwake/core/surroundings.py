"""What the world is like where one vehicle is, at one instant."""

import equinox as eqx

from kittiwake.geometry.scalar import Flag, Real
from kittiwake.geometry.vec3 import Vec3


class Air(eqx.Module):
    """The state of the air at a height."""

    temperature_k: Real
    pressure_pa: Real
    density_kgpm3: Real


class Surroundings(eqx.Module):
    """What a vehicle feels of the world and of the other vehicles; held over one physics step."""

    gravity_mps2: Real
    air: Air
    wind_world_mps: Vec3
    height_above_ground_m: Real
    collided: Flag

    def blown(self, gust_world_mps: Vec3) -> "Surroundings":
        """The same with a gust added to the wind."""
        return Surroundings(
            self.gravity_mps2,
            self.air,
            self.wind_world_mps + gust_world_mps,
            self.height_above_ground_m,
            self.collided,
        )
