"""A sensor with what goes wrong between it and its reader."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from kittiwake.core.arrays import as_arrays
from kittiwake.core.component import AbstractComponent
from kittiwake.core.keys import named
from kittiwake.core.streams import Stream
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs


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

    def check(self, measurement: type, period_s: Real) -> None:
        """Refuses a kind of measurement or a period that it does not go with.

        Raises:
            ScenarioError: with what to write instead.
        """
        del measurement, period_s

    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Any:
        """The state before the first sample; ``first`` is one of zeros, of the right form."""
        del key, first, dt_s
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

    def begin(
        self, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InstrumentState, Sample]:
        """The state before the first sample, and one of zeros; of the inputs the form matters."""
        sensor = self.sensor.init(named(key, Stream.INIT))
        form = jax.eval_shape(lambda: self._measured(sensor, inputs, dt_s, key)[1])
        first = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), form)
        errors = tuple(
            error.init(named(key, Stream.SENSOR_ERROR.of(f"{i}.{Stream.INIT}")), first, dt_s)
            for i, error in enumerate(self.errors)
        )
        return InstrumentState(sensor, errors), first

    def step(
        self, state: InstrumentState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InstrumentState, Sample]:
        """The next state and the sample."""
        sensor, sample = self._measured(state.sensor, inputs, dt_s, key)
        errors: list[Any] = []
        for i, (error, own) in enumerate(zip(self.errors, state.errors, strict=True)):
            after, sample = error.step(own, sample, dt_s, named(key, Stream.SENSOR_ERROR.of(i)))
            errors.append(after)
        return InstrumentState(sensor, tuple(errors)), sample

    def _measured(
        self, state: Any, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Any, Sample]:
        """The sensor alone."""
        later, *measured = self.sensor.step_beside_ideal(state, inputs, dt_s, key)
        sample = Sample(*measured, fresh=True)
        # as arrays of the working precision, as they are in the states of errors
        return later, as_arrays(sample)
