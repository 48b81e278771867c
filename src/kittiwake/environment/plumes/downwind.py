"""Transport and spread of a plume in the wind, above the ground.

``2 s^2 = 2 a x^b`` with the distance x downwind of the source: the variance s^2, lateral and
vertical. The ground reflects the plume. Source: QRSim (R. De Nardi, 2013),
GaussianDispersionPlumeArea, with a = 0.33 and b = 0.86. The wind is the mean wind 6 m above the
ground, the same at every height.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module
from kittiwake.world.plume import Site

# the closed form is singular at the source, and not valid as close to it as this
NEAREST_M = 0.01


class DownwindPosition(Module):
    """Position of a point relative to each source.

    Attributes:
        ahead_m: distance downwind; negative where the plume does not arrive.
        aside_m: distance across the wind.
        height_share: vertical factor of the source and its mirror image below the ground.
        twice_variance_m2: 2 a x^b.
    """

    ahead_m: Float[Array, " sources"]
    aside_m: Float[Array, " sources"]
    height_share: Float[Array, " sources"]
    twice_variance_m2: Float[Array, " sources"]


class Downwind(Module):
    """Wind that carries a plume above the ground, and parameters of its spread.

    ``spread_coefficient`` a and ``spread_exponent`` b: x meters downwind the cloud has the variance
    ``a x^b``, lateral and vertical.
    """

    speed_mps: Real
    east: Real
    north: Real
    ground_z_m: Real
    spread_coefficient: Real
    spread_exponent: Real

    @classmethod
    def at(cls, site: Site, spread_coefficient: Real, spread_exponent: Real) -> "Downwind":
        """Return the transport by the wind of a site."""
        wind = site.wind_world_mps
        speed = jnp.hypot(jnp.asarray(wind.x, float), jnp.asarray(wind.y, float))
        return cls(
            speed_mps=speed,
            east=wind.x / speed,
            north=wind.y / speed,
            ground_z_m=site.ground_z_m,
            spread_coefficient=spread_coefficient,
            spread_exponent=spread_exponent,
        )

    def relative_to_sources(
        self, sources_world_m: Float[Array, "sources 3"], position_world_m: Vec3
    ) -> DownwindPosition:
        """Return the position of a point relative to sources."""
        p = position_world_m
        x, y, z = (sources_world_m[:, i] for i in range(3))
        east, north = p.x - x, p.y - y
        ahead = self.east * east + self.north * north
        aside = self.east * north - self.north * east
        reached = jnp.maximum(ahead, NEAREST_M)
        twice_variance = 2.0 * self.spread_coefficient * reached**self.spread_exponent
        above, mirrored = p.z - z, p.z + z - 2.0 * self.ground_z_m
        up = jnp.exp(-above * above / twice_variance) + jnp.exp(
            -mirrored * mirrored / twice_variance
        )
        return DownwindPosition(ahead, aside, up, twice_variance)


def require_wind(site: Site) -> None:
    """Raise ScenarioError for still air, in which a plume cannot be carried."""
    wind = site.wind_world_mps
    if not (float(wind.x) or float(wind.y)):
        message = (
            "requires a wind; write wind: {type: shear, speed_at_6m_mps: 3, from_deg: "
            "45} under world, or use the plume 'gaussian'"
        )
        raise ScenarioError(message)
