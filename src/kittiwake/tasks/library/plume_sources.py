"""Built-in policy's estimate of the sources of a plume in the wind.

Known are the reference locations, the mean wind, the agents' own measurements at their estimated
positions, the plume's equations (those of ``dispersion``) and the ranges from which a scenario
draws its sources. Unknown are the positions, the number and the emissions of the sources.

Most reference locations lie in the plume, so that those downwind of one source fill a tube along
the wind with the source at its upwind end. Each of these tubes gets particles: possible positions
of its source. Each particle has a Kalman filter of the emission Q, with the concentration ``Q g``
of the equations,

    z = Q g + noise,    m += K (z - m g),    P -= K g P,    K = P g / (g^2 P + R)

whose innovations weight the particles. Neglected: the uncertainty of the other sources in the
update of one source.
"""

from dataclasses import replace
from math import log, sqrt
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# largest number of tubes, and lowest number of locations in a tube
SOURCES, LEAST_LOCATIONS = 5, 6
PARTICLES = 64
# density of locations that lie in line with a tube by chance
OUTLIERS_PER_M = 1e-3
# a and b of the equations
SPREAD, EXPONENT = 0.33, 0.86
# noise of the sensor; relative error of the equations due to position errors
NOISE, MODEL_ERROR = 0.01, 0.2
# effective share of particles below which they are resampled, and the jitter of new ones
MIN_EFFECTIVE_SHARE, JITTER_M = 0.4, 0.3
# lower bound of the distance from the source, which is singular
NEAREST_M = 0.3
# concentration at which the support of the plume ends
THRESHOLD = 1e-3
# puffs: range of amounts, mean interval, and number in a pattern
AMOUNTS, INTERVAL_S, PATTERN = (0.1, 2.5), 5.0, 40
MEAN_AMOUNT = 0.5 * (AMOUNTS[0] + AMOUNTS[1])


class Emissions(NamedTuple):
    """Prior of the mean emission of a source per second.

    ``fluctuation`` is the relative deviation of a measurement from the mean, due to puffs.
    """

    mean: float
    deviation: float
    fluctuation: float


# continuous Q from 0.1 to 2.5; puffs of the same amounts, of which Q / 2^(3/2) counts
STEADY = Emissions(MEAN_AMOUNT, (AMOUNTS[1] - AMOUNTS[0]) / sqrt(12.0), 0.0)
PUFFS = Emissions(MEAN_AMOUNT / INTERVAL_S / 2.0**1.5, 0.02, 2.0)


class SourceBeliefs(Module):
    """Particle filter of the source of each tube.

    Attributes:
        positions_world_m: position of each particle.
        log_weights: log weight of each particle.
        emissions: mean of Q for each particle.
        variances: variance of Q for each particle.
        exists: True for each tube that exists.
    """

    positions_world_m: Float[Array, "sources particles 3"]
    log_weights: Float[Array, "sources particles"]
    emissions: Float[Array, "sources particles"]
    variances: Float[Array, "sources particles"]
    exists: Bool[Array, " sources"]

    @classmethod
    def initial(
        cls,
        locations_world_m: Float[Array, "locations 3"],
        wind: Vec3,
        ground_m: Real,
        prior: Emissions,
        key: PRNGKeyArray,
    ) -> "SourceBeliefs":
        """Return the beliefs from the reference locations alone."""
        axes = Axes.of(wind)
        places, exists = _tubes(axes.to_wind_axes(locations_world_m), _widest_m2(axes, prior), key)
        low = jnp.asarray(ground_m, places.dtype) + 0.5
        world = axes.to_world_axes(places.reshape(-1, 3)).reshape(places.shape)
        world = world.at[..., 2].max(low)
        count = places.shape[:2]
        return cls(
            world,
            jnp.full(count, -log(PARTICLES), places.dtype),
            jnp.full(count, prior.mean, places.dtype),
            jnp.full(count, prior.deviation**2, places.dtype),
            exists,
        )

    def shares(self) -> Float[Array, "sources particles"]:
        """Return the weight of each particle; 0 without a tube."""
        return jnp.where(self.exists[:, None], jax.nn.softmax(self.log_weights, axis=1), 0.0)

    def sources_world_m(self) -> Float[Array, "sources 3"]:
        """Return the mean position of each source."""
        return (self.shares()[..., None] * self.positions_world_m).sum(axis=1)

    def concentrations(
        self, positions_world_m: Float[Array, "places 3"], wind: Vec3, ground_m: Real
    ) -> Float[Array, "sources places"]:
        """Return the expected concentration from each source at some positions."""
        axes, weights = Axes.of(wind), self.shares() * self.emissions

        def of(place: Float[Array, "3"]) -> Float[Array, " sources"]:
            return (
                weights * mean_concentration(axes, self.positions_world_m, place, ground_m)
            ).sum(axis=1)

        return jax.vmap(of)(positions_world_m).T

    def update(
        self,
        position_world_m: Float[Array, "3"],
        measured: Real,
        wind: Vec3,
        ground_m: Real,
        prior: Emissions,
        key: PRNGKeyArray,
    ) -> "SourceBeliefs":
        """Return the beliefs after a measurement at a position."""
        axes = Axes.of(wind)
        gains = mean_concentration(axes, self.positions_world_m, position_world_m, ground_m)
        expected = (self.shares() * self.emissions * gains).sum(axis=1)
        others = expected.sum() - expected
        own = self.emissions * gains
        spread = MODEL_ERROR**2 + prior.fluctuation**2
        noise = NOISE**2 + spread * (own**2 + (others**2)[:, None])
        variance = gains**2 * self.variances + noise
        innovation = measured - others[:, None] - own
        weights = self.log_weights - 0.5 * (innovation**2 / variance + jnp.log(variance))
        gain = self.variances * gains / variance
        later = replace(
            self,
            log_weights=weights - jax.nn.logsumexp(weights, axis=1, keepdims=True),
            emissions=jnp.maximum(self.emissions + gain * innovation, 0.0),
            variances=self.variances * (1.0 - gain * gains),
        )
        return later._resampled(key)

    def _resampled(self, key: PRNGKeyArray) -> "SourceBeliefs":
        """Resample each tube with few effective particles, with jitter."""
        pick_key, jitter_key = jax.random.split(key)
        weights = jax.nn.softmax(self.log_weights, axis=1)
        few = 1.0 / (weights**2).sum(axis=1) < MIN_EFFECTIVE_SHARE * PARTICLES
        start = jax.random.uniform(pick_key, (len(weights), 1), weights.dtype)
        steps = (jnp.arange(PARTICLES, dtype=weights.dtype)[None] + start) / PARTICLES
        picks = jax.vmap(jnp.searchsorted)(jnp.cumsum(weights, axis=1), steps)
        picks = jnp.minimum(picks, PARTICLES - 1).astype(jnp.int32)

        def pick_rows(leaf: Array) -> Array:
            return jax.vmap(lambda row, pick: row[pick])(leaf, picks)

        places = pick_rows(self.positions_world_m)
        jitter = jax.random.normal(jitter_key, places.shape, places.dtype)
        resampled = SourceBeliefs(
            places + JITTER_M * jitter,
            jnp.full_like(weights, -log(PARTICLES)),
            pick_rows(self.emissions),
            pick_rows(self.variances),
            self.exists,
        )

        def where_few(new: Array, old: Array) -> Array:
            return jnp.where(jnp.reshape(few, (-1,) + (1,) * (new.ndim - 1)), new, old)

        return replace(jax.tree.map(where_few, resampled, self), exists=self.exists)


class Axes(NamedTuple):
    """Directions along and across the wind."""

    east: Real
    north: Real
    speed_mps: Real

    @classmethod
    def of(cls, wind: Vec3) -> "Axes":
        """Return the axes of a wind."""
        speed = jnp.maximum(jnp.hypot(jnp.asarray(wind.x), jnp.asarray(wind.y)), 1e-3)
        return cls(wind.x / speed, wind.y / speed, speed)

    def to_wind_axes(self, world_m: Float[Array, "places 3"]) -> Float[Array, "places 3"]:
        """Return positions in axes of the wind: downwind, across, up."""
        x, y, z = world_m.T
        return jnp.stack([self.east * x + self.north * y, self.east * y - self.north * x, z], -1)

    def to_world_axes(self, along_m: Float[Array, "places 3"]) -> Float[Array, "places 3"]:
        """Return positions in world axes from axes of the wind."""
        x, y, z = along_m.T
        return jnp.stack([self.east * x - self.north * y, self.north * x + self.east * y, z], -1)


def mean_concentration(
    axes: Axes, sources_world_m: Float[Array, "*n 3"], place: Float[Array, "3"], ground_m: Real
) -> Float[Array, "*n"]:
    """Return the mean concentration at a position from sources of unit emission per second."""
    x, y, z = (place[i] - sources_world_m[..., i] for i in range(3))
    ahead, aside = axes.east * x + axes.north * y, axes.east * y - axes.north * x
    mirrored = place[2] + sources_world_m[..., 2] - 2.0 * ground_m
    v = 2.0 * SPREAD * jnp.maximum(ahead, NEAREST_M) ** EXPONENT
    up = jnp.exp(-(z**2) / v) + jnp.exp(-(mirrored**2) / v)
    dense = jnp.exp(-(aside**2) / v) * up / (jnp.pi * axes.speed_mps * v)
    return jnp.where(ahead > 0.0, dense, 0.0)


def puff_pattern(
    axes: Axes,
    sources_world_m: Float[Array, "sources 3"],
    positions_world_m: Float[Array, "places 3"],
    time_s: Real,
) -> Float[Array, "sources places"]:
    """Return samples of the ratio of concentration to its mean, for puffs of random times.

    The puffs of each source form a fixed random pattern that repeats; on the axis of a tube its
    mean over time is 1.
    """
    gap_key, amount_key = jax.random.split(seed_key(0))
    gaps = INTERVAL_S * jax.random.exponential(gap_key, (SOURCES, PATTERN), positions_world_m.dtype)
    amounts = jax.random.uniform(amount_key, gaps.shape, gaps.dtype, *AMOUNTS)
    left_s, period_s = jnp.cumsum(gaps, axis=1), gaps.sum(axis=1)
    mean = amounts.sum(axis=1) / period_s

    def of(place: Float[Array, "3"]) -> Float[Array, " sources"]:
        offsets = place[None] - sources_world_m
        ahead = axes.east * offsets[:, 0] + axes.north * offsets[:, 1]
        v = 2.0 * SPREAD * jnp.maximum(ahead, NEAREST_M) ** EXPONENT
        late = ahead / axes.speed_mps - time_s
        behind = (late[:, None] + left_s) / period_s[:, None]
        behind = (behind - jnp.round(behind)) * period_s[:, None] * axes.speed_mps
        shapes = jnp.exp(-(behind**2) / v[:, None])
        return (amounts * shapes).sum(axis=1) * axes.speed_mps / (mean * jnp.sqrt(jnp.pi * v))

    return jax.vmap(of)(positions_world_m).T


def _widest_m2(axes: Axes, prior: Emissions) -> Real:
    """Return the v at which the plume's support ends."""
    if prior.fluctuation:
        return THRESHOLD ** (-2.0 / 3.0) / (2.0 * jnp.pi)
    return 1.0 / (jnp.pi * axes.speed_mps * THRESHOLD)


def _tubes(
    locations: Float[Array, "locations 3"], widest_m2: Real, key: PRNGKeyArray
) -> tuple[Float[Array, "sources particles 3"], Bool[Array, " sources"]]:
    """Return particles of the source of each tube, in axes of the wind."""
    radius = jnp.sqrt(widest_m2 / jnp.e)
    free = jnp.ones(len(locations), bool)
    found, exists = [], []
    for own in jax.random.split(key, SOURCES):
        inside = _densest(locations, free, radius)
        found.append(_upwind_of(locations, inside, widest_m2, own))
        exists.append(inside.sum() >= LEAST_LOCATIONS)
        free = free & ~inside
    return jnp.stack(found), jnp.stack(exists)


def _densest(
    locations: Float[Array, "locations 3"], free: Bool[Array, " locations"], radius_m: Real
) -> Bool[Array, " locations"]:
    """Return the locations in the tube with most of the free locations."""
    middles = locations[:, 1:]

    def near(middles: Array, radius_m: Real) -> Array:
        squared = ((middles[:, None] - locations[None, :, 1:]) ** 2).sum(axis=2)
        return (squared < radius_m**2) & free[None]

    for _ in range(3):
        members = near(middles, radius_m)
        share = members.astype(locations.dtype)
        share = share / jnp.maximum(share.sum(axis=1, keepdims=True), 1.0)
        middles = jnp.where(members.any(axis=1)[:, None], share @ locations[:, 1:], middles)
    # slightly wider, as the mean of few locations is not on the axis of the tube
    members = near(middles, 1.3 * radius_m)
    counts = jnp.where(free, members.sum(axis=1), 0)
    return members[jnp.argmax(counts)]


def _ends(
    ahead_m: Float[Array, " locations"], inside: Bool[Array, " locations"]
) -> tuple[Real, Real]:
    """Return the first and the last position of the locations in a tube, downwind.

    Some lie in line by chance. The first location is the one of largest likelihood: random points
    of density n / L for the n from there on, and of density ``OUTLIERS_PER_M`` before.
    """
    count = inside.sum().astype(ahead_m.dtype)
    places = jnp.sort(jnp.where(inside, ahead_m, jnp.inf))
    last = jnp.max(jnp.where(inside, ahead_m, -jnp.inf), initial=-1e3)
    before = jnp.arange(len(places), dtype=ahead_m.dtype)
    behind = jnp.maximum(count - before, 1.0)
    length = jnp.maximum(last - places, 1.0)
    score = behind * (jnp.log(behind / length) - 1.0) + before * log(OUTLIERS_PER_M)
    first = places[jnp.argmax(jnp.where(before < count - 1.0, score, -jnp.inf))]
    return jnp.where(count > 0.0, first, 1e3), last


def _upwind_of(
    locations: Float[Array, "locations 3"],
    inside: Bool[Array, " locations"],
    widest_m2: Real,
    key: PRNGKeyArray,
) -> Float[Array, "particles 3"]:
    """Return possible positions of the source of a tube.

    Locations fill a tube uniformly, so that the volume upwind of the first one is exponentially
    distributed, with the tube's volume per location as its mean.
    """
    ahead_key, aside_key = jax.random.split(key)
    dtype = locations.dtype
    count = jnp.maximum(inside.sum(), 1).astype(dtype)
    share = inside.astype(dtype) / count
    first, last = _ends(locations[:, 0], inside)
    middle = share @ locations[:, 1:]
    spread = share @ (locations[:, 1:] - middle[None]) ** 2
    x = jnp.linspace(0.0, 80.0, 161, dtype=dtype)
    v = jnp.minimum(2.0 * SPREAD * x**EXPONENT, widest_m2)
    across = jnp.where(x > 0.0, v * jnp.log(widest_m2 / jnp.maximum(v, 1e-6)), 0.0)
    volume = jnp.cumsum(jnp.pi * across) * (x[1] - x[0])
    reach = jnp.clip(last - first + 5.0, 5.0, x[-1])
    each = jnp.interp(reach, x, volume) / count * jnp.maximum((last - first) / reach, 1.0)
    steps = (jnp.arange(PARTICLES, dtype=dtype) + 0.5) / PARTICLES
    upwind = jnp.interp(-jnp.log1p(-steps) * each, volume, x)
    upwind = jax.random.permutation(ahead_key, upwind)
    draws = jax.random.normal(aside_key, (PARTICLES, 2), dtype)
    around = middle[None] + draws * jnp.sqrt(spread / count + 0.1)[None]
    return jnp.concatenate([(first - upwind)[:, None], around], axis=1)
