"""A sensor with what goes wrong between it and its reader."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.component import AbstractComponent, AbstractSensor, SensorInputs
from kittiwake.core.keys import named
from kittiwake.geometry.scalar import Flag, Real


class Sample(eqx.Module):
    """What a reader gets of a sensor.

    Attributes:
        measurement: what the sensor says, or said last.
        ideal: what one without errors would have said when this was measured; None if it has none.
        fresh: whether this is new; False where the last one is only held.
    """

    measurement: Any
    ideal: Any
    fresh: Flag


class AbstractSensorError(eqx.Module):
    """Changes what a sensor says on its way to the reader."""

    def check(self, measurement: type) -> None:
        """Refuses a kind of measurement that it has no place in, with what to write instead."""
        del measurement

    def init(self, key: PRNGKeyArray, first: Any) -> Any:
        """The state before the first sample; ``first`` is a measurement of the right form."""
        del key, first
        return ()

    @abstractmethod
    def step(self, state: Any, sample: Sample, dt_s: Real, key: PRNGKeyArray) -> tuple[Any, Sample]:
        """The next state, and the sample as it goes on."""


class InstrumentState(eqx.Module):
    """Of the sensor, and of each of its errors."""

    sensor: Any
    errors: tuple[Any, ...]


class Instrument(AbstractComponent):
    """A sensor, and errors that act on what it says, one after another."""

    sensor: AbstractSensor
    errors: tuple[AbstractSensorError, ...] = ()

    def begin(self, inputs: SensorInputs, key: PRNGKeyArray) -> InstrumentState:
        """The state before the first sample."""
        sensor = self.sensor.init(named(key, "init"))
        _, shape = jax.eval_shape(self.sensor.step, sensor, inputs, 1.0, key)
        first = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)
        errors = tuple(
            error.init(named(key, f"error.{i}.init"), first) for i, error in enumerate(self.errors)
        )
        return InstrumentState(sensor, errors)

    def step(
        self, state: InstrumentState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InstrumentState, Sample]:
        """The next state and the sample."""
        sensor, measurement = self.sensor.step(state.sensor, inputs, dt_s, key)
        sample = Sample(measurement, self.sensor.ideal(inputs), jnp.asarray(True))
        errors: list[Any] = []
        for i, (error, own) in enumerate(zip(self.errors, state.errors, strict=True)):
            after, sample = error.step(own, sample, dt_s, named(key, f"error.{i}"))
            errors.append(after)
        return InstrumentState(sensor, tuple(errors)), sample
