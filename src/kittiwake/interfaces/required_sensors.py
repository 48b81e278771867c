"""Check that a vehicle has the sensors that its components name."""

from collections.abc import Mapping
from typing import NamedTuple

from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.sensor import AbstractSensor


class RequiredSensor(NamedTuple):
    """A sensor that a component requires.

    Attributes:
        name: the name of the sensor on the vehicle.
        measured: the class of its measurements.
        sensor_type: a sensor type with such measurements, for the error message.
        optional: true if the component also works without this sensor.
    """

    name: str
    measured: type
    sensor_type: str
    optional: bool = False


def require_sensors(
    sensors: Mapping[str, AbstractSensor], required: Mapping[str, RequiredSensor]
) -> None:
    """Raise an error if a required sensor is missing or measures something else.

    Args:
        sensors: the vehicle's sensors, by name.
        required: the required sensors, by the parameter that names them.

    Raises:
        ScenarioError: lists all missing sensors and what to write.
    """
    problems = [
        f"{parameter}: {_problem(sensors, sensor)}; a sensor that gives "
        f"{sensor.measured.__name__} is required: write {sensor.name}: {sensor.sensor_type} under "
        "sensors, or the name of another sensor here"
        f"{', or null for none' if sensor.optional else ''}"
        for parameter, sensor in required.items()
        if sensor.name not in sensors or sensors[sensor.name].measures is not sensor.measured
    ]
    if problems:
        raise ScenarioError("; ".join(problems))


def _problem(sensors: Mapping[str, AbstractSensor], required: RequiredSensor) -> str:
    if required.name not in sensors:
        return f"the vehicle has no sensor '{required.name}'"
    return f"the sensor '{required.name}' gives {sensors[required.name].measures.__name__}"
