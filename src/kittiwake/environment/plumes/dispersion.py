"""A plume that the wind draws out: what leaves its sources without a pause, on average.

    c = sum Q / (pi u v) exp(-y^2 / v) (exp(-(z - zs)^2 / v) + exp(-(z + zs)^2 / v)),  v = 2 a x^b

x, y: downwind of the source and across; z, zs: heights of the place and the source; u: wind speed;
Q: emission. Upwind there is nothing. Source: QRSim (R. De Nardi, 2013),
GaussianDispersionPlumeArea: one to five sources, Q drawn from 0.1 to 2.5 for each flight.
"""

from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.plumes.downwind import Downwind, refuse_without_wind
from kittiwake.environment.plumes.sources import Range, Sources, drawn_between, refuse_unordered
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.plume import AbstractCloud, AbstractPlume, Site


class DispersedCloud(AbstractCloud):
    """Of several sources in one wind."""

    sources_world_m: Float[Array, "sources 3"]
    emissions_per_s: Float[Array, " sources"]
    downwind: Downwind

    @override
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        del time_s
        seen = self.downwind.seen_from(self.sources_world_m, position_world_m)
        v = seen.twice_variance_m2
        across = jnp.exp(-seen.aside_m * seen.aside_m / v)
        dense = self.emissions_per_s / (jnp.pi * self.downwind.speed_mps * v)
        return jnp.where(seen.ahead_m > 0.0, dense * across * seen.height_share, 0.0).sum()


class DispersionPlume(AbstractPlume):
    """What the wind carries away from sources that never pause.

    ``emission_range_per_s`` is from how much to how much leaves a source, drawn for each flight.
    """

    sources: Sources = Sources()
    emission_range_per_s: Range = (0.1, 2.5)
    spread_coefficient: Annotated[Real, POSITIVE] = 0.33
    spread_exponent: Annotated[Real, POSITIVE] = 0.86

    def __check_init__(self) -> None:
        """Refuses a range with the higher limit first."""
        refuse_unordered("emission_range_per_s", self.emission_range_per_s)

    @override
    def check(self, site: Site, period_s: float) -> None:
        del period_s
        refuse_without_wind(site)
        self.sources.check(site.area)

    @override
    def begin(self, site: Site, key: PRNGKeyArray) -> DispersedCloud:
        place_key, emission_key = jax.random.split(key)
        placed = self.sources.placed(site.area, place_key)
        emissions = drawn_between(self.emission_range_per_s, emission_key, len(placed.there))
        return DispersedCloud(
            placed.positions_world_m,
            jnp.where(placed.there, emissions, 0.0),
            Downwind.at(site, self.spread_coefficient, self.spread_exponent),
        )
