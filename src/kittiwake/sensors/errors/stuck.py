"""A sensor that says the same all the time."""

from dataclasses import replace
from typing import Annotated, Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Count, Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.sensors.errors.on_field import AbstractErrorOnField


class Frozen(eqx.Module):
    """What was said before, number by number, and how many samples there were."""

    numbers: list[Any]
    count: Count


class Stuck(AbstractErrorOnField):
    """From ``at_s`` on, ``for_s`` long or for ever, repeats the sample before.

    Counts and flags as well, and as a new one: a reader that trusts it sees no difference.
    """

    of_any_kind: ClassVar[bool] = True
    advice_on_keys: ClassVar[str] = "An error acts on all axes of its field."

    at_s: Annotated[Real, NOT_NEGATIVE]
    for_s: Annotated[Real, POSITIVE] | None = None

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Frozen:
        del key, dt_s
        numbers = [jnp.asarray(x) for x in self.numbers(first.measurement)]
        return Frozen(numbers, jnp.asarray(0, jnp.int32))

    @override
    def step(
        self, state: Frozen, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Frozen, Sample]:
        del key
        # half a period of margin against rounding
        time_s = (jnp.asarray(state.count, jnp.result_type(float)) + 0.5) * dt_s
        stuck = (time_s >= self.at_s) & (state.count > 0)
        if self.for_s is not None:
            stuck = stuck & (time_s < self.at_s + self.for_s)
        said = self.changed(sample.measurement, lambda i, x: jnp.where(stuck, state.numbers[i], x))
        later = Frozen([jnp.asarray(x) for x in self.numbers(said)], state.count + 1)
        return later, replace(sample, measurement=said)
