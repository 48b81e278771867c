"""The edge of a piece of water on the Earth as a component's parameter."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from kittiwake.geometry.geodesy import Geodetic, ecef_from_geodetic, tangent_plane
from kittiwake.world.world import Origin

Ring = tuple[tuple[float, float], ...]


class Shore(eqx.Module):
    """A polygon with islands by longitude and latitude, and the file that it is from.

    The first of the rings is the outline, the others are islands.
    """

    source: str = eqx.field(static=True)
    rings_rad: tuple[Float[np.ndarray, "_ 2"], ...]

    def rings_world_m(self, origin: Origin) -> tuple[Ring, ...]:
        """East and north of the origin, in the plane that touches the Earth there."""
        height_m = float(origin.altitude_m)
        zero = Geodetic(float(origin.latitude_rad), float(origin.longitude_rad), height_m)
        frame = tangent_plane(zero)

        def placed(longitude_rad: float, latitude_rad: float) -> tuple[float, float]:
            there = ecef_from_geodetic(Geodetic(latitude_rad, longitude_rad, height_m))
            place = frame.local_from_ecef(there)
            return float(place.x), float(place.y)

        return tuple(tuple(placed(*pair) for pair in ring.tolist()) for ring in self.rings_rad)
