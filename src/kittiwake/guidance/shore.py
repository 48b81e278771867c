"""Shore of a body of water on the Earth, as a component's parameter."""

import numpy as np
from jaxtyping import Float

from kittiwake.geometry.geodesy import Geodetic, ecef_from_geodetic, tangent_plane
from kittiwake.pytree import Module, field
from kittiwake.world.world import Origin

Ring = tuple[tuple[float, float], ...]


class Shore(Module):
    """Polygon with islands in longitude and latitude, with its source file.

    The first of the rings is the outline, the others are islands.
    """

    source: str = field(static=True)
    rings_rad: tuple[Float[np.ndarray, "_ 2"], ...]

    def rings_world_m(self, origin: Origin) -> tuple[Ring, ...]:
        """Return the rings as east and north of the origin, in its tangent plane."""
        height_m = float(origin.altitude_m)
        zero = Geodetic(float(origin.latitude_rad), float(origin.longitude_rad), height_m)
        frame = tangent_plane(zero)

        def east_north(longitude_rad: float, latitude_rad: float) -> tuple[float, float]:
            ecef = ecef_from_geodetic(Geodetic(latitude_rad, longitude_rad, height_m))
            local = frame.local_from_ecef(ecef)
            return float(local.x), float(local.y)

        return tuple(tuple(east_north(*pair) for pair in ring.tolist()) for ring in self.rings_rad)
