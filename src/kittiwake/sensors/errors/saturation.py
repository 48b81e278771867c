"""Numbers that end at a limit."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.sensors.errors.on_field import AbstractErrorOnField


class Saturation(AbstractErrorOnField):
    """Keeps each number between ``low`` and ``high``, in the number's own unit."""

    low: Real
    high: Real

    def __check_init__(self) -> None:
        """Refuses limits with nothing between."""
        plain = isinstance(self.low, int | float) and isinstance(self.high, int | float)
        if plain and not self.low < self.high:
            message = f"low: {self.low:g} is not allowed; must be below high, {self.high:g}"
            raise ValueError(message)

    @override
    def step(self, state: Any, sample: Sample, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Sample]:
        del dt_s, key
        kept = self.changed(sample.measurement, lambda _, x: jnp.clip(x, self.low, self.high))
        return state, replace(sample, measurement=kept)
