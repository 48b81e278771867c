"""A plume in puffs, which leave their sources at random times and go with the wind.

    c = sum Q / (2 pi v)^(3/2) exp(-((x - u t)^2 + y^2) / v) (exp(-(z - zs)^2 / v) +
        exp(-(z + zs)^2 / v)),    v = 2 a x^b

as in ``dispersion``; t: since the puff left, Q: what it holds. The times between the puffs of a
source are exponential. Source: QRSim (R. De Nardi, 2013), GaussianPuffDispersionPlumeArea: 5 s
between puffs on average, Q drawn from 0.1 to 2.5 for each. Its factor makes a puff hold Q / 2^(3/2)
and is kept; v grows with the place's distance from the source and not with the puff's, so that a
puff is longer before its middle than behind it.

A puff shows from the first step after it has left on. A source may emit eight in a step, the next
one in the step after; steps in which more than four leave on average are refused. Neglected: what
is left of a puff after as many later ones as are remembered.
"""

import math
from dataclasses import replace
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE, Bounds
from kittiwake.core.errors import ScenarioError
from kittiwake.environment.plumes.downwind import Downwind, refuse_without_wind
from kittiwake.environment.plumes.sources import Range, Sources, drawn_between, refuse_unordered
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.world.plume import AbstractCloud, AbstractPlume, Site

MOST_PER_STEP = 8
# half of them: of a Poisson process more than eight leave in 2 % of all steps, sixteen in none
MEAN_PER_STEP = 4
REMEMBERED = Bounds(1.0, 1000.0)
INTERVAL_S = Bounds(1e-6)


class PuffCloud(AbstractCloud):
    """The last puffs of each source, in a ring.

    Attributes:
        sources_world_m: where they come from.
        there: which of the sources there are.
        left_s: when each puff left its source.
        amounts: what each puff holds; nothing in a place of the ring that is not used yet.
        emitted: how many puffs each source has emitted.
        next_s: when the next one leaves.
        downwind: what carries them.
    """

    sources_world_m: Float[Array, "sources 3"]
    there: Bool[Array, " sources"]
    left_s: Float[Array, "sources puffs"]
    amounts: Float[Array, "sources puffs"]
    emitted: Int[Array, " sources"]
    next_s: Float[Array, " sources"]
    downwind: Downwind

    @override
    def concentration(self, position_world_m: Vec3, time_s: Real) -> Real:
        seen = self.downwind.seen_from(self.sources_world_m, position_world_m)
        v = seen.twice_variance_m2
        behind = seen.ahead_m[:, None] - self.downwind.speed_mps * (time_s - self.left_s)
        along = (self.amounts * jnp.exp(-behind * behind / v[:, None])).sum(axis=1)
        across = jnp.exp(-seen.aside_m * seen.aside_m / v)
        dense = along * across * seen.height_share / (2.0 * jnp.pi * v) ** 1.5
        return jnp.where(seen.ahead_m > 0.0, dense, 0.0).sum()

    def after(
        self,
        time_s: Real,
        amounts: Float[Array, " sources"],
        waits_s: Float[Array, " sources"],
    ) -> "PuffCloud":
        """With one more puff of each source whose next one has left by then."""
        due = self.there & (self.next_s < time_s)
        slots = jnp.arange(self.left_s.shape[1], dtype=self.emitted.dtype)
        place = slots[None, :] == (self.emitted % len(slots))[:, None]
        fill = place & due[:, None]
        return replace(
            self,
            left_s=jnp.where(fill, self.next_s[:, None], self.left_s),
            amounts=jnp.where(fill, amounts[:, None], self.amounts),
            emitted=self.emitted + due.astype(self.emitted.dtype),
            next_s=jnp.where(due, self.next_s + waits_s, self.next_s),
        )


class PuffPlume(AbstractPlume):
    """Puffs that the wind carries away.

    ``amount_range`` is from how much to how much a puff holds, drawn for each; ``remembered`` is
    how many of the last puffs of each source there are.
    """

    default_rate_hz: ClassVar[float | None] = 1.0

    sources: Sources = Sources()
    amount_range: Range = (0.1, 2.5)
    mean_interval_s: Annotated[Real, INTERVAL_S] = 5.0
    spread_coefficient: Annotated[Real, POSITIVE] = 0.33
    spread_exponent: Annotated[Real, POSITIVE] = 0.86
    remembered: Annotated[int, REMEMBERED] = eqx.field(static=True, default=64)

    def __check_init__(self) -> None:
        """Refuses a range with the higher limit first."""
        refuse_unordered("amount_range", self.amount_range)

    @override
    def check(self, site: Site, period_s: float) -> None:
        refuse_without_wind(site)
        self.sources.check(site.area)
        if MEAN_PER_STEP * self.mean_interval_s < period_s:
            rate_hz = math.ceil(1.0 / (MEAN_PER_STEP * self.mean_interval_s))
            message = (
                f"mean_interval_s: {float(self.mean_interval_s):g} is too short for steps of "
                f"{period_s:g} s, in which {MEAN_PER_STEP} puffs of a source may leave on average; "
                f"write rate_hz: {rate_hz} or more, or a longer interval"
            )
            raise ScenarioError(message)

    @override
    def warnings(self, site: Site, duration_s: float) -> tuple[str, ...]:
        kept_s = float(self.remembered * self.mean_interval_s)
        wanted_s = min(_longest_crossing_s(site), duration_s)
        if kept_s >= wanted_s:
            return ()
        most, needed = int(REMEMBERED.high), math.ceil(wanted_s / self.mean_interval_s)
        advice = f"remembered: {needed} keeps them"
        if needed > most:
            advice = (
                f"remembered: {most} and a mean_interval_s above {wanted_s / most:.3g} keep them"
            )
        return (
            f"its puffs are forgotten {kept_s:g} s after they left, still in the area; {advice} "
            f"for the {wanted_s:.3g} s in which they can be met",
        )

    @override
    def begin(self, site: Site, key: PRNGKeyArray) -> PuffCloud:
        place_key, wait_key = jax.random.split(key)
        placed = self.sources.placed(site.area, place_key)
        count = len(placed.there)
        none = jnp.zeros((count, self.remembered))
        return PuffCloud(
            sources_world_m=placed.positions_world_m,
            there=placed.there,
            left_s=none,
            amounts=none,
            emitted=jnp.zeros(count, jnp.int32),
            next_s=self._waits_s(wait_key, count),
            downwind=Downwind.at(site, self.spread_coefficient, self.spread_exponent),
        )

    @override
    def later(self, cloud: PuffCloud, time_s: Real, key: PRNGKeyArray) -> PuffCloud:
        count = len(cloud.there)

        def once(cloud: PuffCloud, draw: PRNGKeyArray) -> tuple[PuffCloud, None]:
            amount_key, wait_key = jax.random.split(draw)
            amounts = drawn_between(self.amount_range, amount_key, count)
            return cloud.after(time_s, amounts, self._waits_s(wait_key, count)), None

        return jax.lax.scan(once, cloud, jax.random.split(key, MOST_PER_STEP))[0]

    def _waits_s(self, key: PRNGKeyArray, count: int) -> Float[Array, " sources"]:
        draws = jax.random.exponential(key, (count,), jnp.result_type(float))
        return self.mean_interval_s * draws


def _longest_crossing_s(site: Site) -> float:
    """How long the wind takes over the area, from the corner that it meets first to the last."""
    wind, area = site.wind_world_mps, site.area
    sides = ((float(wind.x), area.x_m), (float(wind.y), area.y_m))
    flow = sum(abs(along) * float(high - low) for along, (low, high) in sides)
    return flow / sum(along * along for along, _ in sides)
