"""Stuck sensor, which repeats a measurement."""

from dataclasses import replace
from typing import Annotated, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.pytree import Module
from kittiwake.sensors.errors.on_field import AbstractErrorOnField


class StuckState(Module):
    """Values of the last sample, and the number of samples so far."""

    numbers: list[Array]
    count: Integer


class Stuck(AbstractErrorOnField[StuckState]):
    """Repetition of the last sample from ``at_s`` on, for ``for_s`` or until the end.

    Counts and flags are repeated, too, and the sample is marked as fresh: a reader sees no
    difference.

    Attributes:
        at_s: time at which it begins.
        for_s: its duration; forever by default.
    """

    of_any_kind: ClassVar[bool] = True
    advice_on_keys: ClassVar[str] = "An error acts on all axes of its field."

    at_s: Annotated[Real, NOT_NEGATIVE]
    for_s: Annotated[Real, POSITIVE] | None = None

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> StuckState:
        del key, dt_s
        numbers = [jnp.asarray(x) for x in self.numbers(first.measurement)]
        return StuckState(numbers, jnp.asarray(0, jnp.int32))

    @override
    def step(
        self, state: StuckState, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[StuckState, Sample]:
        del key
        # half a period of margin against rounding
        time_s = (jnp.asarray(state.count, jnp.result_type(float)) + 0.5) * dt_s
        stuck = (time_s >= self.at_s) & (state.count > 0)
        if self.for_s is not None:
            stuck = stuck & (time_s < self.at_s + self.for_s)
        repeated = self.changed(
            sample.measurement, lambda i, x: jnp.where(stuck, state.numbers[i], x)
        )
        next_state = StuckState([jnp.asarray(x) for x in self.numbers(repeated)], state.count + 1)
        return next_state, replace(sample, measurement=repeated)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Stuck"]:
        return {"begun": cls(0.01), "of one field": cls(0.01, field="satellites")}
