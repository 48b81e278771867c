"""Reference locations for estimates of a plume's concentration, most of them in its support.

A share ``SHARE`` of them is drawn uniformly from the plume's support, where the concentration is
above ``THRESHOLD``, a thousandth: of the peak for a cloud at rest, of the emission per second for a
steady plume, and at some time of the amount of a puff for puffs. The others are drawn uniformly
from the rest of the area. Source: QRSim (R. De Nardi, 2013), plume tasks, for the share and the
threshold. Ours: all keep a distance from the limits, so that they can be flown to; the original
draws the others from the whole area, and takes the mean of puffs for their support.
"""

from abc import abstractmethod
from collections.abc import Callable
from math import log, pi, sqrt

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray
from typing_extensions import override

from kittiwake.environment.plumes.dispersion import DispersedCloud
from kittiwake.environment.plumes.downwind import Downwind
from kittiwake.environment.plumes.gaussian import GaussianCloud
from kittiwake.environment.plumes.puffs import PuffCloud
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module, field
from kittiwake.tasks.library.other_agents import rows
from kittiwake.world.plume import AbstractCloud
from kittiwake.world.world import FlightArea

SHARE, THRESHOLD = 0.8, 1e-3
# distance from the limits of the area
MARGIN_M = 2.0
# number of draws for each location
DRAWS = 16

Places = Float[Array, "places 3"]
Each = Float[Array, "sources"]
Corner = Float[Array, "3"]


class AbstractPlumeRegion(Module):
    """Support of a plume, in which it can be detected."""

    @abstractmethod
    def contains(self, position: Corner) -> Bool[Array, ""]:
        """Return True if a position is in the region."""

    @abstractmethod
    def distance_m(self, position: Corner) -> Float[Array, ""]:
        """Return the distance of a position from the nearest source."""

    @abstractmethod
    def draw(self, low: Corner, high: Corner, count: int, key: PRNGKeyArray) -> Places:
        """Draw positions in a box around the region, as far as possible between two corners."""


class GaussianRegion(AbstractPlumeRegion):
    """Region of a Gaussian cloud: an ellipsoid."""

    cloud: GaussianCloud

    @override
    def contains(self, position: Corner) -> Bool[Array, ""]:
        concentration = self.cloud.concentration(Vec3.of(position), 0.0)
        return jnp.asarray(concentration > THRESHOLD * self.cloud.peak)

    @override
    def distance_m(self, position: Corner) -> Float[Array, ""]:
        return jnp.sqrt(((position - rows(self.cloud.position_world_m)) ** 2).sum())

    @override
    def draw(self, low: Corner, high: Corner, count: int, key: PRNGKeyArray) -> Places:
        del low, high
        reach = sqrt(-2.0 * log(THRESHOLD))
        box = jax.random.uniform(key, (count, 3), jnp.result_type(float), -reach, reach)
        ahead, left, up = (box * rows(self.cloud.deviations_m)[None]).T
        c, s = jnp.cos(self.cloud.yaw_rad), jnp.sin(self.cloud.yaw_rad)
        turned = jnp.stack([c * ahead - s * left, s * ahead + c * left, up], axis=1)
        return rows(self.cloud.position_world_m)[None] + turned


class WindborneRegion(AbstractPlumeRegion):
    """Region of sources in the wind, with v = 2 a x^b at the distance x downwind.

    Attributes:
        sources_world_m: positions of the sources.
        source_exists: True for each source that exists.
        wind: dispersion of the sources' emissions downwind.
        volume: function of v for the volume of dilution, on the plume's axis.
        widest_m2: v at which the concentration falls to the threshold, where the support ends.
    """

    sources_world_m: Float[Array, "sources 3"]
    source_exists: Bool[Array, " sources"]
    wind: Downwind
    volume: Callable[[Each], Each] = field(static=True)
    widest_m2: Real

    @override
    def contains(self, position: Corner) -> Bool[Array, ""]:
        relative = self.wind.relative_to_sources(self.sources_world_m, Vec3.of(position))
        v = relative.twice_variance_m2
        share = (
            jnp.exp(-relative.aside_m * relative.aside_m / v)
            * relative.height_share
            / self.volume(v)
        )
        return (self.source_exists & (relative.ahead_m > 0.0) & (share > THRESHOLD)).any()

    @override
    def distance_m(self, position: Corner) -> Float[Array, ""]:
        distances = jnp.sqrt(((position[None] - self.sources_world_m) ** 2).sum(axis=1))
        return jnp.min(jnp.where(self.source_exists, distances, jnp.inf))

    @override
    def draw(self, low: Corner, high: Corner, count: int, key: PRNGKeyArray) -> Places:
        # with the widest v_1 the region extends to sqrt(v ln(v_1 / v)) sideways, as dilution is
        # proportional to v; this is widest at v = v_1 / e; for puffs the box is slightly too wide
        source_key, place_key = jax.random.split(key)
        odds = jnp.where(self.source_exists, 0.0, -jnp.inf)
        of = self.sources_world_m[jax.random.categorical(source_key, odds, shape=(count,))]
        wind = jnp.stack([jnp.asarray(self.wind.east), jnp.asarray(self.wind.north)])
        room = jnp.where(wind[None] > 0.0, high[None, :2] - of[:, :2], of[:, :2] - low[None, :2])
        left = (room / jnp.maximum(jnp.abs(wind), 1e-6)[None]).min(axis=1)
        a, b = self.wind.spread_coefficient, self.wind.spread_exponent
        reach = jnp.minimum(left, (self.widest_m2 / (2.0 * a)) ** (1.0 / b))
        v = jnp.minimum(2.0 * a * reach**b, self.widest_m2 / jnp.e)
        radius = 1.5 * jnp.sqrt(v * jnp.log(self.widest_m2 / v))
        draws = jax.random.uniform(place_key, (count, 3), of.dtype)
        ahead, (aside, up) = draws[:, 0] * reach, (2.0 * draws[:, 1:] - 1.0).T * radius[None]
        east, north = wind[0] * ahead - wind[1] * aside, wind[1] * ahead + wind[0] * aside
        return of + jnp.stack([east, north, up], axis=1)


def region_of(cloud: AbstractCloud) -> AbstractPlumeRegion:
    """Return the support of a cloud.

    Raises:
        TypeError: for a kind of cloud without a known support.
    """
    if isinstance(cloud, GaussianCloud):
        return GaussianRegion(cloud)
    if isinstance(cloud, DispersedCloud):
        wind, there = cloud.downwind, cloud.emissions_per_s > 0.0
        widest = 1.0 / (pi * wind.speed_mps * THRESHOLD)
        return WindborneRegion(
            cloud.sources_world_m, there, wind, lambda v: pi * wind.speed_mps * v, widest
        )
    if isinstance(cloud, PuffCloud):
        widest = THRESHOLD ** (-2.0 / 3.0) / (2.0 * pi)
        return WindborneRegion(
            cloud.sources_world_m,
            cloud.source_exists,
            cloud.downwind,
            lambda v: (2.0 * pi * v) ** 1.5,
            widest,
        )
    message = f"cloud: got a {type(cloud).__name__}, whose support is not known"
    raise TypeError(message)


def reference_locations(
    cloud: AbstractCloud, area: FlightArea, count: int, key: PRNGKeyArray
) -> Places:
    """Draw the reference locations of a plume."""
    support = region_of(cloud)
    near_key, far_key = jax.random.split(key)
    low, high = jnp.asarray([area.x_m, area.y_m, area.z_m], jnp.result_type(float)).T
    low, high = low + MARGIN_M, high - MARGIN_M
    near = support.draw(low, high, count * DRAWS, near_key)
    anywhere = jax.random.uniform(far_key, (count * DRAWS, 3), low.dtype)
    far = low[None] + (high - low)[None] * anywhere
    in_area = ((near >= low[None]) & (near <= high[None])).all(axis=1)
    inside = round(SHARE * count)
    return jnp.concatenate(
        [
            _first(near, jax.vmap(support.contains)(near) & in_area, inside),
            _first(far, ~jax.vmap(support.contains)(far), count - inside),
        ]
    )


def _first(
    places: Places, preferred: Bool[Array, " places"], count: int
) -> Float[Array, "first 3"]:
    """Return the first preferred places; others if there are too few."""
    return places[jnp.argsort(~preferred)[:count]]
