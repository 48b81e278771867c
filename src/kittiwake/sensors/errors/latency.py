"""Samples that arrive late."""

from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.lax import dynamic_index_in_dim, dynamic_update_index_in_dim
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.interfaces.instrument import AbstractSensorError, Sample

TOLERANCE = 1e-6
MAX_SAMPLES = 100_000


class Waiting(eqx.Module):
    """Samples on their way.

    Attributes:
        samples: a ring of them along a leading axis, one more than are on their way.
        place: in the ring, of the next one.
        full: whether the ring has been filled.
    """

    samples: Sample
    place: Count
    full: Flag


class Latency(AbstractSensorError):
    """Gives each sample ``delay_s`` later, a multiple of the sensor's period.

    Until the first one is through, the reader has that already, as one that is not new.
    """

    delay_s: Annotated[float, POSITIVE] = eqx.field(static=True)

    @override
    def check(self, measurement: type, period_s: Real) -> None:
        del measurement
        periods = self.delay_s / period_s
        if periods > MAX_SAMPLES + 0.5:
            message = (
                f"delay_s: {self.delay_s:g} is not allowed; at most {MAX_SAMPLES} samples can be "
                f"on their way, which at the sensor's period of {float(period_s):g} s take "
                f"{MAX_SAMPLES * float(period_s):g} s"
            )
            raise ScenarioError(message)
        if round(periods) < 1 or abs(periods - round(periods)) > TOLERANCE * periods:
            near = max(1, round(periods)) * period_s
            message = (
                f"delay_s: {self.delay_s:g} is no multiple of the sensor's period, "
                f"{float(period_s):g} s; write {near:g}"
            )
            raise ScenarioError(message)

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Waiting:
        del key
        slots = round(self.delay_s / float(dt_s)) + 1
        samples = jax.tree.map(lambda x: jnp.broadcast_to(x, (slots, *jnp.shape(x))), first)
        return Waiting(samples, jnp.asarray(0, jnp.int32), jnp.asarray(False))

    @override
    def step(
        self, state: Waiting, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Waiting, Sample]:
        del dt_s, key
        # written before it is read: the other way round the compiler copies the ring at each step
        samples = jax.tree.map(
            lambda ring, new: dynamic_update_index_in_dim(ring, new, state.place, 0),
            *(state.samples, sample),
        )
        place = (state.place + 1) % jnp.shape(samples.fresh)[0]
        full = state.full | (place == 0)
        # until then, the first one lies at the beginning
        oldest = jnp.where(full, place, 0)
        out = jax.tree.map(lambda ring: dynamic_index_in_dim(ring, oldest, keepdims=False), samples)
        arrived = Sample(out.measurement, out.ideal, out.fresh & full)
        return Waiting(samples, place, full), arrived
