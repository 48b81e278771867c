"""Bias: constant offset and random walk."""

from dataclasses import replace
from typing import Annotated, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE, POSITIVE
from kittiwake.core.noise import GaussMarkov
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.sensors.errors.on_field import AbstractErrorOnField

# constant offset and random walk of each value
Biases: TypeAlias = list[tuple[Array, Array]]


class Bias(AbstractErrorOnField[Biases]):
    """Bias of each value: ``offset``, a draw of ``deviation`` at the start, and a random walk.

    The walk is ``b' = e^(-dt/tau) b + k sqrt(tau (1 - e^(-2 dt/tau)) / 2) n``: a random walk of
    ``walk_per_rts`` k, or with a ``time_constant_s`` tau a Gauss-Markov process of the deviation k
    sqrt(tau / 2) in the long run. All in the value's own unit.

    Attributes:
        offset: added to all numbers.
        deviation: standard deviation of a number drawn once at the start.
        walk_per_rts: k, of a random walk.
        time_constant_s: tau; none lets the walk grow.
    """

    offset: Real = 0.0
    deviation: Annotated[Real, NOT_NEGATIVE] = 0.0
    walk_per_rts: Annotated[Real, NOT_NEGATIVE] = 0.0
    time_constant_s: Annotated[Real, POSITIVE] | None = None

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Biases:
        del dt_s
        numbers = self.numbers(first.measurement)
        return [
            (
                self.offset + self.deviation * _draw(jax.random.fold_in(key, index), x),
                jnp.zeros_like(jnp.asarray(x)),
            )
            for index, x in enumerate(numbers)
        ]

    @override
    def step(
        self, state: Biases, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Biases, Sample]:
        biased = self.changed(sample.measurement, lambda i, x: x + state[i][0] + state[i][1])
        next_state = [
            (fixed, self._next_walk(walk, _draw(jax.random.fold_in(key, index), walk), dt_s))
            for index, (fixed, walk) in enumerate(state)
        ]
        return next_state, replace(sample, measurement=biased)

    def _next_walk(self, walk: Array, draw: Array, dt_s: Real) -> Array:
        tau_s, k = self.time_constant_s, self.walk_per_rts
        if tau_s is None:
            return walk + draw * (k * jnp.sqrt(dt_s))
        return GaussMarkov(k * jnp.sqrt(0.5 * tau_s), tau_s).next(walk, draw, dt_s)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Bias"]:
        return {"walking": cls(1.0, 0.5, 0.1, 2.0, field="velocity_world_mps")}


def _draw(key: PRNGKeyArray, like: Real) -> Array:
    return jax.random.normal(key, jnp.shape(like), jnp.result_type(like))
