"""Delay of samples."""

from typing import Annotated

import jax
import jax.numpy as jnp
from jax.lax import dynamic_index_in_dim, dynamic_update_index_in_dim
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.core.errors import ScenarioError
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.interfaces.instrument import AbstractSensorError, Sample
from kittiwake.pytree import Module, field

TOLERANCE = 1e-6
MAX_SAMPLES = 100_000


class LatencyState(Module):
    """Samples in transit.

    Attributes:
        samples: ring buffer along a leading axis, of one sample more than are in transit.
        index: index of the next sample in the ring.
        full: true once the ring has been filled.
    """

    samples: Sample
    index: Integer
    full: Flag


class Latency(AbstractSensorError[LatencyState]):
    """Delay of each sample by ``delay_s``, a multiple of the sensor's period.

    Until the first sample arrives, the reader holds that sample, marked as not fresh.

    Attributes:
        delay_s: delay, a multiple of the sensor's period.
    """

    delay_s: Annotated[float, POSITIVE] = field(static=True)

    @override
    def check(self, measurement: type, period_s: Real) -> None:
        del measurement
        periods = self.delay_s / period_s
        if periods > MAX_SAMPLES + 0.5:
            message = (
                f"delay_s: got {self.delay_s:g}; must be at most "
                f"{MAX_SAMPLES * float(period_s):g}, which is {MAX_SAMPLES} samples at the "
                f"sensor's period of {float(period_s):g} s"
            )
            raise ScenarioError(message)
        if round(periods) < 1 or abs(periods - round(periods)) > TOLERANCE * periods:
            near = max(1, round(periods)) * period_s
            message = (
                f"delay_s: got {self.delay_s:g}; must be a multiple of the sensor's period, "
                f"{float(period_s):g} s. Write {near:g}"
            )
            raise ScenarioError(message)

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> LatencyState:
        del key
        slots = round(self.delay_s / float(dt_s)) + 1
        samples = jax.tree.map(lambda x: jnp.broadcast_to(x, (slots, *jnp.shape(x))), first)
        return LatencyState(samples, jnp.asarray(0, jnp.int32), jnp.asarray(False))

    @override
    def step(
        self, state: LatencyState, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[LatencyState, Sample]:
        del dt_s, key
        # written before it is read: otherwise the compiler copies the ring at each step
        samples = jax.tree.map(
            lambda ring, new: dynamic_update_index_in_dim(ring, new, state.index, 0),
            state.samples,
            sample,
        )
        index = (state.index + 1) % jnp.shape(samples.fresh)[0]
        full = state.full | (index == 0)
        # before that, the first sample is at the beginning
        oldest = jnp.where(full, index, 0)
        out = jax.tree.map(lambda ring: dynamic_index_in_dim(ring, oldest, keepdims=False), samples)
        arrived = Sample(out.measurement, out.ideal, out.fresh & full)
        return LatencyState(samples, index, full), arrived

    @classmethod
    @override
    def examples(cls) -> dict[str, "Latency"]:
        return {"of two": cls(0.04)}
