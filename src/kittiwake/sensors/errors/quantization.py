"""Quantization of values."""

from dataclasses import replace
from typing import Annotated

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.bounds import POSITIVE
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.sensors.errors.on_field import AbstractErrorOnField


class Quantization(AbstractErrorOnField[tuple[()]]):
    """Rounding of each value to a multiple of ``quantum``, in the value's own unit.

    Attributes:
        quantum: step, in the unit of the field.
    """

    quantum: Annotated[Real, POSITIVE]

    @override
    def step(
        self, state: tuple[()], sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Sample]:
        del dt_s, key
        rounded = self.changed(
            sample.measurement, lambda _, x: jnp.round(x / self.quantum) * self.quantum
        )
        return state, replace(sample, measurement=rounded)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Quantization"]:
        return {"coarse": cls(0.1, field="hdop")}
