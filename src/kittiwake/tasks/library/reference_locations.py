"""Places at which somebody is to say how dense a plume is: most of them where there is some of it.

``SHARE`` of them are drawn evenly from the plume's support, where a source could be noticed: its
concentration is above a thousandth of its peak for a cloud at rest, of what leaves it per second
for one that the wind draws out, and of what a puff holds at some time for puffs. The others are
drawn evenly from the rest of the area. Source: QRSim (R. De Nardi, 2013), plume tasks, as far as
the share and the threshold go. Ours: all keep away from the limits, so that one can fly there; the
original draws the others from the whole area, and takes the mean of puffs for their support.
"""

from abc import abstractmethod
from collections.abc import Callable
from math import log, pi, sqrt
from typing import Any

import equinox as eqx
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
from kittiwake.tasks.library.other_agents import rows
from kittiwake.world.world import FlightArea

SHARE, THRESHOLD = 0.8, 1e-3
# from the limits of the area
MARGIN_M = 2.0
# so many draws for each place
DRAWS = 16

Places = Float[Array, "places 3"]
Each = Float[Array, "sources"]
Corner = Float[Array, "3"]


class AbstractPlumeRegion(eqx.Module):
    """Where a plume is to be noticed."""

    @abstractmethod
    def holds(self, place: Corner) -> Bool[Array, ""]:
        """Whether a place is in it."""

    @abstractmethod
    def away_m(self, place: Corner) -> Float[Array, ""]:
        """How far a place is from the nearest source."""

    @abstractmethod
    def drawn(self, low: Corner, high: Corner, count: int, key: PRNGKeyArray) -> Places:
        """So many places, some of them in it, and those as far as possible between two corners."""


class StillRegion(AbstractPlumeRegion):
    """That of a Gaussian: an ellipsoid."""

    cloud: GaussianCloud

    @override
    def holds(self, place: Corner) -> Bool[Array, ""]:
        dense = self.cloud.concentration(Vec3.of(place), 0.0)
        return jnp.asarray(dense > THRESHOLD * self.cloud.peak)

    @override
    def away_m(self, place: Corner) -> Float[Array, ""]:
        return jnp.sqrt(((place - rows(self.cloud.position_world_m)) ** 2).sum())

    @override
    def drawn(self, low: Corner, high: Corner, count: int, key: PRNGKeyArray) -> Places:
        del low, high
        reach = sqrt(-2.0 * log(THRESHOLD))
        box = jax.random.uniform(key, (count, 3), jnp.result_type(float), -reach, reach)
        ahead, left, up = (box * rows(self.cloud.deviations_m)[None]).T
        c, s = jnp.cos(self.cloud.yaw_rad), jnp.sin(self.cloud.yaw_rad)
        turned = jnp.stack([c * ahead - s * left, s * ahead + c * left, up], axis=1)
        return rows(self.cloud.position_world_m)[None] + turned


class WindborneRegion(AbstractPlumeRegion):
    """That of sources in the wind, in which v = 2 a x^b grows with the way x.

    Attributes:
        sources_world_m: where they are.
        there: which of them there are.
        wind: what carries what leaves them.
        volume: by v what it is diluted in, along the middle of the plume.
        widest_m2: v where that is all too much, so that the support ends.
    """

    sources_world_m: Float[Array, "sources 3"]
    there: Bool[Array, " sources"]
    wind: Downwind
    volume: Callable[[Each], Each] = eqx.field(static=True)
    widest_m2: Real

    @override
    def holds(self, place: Corner) -> Bool[Array, ""]:
        seen = self.wind.seen_from(self.sources_world_m, Vec3.of(place))
        v = seen.twice_variance_m2
        share = jnp.exp(-seen.aside_m * seen.aside_m / v) * seen.height_share / self.volume(v)
        return (self.there & (seen.ahead_m > 0.0) & (share > THRESHOLD)).any()

    @override
    def away_m(self, place: Corner) -> Float[Array, ""]:
        ways = jnp.sqrt(((place[None] - self.sources_world_m) ** 2).sum(axis=1))
        return jnp.min(jnp.where(self.there, ways, jnp.inf))

    @override
    def drawn(self, low: Corner, high: Corner, count: int, key: PRNGKeyArray) -> Places:
        # the region reaches sqrt(v ln(v_1 / v)) aside with the widest v_1, as dilution goes with v;
        # for puffs a box is a little too wide; it is widest as v = v_1 / e
        source_key, place_key = jax.random.split(key)
        odds = jnp.where(self.there, 0.0, -jnp.inf)
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


def region_of(cloud: Any) -> AbstractPlumeRegion:
    """That of a cloud.

    Raises:
        TypeError: for one of a kind of which it is not known.
    """
    if isinstance(cloud, GaussianCloud):
        return StillRegion(cloud)
    if isinstance(cloud, DispersedCloud):
        wind, there = cloud.downwind, cloud.emissions_per_s > 0.0
        widest = 1.0 / (pi * wind.speed_mps * THRESHOLD)
        return WindborneRegion(
            cloud.sources_world_m, there, wind, lambda v: pi * wind.speed_mps * v, widest
        )
    if isinstance(cloud, PuffCloud):
        widest = THRESHOLD ** (-2.0 / 3.0) / (2.0 * pi)
        where = cloud.sources_world_m, cloud.there, cloud.downwind
        return WindborneRegion(*where, lambda v: (2.0 * pi * v) ** 1.5, widest)
    message = f"no support is known of a {type(cloud).__name__}"
    raise TypeError(message)


def reference_locations(cloud: Any, area: FlightArea, count: int, key: PRNGKeyArray) -> Places:
    """So many places about a plume."""
    support = region_of(cloud)
    near_key, far_key = jax.random.split(key)
    low, high = jnp.asarray([area.x_m, area.y_m, area.z_m], jnp.result_type(float)).T
    low, high = low + MARGIN_M, high - MARGIN_M
    near = support.drawn(low, high, count * DRAWS, near_key)
    anywhere = jax.random.uniform(far_key, (count * DRAWS, 3), low.dtype)
    far = low[None] + (high - low)[None] * anywhere
    in_area = ((near >= low[None]) & (near <= high[None])).all(axis=1)
    inside = round(SHARE * count)
    return jnp.concatenate(
        [
            _first(near, jax.vmap(support.holds)(near) & in_area, inside),
            _first(far, ~jax.vmap(support.holds)(far), count - inside),
        ]
    )


def _first(places: Places, wanted: Bool[Array, " places"], count: int) -> Float[Array, "first 3"]:
    """The first of those that are wanted; others where there are too few."""
    return places[jnp.argsort(~wanted)[:count]]
