"""Saturation of values at limits."""

from dataclasses import replace

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.instrument import Sample
from kittiwake.sensors.errors.on_field import AbstractErrorOnField


class Saturation(AbstractErrorOnField[tuple[()]]):
    """Clipping of each value to between ``low`` and ``high``, in the value's own unit.

    Attributes:
        low: lowest value.
        high: highest value.
    """

    low: Real
    high: Real

    def __post_init__(self) -> None:
        """Raise ValueError if ``low`` is not below ``high``."""
        plain = isinstance(self.low, int | float) and isinstance(self.high, int | float)
        if plain and not self.low < self.high:
            message = f"low: got {self.low:g}; must be below high, {self.high:g}"
            raise ValueError(message)

    @override
    def step(
        self, state: tuple[()], sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[tuple[()], Sample]:
        del dt_s, key
        clipped = self.changed(sample.measurement, lambda _, x: jnp.clip(x, self.low, self.high))
        return state, replace(sample, measurement=clipped)

    @classmethod
    @override
    def examples(cls) -> dict[str, "Saturation"]:
        return {"narrow": cls(-1.0, 1.0, field="position_world_m")}
