"""Loss of samples."""

from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import Bounds
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.instrument import AbstractSensorError, Sample
from kittiwake.pytree import Module

# at most 1 - 1e-6: some samples must arrive
PROBABILITY = Bounds(0.0, 1.0 - 1e-6)
AT_LEAST_ONE = Bounds(low=1.0)


class DropoutState(Module):
    """Last sample that arrived, a flag that one did, and a flag of a burst of losses."""

    last: Sample
    initialized: Flag
    in_burst: Flag


class Dropout(AbstractSensorError[DropoutState]):
    """Random loss of samples; the reader keeps the last one.

    A Markov chain with the stationary ``probability`` p that a sample is lost, in bursts of
    ``mean_length`` L samples: a burst ends with probability 1 / L and begins with p / ((1 - p) L)
    (Gilbert 1960, "Capacity of a burst-noise channel"). Without a length losses are independent,
    with L = 1 / (1 - p). The first sample always arrives.

    Attributes:
        probability: p, the share of lost samples.
        mean_length: L, the mean length of a burst in samples; 1 / (1 - p) without it.
    """

    probability: Annotated[Real, PROBABILITY]
    mean_length: Annotated[Real, AT_LEAST_ONE] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if bursts of this length cannot lose this share of samples."""
        p, length = self.probability, self.mean_length
        if not (isinstance(p, int | float) and isinstance(length, int | float)):
            return
        if p > (1.0 - p) * length:
            message = (
                f"mean_length: got {length:g}; to lose {p:g} of all samples it must be at least "
                f"{p / (1.0 - p):.4g}"
            )
            raise ValueError(message)

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> DropoutState:
        del key, dt_s
        return DropoutState(first, jnp.asarray(False), jnp.asarray(False))

    @override
    def step(
        self, state: DropoutState, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[DropoutState, Sample]:
        del dt_s
        p = self.probability
        length = 1.0 / (1.0 - p) if self.mean_length is None else self.mean_length
        loss_probability = jnp.where(state.in_burst, 1.0 - 1.0 / length, p / ((1.0 - p) * length))
        draw = jax.random.uniform(key, (), jnp.result_type(float))
        in_burst = state.initialized & (draw < loss_probability)
        last = jax.tree.map(
            lambda before, new: jnp.where(in_burst, before, new), state.last, sample
        )
        arrived = Sample(last.measurement, last.ideal, sample.fresh & ~in_burst)
        return DropoutState(last, jnp.asarray(True), in_burst), arrived

    @classmethod
    @override
    def examples(cls) -> dict[str, "Dropout"]:
        return {"in bursts": cls(0.3, 5.0)}
