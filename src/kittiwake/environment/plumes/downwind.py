"""What the wind does to a plume: it carries it over the ground, and it spreads on its way.

``2 s^2 = 2 a x^b`` with the distance x downwind of the source: the variance s^2 to the sides and in
height. The ground, which nothing passes, is a mirror. Source: QRSim (R. De Nardi, 2013),
GaussianDispersionPlumeArea, with a = 0.33 and b = 0.86. The wind is the mean wind 6 m above the
ground, the same at every height.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.plume import Site

# the closed form is singular at the source itself, and means nothing as close to it as this
NEAREST_M = 0.01


class Seen(eqx.Module):
    """How a place lies to each source.

    Attributes:
        ahead_m: downwind; negative where nothing arrives.
        aside_m: across the wind.
        height_share: what the height and the mirror image below the ground contribute.
        twice_variance_m2: 2 a x^b.
    """

    ahead_m: Float[Array, " sources"]
    aside_m: Float[Array, " sources"]
    height_share: Float[Array, " sources"]
    twice_variance_m2: Float[Array, " sources"]


class Downwind(eqx.Module):
    """The wind that carries a plume over the ground, and how far the plume has spread.

    ``spread_coefficient`` a and ``spread_exponent`` b: x meters downwind the cloud has the variance
    ``a x^b`` to the sides and in height.
    """

    speed_mps: Real
    east: Real
    north: Real
    ground_z_m: Real
    spread_coefficient: Real
    spread_exponent: Real

    @classmethod
    def at(cls, site: Site, spread_coefficient: Real, spread_exponent: Real) -> "Downwind":
        """With the wind of a site."""
        wind = site.wind_world_mps
        speed = jnp.hypot(jnp.asarray(wind.x, float), jnp.asarray(wind.y, float))
        return cls(
            *(speed, wind.x / speed, wind.y / speed, site.ground_z_m),
            *(spread_coefficient, spread_exponent),
        )

    def seen_from(self, sources_world_m: Float[Array, "sources 3"], position_world_m: Vec3) -> Seen:
        """How a place lies to sources."""
        p = position_world_m
        x, y, z = (sources_world_m[:, i] for i in range(3))
        east, north = p.x - x, p.y - y
        ahead = self.east * east + self.north * north
        aside = self.east * north - self.north * east
        reached = jnp.maximum(ahead, NEAREST_M)
        twice_variance = 2.0 * self.spread_coefficient * reached**self.spread_exponent
        over, mirrored = p.z - z, p.z + z - 2.0 * self.ground_z_m
        up = jnp.exp(-over * over / twice_variance) + jnp.exp(-mirrored * mirrored / twice_variance)
        return Seen(ahead, aside, up, twice_variance)


def refuse_without_wind(site: Site) -> None:
    """Refuses still air, in which a plume that the wind carries would go nowhere."""
    wind = site.wind_world_mps
    if not (float(wind.x) or float(wind.y)):
        message = (
            "there is no wind to carry it; write wind: {type: shear, speed_at_6m_mps: 3, from_deg: "
            "45} under world, or take the plume 'gaussian'"
        )
        raise ScenarioError(message)
