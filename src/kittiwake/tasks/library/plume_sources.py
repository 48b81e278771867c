"""Where agents without learning believe the sources of a plume in the wind to be.

What is believed follows from the reference locations and the mean wind, which agents are told, and
from what their own sensors say at the places that they estimate; besides, the plume's equations
(those of ``dispersion``) and the ranges that a scenario draws its sources from are known. Where the
sources are is not, nor how many, nor how much leaves each.

Most reference locations lie in the plume, so that those behind one source fill a tube along the
wind whose upwind end the source is. Each of these tubes gets particles: places where its source may
be. To each of them belongs a Kalman filter of the emission Q, with the concentration ``Q g`` that
the equations give,

    z = Q g + noise,    m += K (z - m g),    P -= K g P,    K = P g / (g^2 P + R)

of which the innovations weigh the particles. Neglected: what is believed of one source while the
others are looked for counts as known.
"""

from dataclasses import replace
from math import log, sqrt
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from kittiwake.core.keys import seed_key
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

# tubes that are looked for, and how many locations one has at least
SOURCES, LEAST_LOCATIONS = 5, 6
PARTICLES = 64
# locations that lie in the line of a tube by chance
BY_CHANCE_PER_M = 1e-3
# of the equations: a and b
SPREAD, EXPONENT = 0.33, 0.86
# of the sensor; and of what the equations give, for errors of the place
NOISE, MODEL_ERROR = 0.01, 0.2
# particles are drawn anew when no more than so many of them count, and then so far apart
FEWEST, JITTER_M = 0.4, 0.3
# the singular source itself is as far away as this
NEAREST_M = 0.3
# of what a location holds, where the tube ends
THRESHOLD = 1e-3
# of puffs: what one holds, the time between two on average, and how many there are in a pattern
AMOUNTS, INTERVAL_S, PATTERN = (0.1, 2.5), 5.0, 40
MEAN_AMOUNT = 0.5 * (AMOUNTS[0] + AMOUNTS[1])


class Emissions(NamedTuple):
    """What may leave a source in a second on average, before anything is measured.

    ``fluctuating`` is the share by which a measurement differs from the mean: that of puffs.
    """

    mean: float
    deviation: float
    fluctuating: float


# Q from 0.1 to 2.5 without a pause; puffs of as much, of which Q / 2^(3/2) counts
STEADY = Emissions(MEAN_AMOUNT, (AMOUNTS[1] - AMOUNTS[0]) / sqrt(12.0), 0.0)
PUFFS = Emissions(MEAN_AMOUNT / INTERVAL_S / 2.0**1.5, 0.02, 2.0)


class SourceBeliefs(eqx.Module):
    """Particles of each tube.

    Attributes:
        places_world_m: of the sources.
        log_weights: of these places.
        emissions: the mean Q of each.
        variances: of Q.
        there: whether there is such a tube.
    """

    places_world_m: Float[Array, "sources particles 3"]
    log_weights: Float[Array, "sources particles"]
    emissions: Float[Array, "sources particles"]
    variances: Float[Array, "sources particles"]
    there: Bool[Array, " sources"]

    @classmethod
    def begun(
        cls,
        locations_world_m: Float[Array, "locations 3"],
        wind: Vec3,
        ground_m: Real,
        prior: Emissions,
        key: PRNGKeyArray,
    ) -> "SourceBeliefs":
        """By the reference locations alone."""
        axes = Axes.of(wind)
        places, there = _tubes(axes.along(locations_world_m), _widest_m2(axes, prior), key)
        low = jnp.asarray(ground_m, places.dtype) + 0.5
        world = axes.world(places.reshape(-1, 3)).reshape(places.shape)
        world = world.at[..., 2].max(low)
        count = places.shape[:2]
        return cls(
            world,
            jnp.full(count, -log(PARTICLES), places.dtype),
            jnp.full(count, prior.mean, places.dtype),
            jnp.full(count, prior.deviation**2, places.dtype),
            there,
        )

    def shares(self) -> Float[Array, "sources particles"]:
        """How much each particle counts; nothing where there is no tube."""
        return jnp.where(self.there[:, None], jax.nn.softmax(self.log_weights, axis=1), 0.0)

    def sources_world_m(self) -> Float[Array, "sources 3"]:
        """The mean place of each."""
        return (self.shares()[..., None] * self.places_world_m).sum(axis=1)

    def concentrations(
        self, places_world_m: Float[Array, "places 3"], wind: Vec3, ground_m: Real
    ) -> Float[Array, "sources places"]:
        """What is expected of each source at some places."""
        axes, weights = Axes.of(wind), self.shares() * self.emissions

        def of(place: Float[Array, "3"]) -> Float[Array, " sources"]:
            return (weights * carried(axes, self.places_world_m, place, ground_m)).sum(axis=1)

        return jax.vmap(of)(places_world_m).T

    def after(
        self,
        place_world_m: Float[Array, "3"],
        measured: Real,
        wind: Vec3,
        ground_m: Real,
        prior: Emissions,
        key: PRNGKeyArray,
    ) -> "SourceBeliefs":
        """With a measurement at a place."""
        axes = Axes.of(wind)
        gains = carried(axes, self.places_world_m, place_world_m, ground_m)
        expected = (self.shares() * self.emissions * gains).sum(axis=1)
        others = expected.sum() - expected
        own = self.emissions * gains
        spread = MODEL_ERROR**2 + prior.fluctuating**2
        noise = NOISE**2 + spread * (own**2 + (others**2)[:, None])
        variance = gains**2 * self.variances + noise
        missing = measured - others[:, None] - own
        weights = self.log_weights - 0.5 * (missing**2 / variance + jnp.log(variance))
        gain = self.variances * gains / variance
        later = replace(
            self,
            log_weights=weights - jax.nn.logsumexp(weights, axis=1, keepdims=True),
            emissions=jnp.maximum(self.emissions + gain * missing, 0.0),
            variances=self.variances * (1.0 - gain * gains),
        )
        return later._drawn_anew(key)

    def _drawn_anew(self, key: PRNGKeyArray) -> "SourceBeliefs":
        """Of each tube in which few particles count, others near those that do."""
        pick_key, jitter_key = jax.random.split(key)
        weights = jax.nn.softmax(self.log_weights, axis=1)
        few = 1.0 / (weights**2).sum(axis=1) < FEWEST * PARTICLES
        start = jax.random.uniform(pick_key, (len(weights), 1), weights.dtype)
        steps = (jnp.arange(PARTICLES, dtype=weights.dtype)[None] + start) / PARTICLES
        picks = jax.vmap(jnp.searchsorted)(jnp.cumsum(weights, axis=1), steps)
        picks = jnp.minimum(picks, PARTICLES - 1).astype(jnp.int32)

        def picked(leaf: Any) -> Any:
            return jax.vmap(lambda row, pick: row[pick])(leaf, picks)

        places = picked(self.places_world_m)
        jitter = jax.random.normal(jitter_key, places.shape, places.dtype)
        anew = SourceBeliefs(
            places + JITTER_M * jitter,
            jnp.full_like(weights, -log(PARTICLES)),
            picked(self.emissions),
            picked(self.variances),
            self.there,
        )

        def chosen(new: Any, old: Any) -> Any:
            return jnp.where(jnp.reshape(few, (-1,) + (1,) * (new.ndim - 1)), new, old)

        return replace(jax.tree.map(chosen, anew, self), there=self.there)


class Axes(NamedTuple):
    """Along the wind and across it."""

    east: Any
    north: Any
    speed_mps: Any

    @classmethod
    def of(cls, wind: Vec3) -> "Axes":
        """Those of a wind."""
        speed = jnp.maximum(jnp.hypot(jnp.asarray(wind.x), jnp.asarray(wind.y)), 1e-3)
        return cls(wind.x / speed, wind.y / speed, speed)

    def along(self, world_m: Float[Array, "places 3"]) -> Float[Array, "places 3"]:
        """Downwind, across, and up."""
        x, y, z = world_m.T
        return jnp.stack([self.east * x + self.north * y, self.east * y - self.north * x, z], -1)

    def world(self, along_m: Float[Array, "places 3"]) -> Float[Array, "places 3"]:
        """And back."""
        x, y, z = along_m.T
        return jnp.stack([self.east * x - self.north * y, self.north * x + self.east * y, z], -1)


def carried(
    axes: Axes, sources_world_m: Float[Array, "*n 3"], place: Float[Array, "3"], ground_m: Real
) -> Float[Array, "*n"]:
    """The mean concentration at a place of sources from which one leaves in a second."""
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
    places_world_m: Float[Array, "places 3"],
    time_s: Real,
) -> Float[Array, "sources places"]:
    """By how much the air at places differs from its mean, in puffs that may have left sources.

    They leave at times that are drawn once and for all, each source at others, and come again and
    again; the mean over all of them is 1 on the middle of a tube.
    """
    gap_key, amount_key = jax.random.split(seed_key(0))
    gaps = INTERVAL_S * jax.random.exponential(gap_key, (SOURCES, PATTERN), places_world_m.dtype)
    amounts = jax.random.uniform(amount_key, gaps.shape, gaps.dtype, *AMOUNTS)
    left_s, period_s = jnp.cumsum(gaps, axis=1), gaps.sum(axis=1)
    mean = amounts.sum(axis=1) / period_s

    def of(place: Float[Array, "3"]) -> Float[Array, " sources"]:
        ways = place[None] - sources_world_m
        ahead = axes.east * ways[:, 0] + axes.north * ways[:, 1]
        v = 2.0 * SPREAD * jnp.maximum(ahead, NEAREST_M) ** EXPONENT
        late = ahead / axes.speed_mps - time_s
        behind = (late[:, None] + left_s) / period_s[:, None]
        behind = (behind - jnp.round(behind)) * period_s[:, None] * axes.speed_mps
        shapes = jnp.exp(-(behind**2) / v[:, None])
        return (amounts * shapes).sum(axis=1) * axes.speed_mps / (mean * jnp.sqrt(jnp.pi * v))

    return jax.vmap(of)(places_world_m).T


def _widest_m2(axes: Axes, prior: Emissions) -> Real:
    """V where the plume's support ends."""
    if prior.fluctuating:
        return THRESHOLD ** (-2.0 / 3.0) / (2.0 * jnp.pi)
    return 1.0 / (jnp.pi * axes.speed_mps * THRESHOLD)


def _tubes(
    locations: Float[Array, "locations 3"], widest_m2: Real, key: PRNGKeyArray
) -> tuple[Float[Array, "sources particles 3"], Bool[Array, " sources"]]:
    """Particles of the source of each tube, in axes of the wind."""
    radius = jnp.sqrt(widest_m2 / jnp.e)
    free = jnp.ones(len(locations), bool)
    found, there = [], []
    for own in jax.random.split(key, SOURCES):
        inside = _densest(locations, free, radius)
        found.append(_upwind_of(locations, inside, widest_m2, own))
        there.append(inside.sum() >= LEAST_LOCATIONS)
        free = free & ~inside
    return jnp.stack(found), jnp.stack(there)


def _densest(
    locations: Float[Array, "locations 3"], free: Bool[Array, " locations"], radius_m: Real
) -> Bool[Array, " locations"]:
    """The locations in the tube that holds most of those that are in none yet."""
    middles = locations[:, 1:]

    def near(middles: Array, radius_m: Real) -> Array:
        apart = ((middles[:, None] - locations[None, :, 1:]) ** 2).sum(axis=2)
        return (apart < radius_m**2) & free[None]

    for _ in range(3):
        members = near(middles, radius_m)
        share = members.astype(locations.dtype)
        share = share / jnp.maximum(share.sum(axis=1, keepdims=True), 1.0)
        middles = jnp.where(members.any(axis=1)[:, None], share @ locations[:, 1:], middles)
    # a little wider, as the middle of few locations is not that of the tube
    members = near(middles, 1.3 * radius_m)
    counts = jnp.where(free, members.sum(axis=1), 0)
    return members[jnp.argmax(counts)]


def _ends(
    ahead_m: Float[Array, " locations"], inside: Bool[Array, " locations"]
) -> tuple[Real, Real]:
    """Where the locations in a tube begin and end.

    Some lie in its line by chance. As many of the first ones are left out as makes all of them most
    likely: points at random, n / L in each meter for the n behind, and few in each before.
    """
    count = inside.sum().astype(ahead_m.dtype)
    places = jnp.sort(jnp.where(inside, ahead_m, jnp.inf))
    last = jnp.max(jnp.where(inside, ahead_m, -jnp.inf), initial=-1e3)
    before = jnp.arange(len(places), dtype=ahead_m.dtype)
    behind = jnp.maximum(count - before, 1.0)
    length = jnp.maximum(last - places, 1.0)
    score = behind * (jnp.log(behind / length) - 1.0) + before * log(BY_CHANCE_PER_M)
    first = places[jnp.argmax(jnp.where(before < count - 1.0, score, -jnp.inf))]
    return jnp.where(count > 0.0, first, 1e3), last


def _upwind_of(
    locations: Float[Array, "locations 3"],
    inside: Bool[Array, " locations"],
    widest_m2: Real,
    key: PRNGKeyArray,
) -> Float[Array, "particles 3"]:
    """Where the source of such a tube may be.

    Locations fill a tube evenly, so that the volume upwind of the first one is exponential, with
    the mean of what there is of the tube for each location.
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
