"""What all vehicles of a scenario share."""

import equinox as eqx
import jax.numpy as jnp

from kittiwake.core.component import AbstractAtmosphere, AbstractInteraction, AbstractWind
from kittiwake.core.kinematics import Kinematics
from kittiwake.core.surroundings import Surroundings
from kittiwake.geometry.scalar import Flag, Real


class FlightArea(eqx.Module):
    """The box in which vehicles may be; a vehicle that leaves it is lost."""

    x_m: tuple[Real, Real] = (-1e5, 1e5)
    y_m: tuple[Real, Real] = (-1e5, 1e5)
    z_m: tuple[Real, Real] = (-1e5, 1e5)

    def __check_init__(self) -> None:
        """Refuses a box without inside."""
        for name in ("x_m", "y_m", "z_m"):
            low, high = getattr(self, name)
            if not low < high:
                message = f"{name}: [{low}, {high}] is empty; write the lower limit first"
                raise ValueError(message)

    def validity(self, kinematics: Kinematics) -> dict[str, Flag]:
        """By coordinate: whether a vehicle's position is inside."""
        position = kinematics.position_world_m
        return {
            "x_m": (self.x_m[0] <= position.x) & (position.x <= self.x_m[1]),
            "y_m": (self.y_m[0] <= position.y) & (position.y <= self.y_m[1]),
            "z_m": (self.z_m[0] <= position.z) & (position.z <= self.z_m[1]),
        }


class World(eqx.Module):
    """What all vehicles share; ground is the plane z = ``ground_z_m``."""

    gravity_mps2: Real
    ground_z_m: Real
    origin_altitude_m: Real
    atmosphere: AbstractAtmosphere
    wind: AbstractWind
    area: FlightArea
    interactions: tuple[AbstractInteraction, ...]

    def surroundings(self, kinematics: Kinematics) -> Surroundings:
        """What a vehicle feels there of the world alone: mean wind, still air, no others."""
        up = kinematics.position_world_m.z
        height = up - self.ground_z_m
        return Surroundings(
            gravity_mps2=jnp.asarray(self.gravity_mps2, jnp.result_type(up)),
            air=self.atmosphere.air(up + self.origin_altitude_m),
            wind_world_mps=self.wind.velocity_world_mps(height),
            height_above_ground_m=height,
            collided=jnp.asarray(False),
        )
