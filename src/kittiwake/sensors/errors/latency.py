"""Samples that arrive late."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.errors import ScenarioError
from kittiwake.core.instrument import AbstractSensorError, Sample
from kittiwake.geometry.scalar import Count, Real

TOLERANCE = 1e-6


class Waiting(eqx.Module):
    """Samples on their way, the oldest first, along a leading axis; and how many came in so far."""

    samples: Sample
    count: Count


class Latency(AbstractSensorError):
    """Gives each sample ``delay_s`` later, a multiple of the sensor's period.

    Until the first one is through, the reader has that already, as one that is not new.
    """

    delay_s: float = eqx.field(static=True)

    def check(self, measurement: type, period_s: Real) -> None:
        """Refuses a delay between two samples."""
        del measurement
        periods = self.delay_s / period_s
        if round(periods) < 1 or abs(periods - round(periods)) > TOLERANCE * periods:
            near = max(1, round(periods)) * period_s
            message = (
                f"delay_s: {self.delay_s:g} is no multiple of the sensor's period, "
                f"{float(period_s):g} s; write {near:g}"
            )
            raise ScenarioError(message)

    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Waiting:
        """Nothing on its way."""
        del key
        length = round(self.delay_s / float(dt_s))
        samples = jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * length), first)
        return Waiting(samples, jnp.asarray(0, jnp.int32))

    def step(
        self, state: Waiting, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Waiting, Sample]:
        """The oldest one comes out."""
        del dt_s, key
        nothing_came = state.count == 0
        waiting = jax.tree.map(
            lambda before, new: jnp.where(nothing_came, new, before), state.samples, sample
        )
        oldest = jax.tree.map(lambda leaf: leaf[0], waiting)
        later = jax.tree.map(
            lambda before, new: jnp.concatenate([before[1:], jnp.asarray(new)[None]]),
            *(waiting, sample),
        )
        through = state.count >= jnp.shape(waiting.fresh)[0]
        arrived = Sample(oldest.measurement, oldest.ideal, oldest.fresh & through)
        count = jnp.where(through, state.count, state.count + 1)
        return Waiting(later, count), arrived
