"""Recorded measurements in place of simulated ones."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from typing_extensions import override

from kittiwake.core.arrays import as_arrays
from kittiwake.core.columns import column_names, from_columns, to_columns
from kittiwake.core.elapsed import elapsed_s
from kittiwake.core.errors import ScenarioError, did_you_mean
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.core.recording import Recording
from kittiwake.geometry.scalar import Integer, Real
from kittiwake.interfaces.instrument import AbstractSensorError, Sample
from kittiwake.pytree import field


class MeasurementPlayback(AbstractSensorError[Integer]):
    """Measurements of a file, held until the next row, in place of the simulated ones.

    The columns are those of a log: ``sensor.NAME.FIELD`` with the name ``sensor``, or the fields
    alone without one. Fields that follow from others may be missing, and those that the measurement
    has a value for. The simulated measurement counts as the one without errors.

    Attributes:
        file: recorded measurements.
        sensor: name of the sensor in the file.
    """

    file: Recording
    sensor: str = field(static=True, default="")

    @override
    def check(self, measurement: type, period_s: Real) -> None:
        del period_s
        if not issubclass(measurement, AbstractMeasurement):
            message = f"measurements of the kind {measurement.__name__} cannot be played back"
            raise ScenarioError(message)
        own = self._own_columns()
        missing = [name for name in _measured_columns(measurement, len(own)) if name not in own]
        if missing:
            name = f"{self._prefix}{missing[0]}"
            advice = did_you_mean(name, self.file.columns)
            message = f"{self.file.source} has no column '{name}'. {advice}"
            raise ScenarioError(message)

    @override
    def init(self, key: PRNGKeyArray, first: Sample, dt_s: Real) -> Integer:
        del key, first, dt_s
        return jnp.asarray(0, jnp.int32)

    @override
    def step(
        self, state: Integer, sample: Sample, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[Integer, Sample]:
        del key
        now_s = elapsed_s(jnp.asarray(state, jnp.result_type(float)) * dt_s, dt_s)
        row = jnp.searchsorted(self.file.time_s, now_s, side="right") - 1
        values = jnp.asarray(self.file.values)[jnp.maximum(row, 0)]
        simulated, own = as_arrays(sample.measurement), self._own_columns()
        kind = type(sample.measurement)
        recorded = {
            name: (
                values[own[name]] if name in own else jnp.asarray(_unrecorded(kind, name))
            ).astype(jnp.result_type(like))
            for name, like in to_columns(simulated).items()
        }
        measurement = from_columns(type(simulated), recorded).consistent()
        return state + 1, replace(sample, measurement=as_arrays(measurement))

    @property
    def _prefix(self) -> str:
        return f"sensor.{self.sensor}." if self.sensor else ""

    def _own_columns(self) -> dict[str, int]:
        """Return the fields' columns, without the name of the sensor, with their places."""
        return {
            name.removeprefix(self._prefix): place
            for place, name in enumerate(self.file.columns)
            if name.startswith(self._prefix)
        }

    @classmethod
    @override
    def examples(cls) -> dict[str, "MeasurementPlayback"]:
        columns = ("number",)
        file = Recording(columns, "recording.csv", 0.04, np.array([0.0, 0.02]), np.ones((2, 1)))
        return {"": cls(file)}


def _unrecorded(measurement: type[AbstractMeasurement], column: str) -> float:
    """Return the value of a column that a file lacks; 0 where it follows from the others."""
    fields = measurement.unrecorded.items()
    return next((value for name, value in fields if column.startswith(name)), 0.0)


def _measured_columns(measurement: type[AbstractMeasurement], length: int) -> list[str]:
    """Return the columns that a file must have."""
    optional = (*measurement.derived, *measurement.unrecorded)
    return [
        name
        for name in column_names(measurement, length)
        if not any(name.startswith(field) for field in optional)
    ]
