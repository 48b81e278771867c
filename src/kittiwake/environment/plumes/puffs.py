"""Plume of puffs, which are emitted at random times and move with the wind.

    c = sum Q / (2 pi v)^(3/2) exp(-((x - u t)^2 + y^2) / v) (exp(-(z - zs)^2 / v) +
        exp(-(z + zs)^2 / v)),    v = 2 a x^b

as in ``dispersion``; t: age of the puff, Q: its amount. The times between the puffs of a source are
exponential. Source: QRSim (R. De Nardi, 2013), GaussianPuffDispersionPlumeArea: 5 s between puffs
on average, Q drawn from 0.1 to 2.5 for each. Its factor makes a puff hold Q / 2^(3/2) and is kept;
v grows with the point's distance from the source and not with the puff's, so that a puff is longer
ahead of its center than behind it.

A puff is visible from the first step after its emission. A source may emit eight in a step, the
next one in the following step; steps with more than four on average are not allowed. Neglected:
puffs that are older than the number of puffs that are stored.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.errors import ScenarioError
from kittiwake.environment.plumes.downwind import Downwind, require_wind
from kittiwake.environment.plumes.sources import Range, Sources, random_values, validate_order
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import field
from kittiwake.world.plume import AbstractCloud, AbstractPlume, Site

MAX_PER_STEP = 8
# half of them: a Poisson process emits more than eight in 2 % of all steps, sixteen in none
MEAN_PER_STEP = 4
REMEMBERED = Bounds(1.0, 1000.0)
INTERVAL_S = Bounds(1e-6)


class PuffCloud(AbstractCloud):
    """Last puffs of each source, in a ring buffer.

    Attributes:
        sources_world_m: positions of the sources.
        source_exists: true for each source that exists.
        left_s: emission time of each puff.
        amounts: amount of each puff; zero in unused slots of the ring.
        emitted: number of puffs that each source has emitted.
        next_s: time of the next emission of each source.
        downwind: transport by the wind.
    """

    sources_world_m: Float[Array, "sources 3"]
    source_exists: Bool[Array, " sources"]
    left_s: Float[Array, "sources puffs"]
    amounts: Float[Array, "sources puffs"]
    emitted: Int[Array, " sources"]
    next_s: Float[Array, " sources"]
    downwind: Downwind

    @override
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        relative = self.downwind.relative_to_sources(self.sources_world_m, position_world_m)
        v = relative.twice_variance_m2
        behind = relative.ahead_m[:, None] - self.downwind.speed_mps * (time_s - self.left_s)
        along = (self.amounts * jnp.exp(-behind * behind / v[:, None])).sum(axis=1)
        across = jnp.exp(-relative.aside_m * relative.aside_m / v)
        concentration = along * across * relative.height_share / (2.0 * jnp.pi * v) ** 1.5
        return jnp.where(relative.ahead_m > 0.0, concentration, 0.0).sum()

    def after(
        self,
        time_s: Real,
        amounts: Float[Array, " sources"],
        waits_s: Float[Array, " sources"],
    ) -> "PuffCloud":
        """Return the cloud with one more puff of each source whose next emission is due."""
        due = self.source_exists & (self.next_s < time_s)
        slots = jnp.arange(self.left_s.shape[1], dtype=self.emitted.dtype)
        is_next = slots[None, :] == (self.emitted % len(slots))[:, None]
        fill = is_next & due[:, None]
        return replace(
            self,
            left_s=jnp.where(fill, self.next_s[:, None], self.left_s),
            amounts=jnp.where(fill, amounts[:, None], self.amounts),
            emitted=self.emitted + due.astype(self.emitted.dtype),
            next_s=jnp.where(due, self.next_s + waits_s, self.next_s),
        )


class PuffPlume(AbstractPlume[PuffCloud]):
    """Plume of puffs that move with the wind.

    ``amount_range`` is the range of the amount of a puff, drawn for each; ``remembered`` is the
    number of puffs of each source that are stored.

    Attributes:
        sources: sources, or the range of their number.
        amount_range: range from which the amount of a puff is drawn.
        mean_interval_s: mean time between two puffs.
        spread_coefficient: a, of the spread with the distance.
        spread_exponent: b, of the spread with the distance.
        remembered: number of puffs that are kept.
    """

    default_rate_hz: ClassVar[float | None] = 1.0

    sources: Sources = Sources()
    amount_range: Range = (0.1, 2.5)
    mean_interval_s: Annotated[Real, INTERVAL_S] = 5.0
    spread_coefficient: Annotated[Real, POSITIVE] = 0.33
    spread_exponent: Annotated[Real, POSITIVE] = 0.86
    remembered: Annotated[int, REMEMBERED] = field(static=True, default=64)

    def __post_init__(self) -> None:
        """Raise ValueError if the higher limit comes first."""
        validate_order("amount_range", self.amount_range)

    @override
    def check(self, site: Site, period_s: float) -> None:
        require_wind(site)
        self.sources.check(site.area)
        if MEAN_PER_STEP * self.mean_interval_s < period_s:
            rate_hz = math.ceil(1.0 / (MEAN_PER_STEP * self.mean_interval_s))
            message = (
                f"mean_interval_s: got {float(self.mean_interval_s):g}, too short for steps of "
                f"{period_s:g} s, in which a source may emit {MEAN_PER_STEP} puffs on average; "
                f"write rate_hz: {rate_hz} or higher, or a longer interval"
            )
            raise ScenarioError(message)

    @override
    def warnings(self, site: Site, duration_s: float) -> tuple[str, ...]:
        kept_s = float(self.remembered * self.mean_interval_s)
        needed_s = min(_longest_crossing_s(site), duration_s)
        if kept_s >= needed_s:
            return ()
        maximum, needed = int(REMEMBERED.high), math.ceil(needed_s / self.mean_interval_s)
        advice = f"remembered: {needed} keeps them"
        if needed > maximum:
            advice = (
                f"remembered: {maximum} and a mean_interval_s above "
                f"{needed_s / maximum:.3g} keep them"
            )
        return (
            f"its puffs are dropped {kept_s:g} s after their emission, still in the area; {advice} "
            f"for the {needed_s:.3g} s in which they are in the area",
        )

    @override
    def init_cloud(self, site: Site, key: PRNGKeyArray) -> PuffCloud:
        place_key, wait_key = jax.random.split(key)
        placed = self.sources.sample(site.area, place_key)
        count = len(placed.exists)
        none = jnp.zeros((count, self.remembered))
        return PuffCloud(
            sources_world_m=placed.positions_world_m,
            source_exists=placed.exists,
            left_s=none,
            amounts=none,
            emitted=jnp.zeros(count, jnp.int32),
            next_s=self._waits_s(wait_key, count),
            downwind=Downwind.at(site, self.spread_coefficient, self.spread_exponent),
        )

    @override
    def step_cloud(self, cloud: PuffCloud, time_s: Real, key: PRNGKeyArray) -> PuffCloud:
        count = len(cloud.source_exists)

        def emit(cloud: PuffCloud, draw: PRNGKeyArray) -> tuple[PuffCloud, None]:
            amount_key, wait_key = jax.random.split(draw)
            amounts = random_values(self.amount_range, amount_key, count)
            return cloud.after(time_s, amounts, self._waits_s(wait_key, count)), None

        return jax.lax.scan(emit, cloud, jax.random.split(key, MAX_PER_STEP))[0]

    def _waits_s(self, key: PRNGKeyArray, count: int) -> Float[Array, " sources"]:
        draws = jax.random.exponential(key, (count,), jnp.result_type(float))
        return self.mean_interval_s * draws

    @classmethod
    @override
    def examples(cls) -> dict[str, "PuffPlume"]:
        return {"drawn": cls(Sources(number=(1, 3)), mean_interval_s=0.01)}


def _longest_crossing_s(site: Site) -> float:
    """Return the time in which the wind crosses the area, from its first corner to the last."""
    wind, area = site.wind_world_mps, site.area
    sides = ((float(wind.x), area.x_m), (float(wind.y), area.y_m))
    flow = sum(abs(along) * float(high - low) for along, (low, high) in sides)
    return flow / sum(along * along for along, _ in sides)
