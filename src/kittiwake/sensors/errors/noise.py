"""White noise."""

from dataclasses import replace
from typing import Annotated

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import NOT_NEGATIVE
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.sensors.errors.on_field import AbstractErrorOnField


class Noise(AbstractErrorOnField[tuple[()]]):
    """White noise of this standard deviation on each value, in the value's own unit.

    Attributes:
        deviation: standard deviation, in the unit of the field.
    """

    deviation: Annotated[Real, NOT_NEGATIVE]

    @override
    def step(
        self, state: tuple[()], sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Sample]:
        del dt_s

        def noisy(index: int, x: Real) -> Real:
            own = jax.random.fold_in(key, index)
            return x + self.deviation * jax.random.normal(own, jnp.shape(x), jnp.result_type(x))

        return state, replace(sample, measurement=self.changed(sample.measurement, noisy))

    @classmethod
    @override
    def examples(cls) -> dict[str, "Noise"]:
        return {"white": cls(0.1, field="position_world_m")}
