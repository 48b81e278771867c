"""Instrument: a sensor and its errors, as components; interface of sensor errors."""

from abc import abstractmethod
from typing import Generic

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import ArrayTree, as_arrays
from kittiwake.core.component import AbstractModel, AbstractSteppedComponent, Output, State
from kittiwake.core.keys import fold_in_name
from kittiwake.core.streams import Stream
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import Module


class Sample(Module, Generic[Output]):
    """The output of an instrument at a step.

    Attributes:
        measurement: the latest measurement.
        ideal: the same measurement without errors; None if the sensor cannot give it.
        fresh: true if the measurement is new, false if the last one is held.
    """

    measurement: Output
    ideal: Output | None
    fresh: Flag


class AbstractSensorError(AbstractModel, Generic[State]):
    """A sensor error: transforms samples, for example by a bias, a delay or dropouts."""

    def check(self, measurement: type, period_s: Real) -> None:
        """Check that the error suits a type of measurement and a sampling period.

        Raises:
            ScenarioError: if it does not; the message says what to write instead.
        """
        del measurement, period_s

    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> State | tuple[()]:
        """Return the initial state; ``first`` is a sample of zeros of the right shapes."""
        del key, first, dt_s
        return ()

    @abstractmethod
    def step(
        self, state: State, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, Sample]:
        """Return the next state and the transformed sample."""


class InstrumentState(Module, Generic[State]):
    """State of the sensor and of each of its errors."""

    sensor: State
    errors: tuple[ArrayTree, ...]


class Instrument(AbstractSteppedComponent[InstrumentState, SensorInputs, Sample]):
    """A sensor, and errors that are applied to its samples in order."""

    sensor: AbstractSensor
    errors: tuple[AbstractSensorError, ...] = ()

    def init(
        self, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InstrumentState, Sample]:
        """Return the initial state and a sample of zeros; only the shapes of ``inputs`` matter."""
        sensor = self.sensor.init(fold_in_name(key, Stream.INIT))
        shapes = jax.eval_shape(lambda: self._sensor_sample(sensor, inputs, dt_s, key)[1])
        first = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        errors = tuple(
            error.init(fold_in_name(key, Stream.SENSOR_ERROR.of(f"{i}.{Stream.INIT}")), first, dt_s)
            for i, error in enumerate(self.errors)
        )
        return InstrumentState(sensor, errors), first

    @override
    def step(
        self, state: InstrumentState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[InstrumentState, Sample]:
        sensor, sample = self._sensor_sample(state.sensor, inputs, dt_s, key)
        errors: list[ArrayTree] = []
        for i, (error, own) in enumerate(zip(self.errors, state.errors, strict=True)):
            after, sample = error.step(
                own, sample, dt_s, fold_in_name(key, Stream.SENSOR_ERROR.of(i))
            )
            errors.append(after)
        return InstrumentState(sensor, tuple(errors)), sample

    def _sensor_sample(
        self, state: State, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[State, Sample]:
        """Return the sensor's next state and its sample before the errors."""
        later, *measured = self.sensor.step_with_ideal(state, inputs, dt_s, key)
        sample = Sample(*measured, fresh=self.sensor.is_fresh(later))
        # in the working precision, as in the states of the errors
        return later, as_arrays(sample)
