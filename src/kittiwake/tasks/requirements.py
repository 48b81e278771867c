"""Requirements of a task on its scenario, checked before anything is compiled."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kittiwake.core.errors import CascadeError, ScenarioError
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import AssembledVehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.tasks.action_mapping import ActionMapping


class Requirements(NamedTuple):
    """Requirements beside the agents' entry and command type.

    Attributes:
        sensors: required sensors of each agent, under the task's names.
        world: required processes of the world by name, with the entry to write under ``world``.
        vehicles: names of other required vehicles.
        command_type: required actuator command of the agents; None for any.
        partner: True if each agent needs a partner with a deck.
    """

    sensors: Sequence[RequiredSensor] = ()
    world: Mapping[str, str] = MappingProxyType({})
    vehicles: Sequence[str] = ()
    command_type: type | None = None
    partner: bool = False


def check_requirements(scenario: Scenario, needs: Requirements, agents: Sequence[str]) -> None:
    """Check that a scenario has everything that a task requires.

    Raises:
        ScenarioError: for a missing item, with the entry to write.
    """
    for name in needs.vehicles:
        if name not in scenario.vehicles:
            message = f"vehicles: the task requires a vehicle '{name}'; write one under vehicles"
            raise ScenarioError(message)
    for name, entry in needs.world.items():
        if name not in scenario.world.processes:
            message = f"world.{name}: required by the task; write {entry} under world"
            raise ScenarioError(message)
    for name in agents:
        _refuse_agent(name, scenario, needs)


def _refuse_agent(name: str, scenario: Scenario, needs: Requirements) -> None:
    vehicle = scenario.vehicles[name]
    own_type = vehicle.dynamics.command_type
    if needs.command_type is not None and own_type is not needs.command_type:
        message = (
            f"model: got {vehicle.model} for '{name}', which takes {own_type.__name__}; must be "
            f"a model that takes {needs.command_type.__name__}"
        )
        raise ScenarioError(message)
    if needs.partner and name not in scenario.partners:
        message = f"partner: required for '{name}'; write partner: VESSEL beside its model"
        raise ScenarioError(message)
    for one in needs.sensors:
        own = vehicle.sensors.get(one.name)
        if own is None or own.component.sensor.measures is not one.measured:
            message = (
                f"sensors.{one.name}: '{name}' requires a sensor of {one.measured.__name__}; "
                f"write {one.name}: {one.sensor_type} under its sensors"
            )
            raise ScenarioError(message)


def check_command_type(name: str, vehicle: AssembledVehicle, mapping: ActionMapping) -> None:
    """Check that a vehicle's controllers accept the agents' command type.

    Raises:
        ScenarioError: if they do not, with the available controllers and the missing level.
    """
    controllers = [scheduled.component for scheduled in vehicle.cascade]
    try:
        cascade_path(controllers, mapping.command_type, vehicle.dynamics.command_type)
    except CascadeError as error:
        message = f"'{name}': the task's agents command {mapping.command_type.__name__}: {error}"
        raise ScenarioError(message) from None
