"""Steady plume of continuous sources in the wind: the mean concentration.

    c = sum Q / (pi u v) exp(-y^2 / v) (exp(-(z - zs)^2 / v) + exp(-(z + zs)^2 / v)),  v = 2 a x^b

x, y: downwind of the source and across; z, zs: heights of the point and the source; u: wind speed;
Q: emission. The concentration upwind is zero. Source: QRSim (R. De Nardi, 2013),
GaussianDispersionPlumeArea: one to five sources, Q drawn from 0.1 to 2.5 for each flight.
"""

from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.environment.plumes.downwind import Downwind, require_wind
from kittiwake.environment.plumes.sources import Range, Sources, random_values, validate_order
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.plume import AbstractCloud, AbstractPlume, Site


class DispersedCloud(AbstractCloud):
    """Steady plume of several sources in one wind."""

    sources_world_m: Float[Array, "sources 3"]
    emissions_per_s: Float[Array, " sources"]
    downwind: Downwind

    @override
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        del time_s
        relative = self.downwind.relative_to_sources(self.sources_world_m, position_world_m)
        v = relative.twice_variance_m2
        across = jnp.exp(-relative.aside_m * relative.aside_m / v)
        peak = self.emissions_per_s / (jnp.pi * self.downwind.speed_mps * v)
        return jnp.where(relative.ahead_m > 0.0, peak * across * relative.height_share, 0.0).sum()


class DispersionPlume(AbstractPlume[DispersedCloud]):
    """Steady plume of continuous sources in the wind.

    ``emission_range_per_s`` is the range of the emission of a source, drawn for each flight.

    Attributes:
        sources: sources, or the range of their number.
        emission_range_per_s: range from which emissions are drawn.
        spread_coefficient: a, of the spread with the distance.
        spread_exponent: b, of the spread with the distance.
    """

    sources: Sources = Sources()
    emission_range_per_s: Range = (0.1, 2.5)
    spread_coefficient: Annotated[Real, POSITIVE] = 0.33
    spread_exponent: Annotated[Real, POSITIVE] = 0.86

    def __post_init__(self) -> None:
        """Raise ValueError if the higher limit comes first."""
        validate_order("emission_range_per_s", self.emission_range_per_s)

    @override
    def check(self, site: Site, period_s: float) -> None:
        del period_s
        require_wind(site)
        self.sources.check(site.area)

    @override
    def init_cloud(self, site: Site, key: PRNGKeyArray) -> DispersedCloud:
        place_key, emission_key = jax.random.split(key)
        placed = self.sources.sample(site.area, place_key)
        emissions = random_values(self.emission_range_per_s, emission_key, len(placed.exists))
        return DispersedCloud(
            placed.positions_world_m,
            jnp.where(placed.exists, emissions, 0.0),
            Downwind.at(site, self.spread_coefficient, self.spread_exponent),
        )

    @classmethod
    @override
    def examples(cls) -> dict[str, "DispersionPlume"]:
        return {
            "drawn": cls(Sources(number=(1, 3))),
            "given": cls(Sources((Vec3(0.0, 0.0, 9.0), Vec3(1.0, 2.0, 5.0)))),
        }
