"""Refusing a vehicle that lacks a sensor which one of its components names."""

from collections.abc import Mapping
from typing import NamedTuple

from kittiwake.core.errors import ScenarioError
from kittiwake.interfaces.sensor import AbstractSensor


class RequiredSensor(NamedTuple):
    """A sensor by its name: what it has to measure, a type that does, and whether it has to be."""

    name: str
    measured: type
    kind: str
    optional: bool = False


def require_sensors(
    sensors: Mapping[str, AbstractSensor], needed: Mapping[str, RequiredSensor]
) -> None:
    """Refuses sensors among which one is missing, or of another kind.

    Args:
        sensors: those of the vehicle.
        needed: by the parameter that names them.

    Raises:
        ScenarioError: with all that is wrong, and what to write.
    """
    problems = [
        f"{parameter}: {_found(sensors, one)}; a sensor of {one.measured.__name__} is needed: "
        f"write {one.name}: {one.kind} under sensors, or the name of another one here"
        f"{', or null to do without' if one.optional else ''}"
        for parameter, one in needed.items()
        if one.name not in sensors or sensors[one.name].measures is not one.measured
    ]
    if problems:
        raise ScenarioError("; ".join(problems))


def _found(sensors: Mapping[str, AbstractSensor], one: RequiredSensor) -> str:
    if one.name not in sensors:
        return f"the vehicle has no sensor '{one.name}'"
    return f"the sensor '{one.name}' gives {sensors[one.name].measures.__name__}"
