"""Samples that are lost."""

from typing import Annotated

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.instrument import AbstractSensorError, Sample

# at most 1 - 1e-6: something must come through
PROBABILITY = Bounds(0.0, 1.0 - 1e-6)
AT_LEAST_ONE = Bounds(low=1.0)


class Lossy(eqx.Module):
    """The last sample that came through, whether one did, and whether the line is dead."""

    last: Sample
    begun: Flag
    dead: Flag


class Dropout(AbstractSensorError):
    """Loses samples; the reader keeps the last one.

    A Markov chain with the stationary ``probability`` p that a sample is lost, in bursts of
    ``mean_length`` L samples: a burst ends with 1 / L and begins with p / ((1 - p) L) (Gilbert
    1960, "Capacity of a burst-noise channel"). Without a length each is lost by itself, with
    L = 1 / (1 - p).
    The first sample always comes through.
    """

    probability: Annotated[Real, PROBABILITY]
    mean_length: Annotated[Real, AT_LEAST_ONE] | None = None

    def __check_init__(self) -> None:
        """Refuses bursts that would have to begin more often than always."""
        p, length = self.probability, self.mean_length
        if not (isinstance(p, int | float) and isinstance(length, int | float)):
            return
        if p > (1.0 - p) * length:
            message = (
                f"mean_length: {length:g} is not allowed; to lose {p:g} of all samples a burst "
                f"must last {p / (1.0 - p):.4g} of them at least"
            )
            raise ValueError(message)

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Lossy:
        del key, dt_s
        return Lossy(first, jnp.asarray(False), jnp.asarray(False))

    @override
    def step(
        self, state: Lossy, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Lossy, Sample]:
        del dt_s
        p = self.probability
        length = 1.0 / (1.0 - p) if self.mean_length is None else self.mean_length
        lost_now = jnp.where(state.dead, 1.0 - 1.0 / length, p / ((1.0 - p) * length))
        draw = jax.random.uniform(key, (), jnp.result_type(float))
        dead = state.begun & (draw < lost_now)
        through = jax.tree.map(lambda before, new: jnp.where(dead, before, new), state.last, sample)
        arrived = Sample(through.measurement, through.ideal, sample.fresh & ~dead)
        return Lossy(through, jnp.asarray(True), dead), arrived
