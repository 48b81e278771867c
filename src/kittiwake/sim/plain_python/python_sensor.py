"""Sensors in plain Python."""

from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array, PRNGKeyArray
from typing_extensions import override

from kittiwake.core.errors import OwnComponentError, ScenarioError
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Flag, Real
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.sensor import AbstractSensor, SensorInputs
from kittiwake.pytree import Module, field
from kittiwake.sim.plain_python.host_object import HostObject
from kittiwake.sim.plain_python.measurement_form import ALLOWED, MeasurementForm
from kittiwake.sim.plain_python.python_component import (
    AbstractPythonComponent,
    HostState,
    OwnSetting,
    as_floats,
    named_type,
    trial,
)

MEASURES = "measures"


class PythonSensorState(Module):
    """State of a sensor in plain Python; ``fresh`` is false if ``update`` returned None."""

    host: HostState
    fresh: Flag


class PythonSensor(AbstractPythonComponent, AbstractSensor):
    """Sensor that calls one in plain Python."""

    noun: ClassVar[str] = "a sensor"
    interface: ClassVar[str] = "AbstractSensor"

    form: MeasurementForm = field(static=True)

    @classmethod
    @override
    def of(
        cls, host: HostObject, setting: OwnSetting, dynamics: AbstractDynamics
    ) -> "PythonSensor":
        del dynamics
        # what is not loaded is not flown
        form = MeasurementForm.of(0.0, host.title)
        if host.original is not None:
            form = _declared(host) or _found(host, setting)
        kind = named_type(PythonSensor, host.title, ((MEASURES, form.record_type),))
        # the first number is that of ``fresh``
        return kind(host, (0.0,) * (1 + form.size), form)

    @override
    def init(self, key: PRNGKeyArray) -> PythonSensorState:
        return PythonSensorState(HostState.of(key), fresh=False)

    @override
    def step(
        self, state: PythonSensorState, inputs: SensorInputs, dt_s: Real, key: PRNGKeyArray
    ) -> tuple[PythonSensorState, AbstractMeasurement]:
        del dt_s, key
        later, output = self.call(state.host, inputs.time_s, (as_floats(inputs.truth),))
        fresh, measurement = output
        return PythonSensorState(later, fresh), measurement

    @override
    def is_fresh(self, state: PythonSensorState) -> Flag:
        return state.fresh

    @override
    def numbers_of(self, returned: Any, held: np.ndarray) -> np.ndarray:
        is_fresh = returned is not None
        numbers = self.form.numbers(returned) if is_fresh else held[1:]
        return np.concatenate([[is_fresh], numbers])

    @override
    def output_of(self, numbers: Array) -> tuple[Flag, AbstractMeasurement]:
        return numbers[0] > 0, self.form.record(numbers[1:])


def _declared(host: HostObject) -> MeasurementForm | None:
    """Return the form that a class declares; None if it declares none, or arrays of any size.

    Raises:
        ScenarioError: if it declares something else.
    """
    declared = getattr(host.original, MEASURES, None)
    if declared is None:
        return None
    if isinstance(declared, type) and issubclass(declared, AbstractMeasurement):
        return MeasurementForm.of_type(declared)
    message = (
        f"{host.title}.{MEASURES}: got {declared!r}; must be a class of kw.measurements, such as "
        "kw.measurements.RangeMeasurement"
    )
    raise ScenarioError(message)


def _found(host: HostObject, setting: OwnSetting) -> MeasurementForm:
    """Return the form of what a copy of the sensor measures at the start.

    Raises:
        OwnComponentError: if it fails, or measures nothing there.
    """
    instead = "such as measures = kw.measurements.RangeMeasurement"
    given, found = "the motion at the start", "what it measures"
    returned = trial(host, (setting.motion,), given, found, instead)
    if returned is None:
        message = (
            f"{host.title}.update returned None at the start, so that the kind of its measurement "
            f"is unknown; must be {ALLOWED}. Write into the class {instead}"
        )
        raise OwnComponentError(message)
    return MeasurementForm.of(returned, host.title)
