"""What a task needs of its scenario, so that one that lacks it is refused before it is compiled."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kittiwake.core.errors import CascadeError, ScenarioError
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.required_sensors import RequiredSensor
from kittiwake.interfaces.vehicle import Vehicle
from kittiwake.scenario.scenario import Scenario
from kittiwake.tasks.action_mapping import ActionMapping


class Requirements(NamedTuple):
    """All that is not said by the agents' entry and rung.

    Attributes:
        sensors: of each agent; their names are the task's.
        world: processes of the world by name, with what to write under ``world``.
        vehicles: others, by name.
        native: the command that an agent has to carry out itself, if that matters.
        partner: whether each agent follows the deck of another vehicle.
    """

    sensors: Sequence[RequiredSensor] = ()
    world: Mapping[str, str] = MappingProxyType({})
    vehicles: Sequence[str] = ()
    command_type: type | None = None
    partner: bool = False


def check_requirements(scenario: Scenario, needs: Requirements, agents: Sequence[str]) -> None:
    """Refuses a scenario in which something is missing.

    Raises:
        ScenarioError: with what to write.
    """
    for name in needs.vehicles:
        if name not in scenario.vehicles:
            message = f"the task needs a vehicle '{name}'; write one under vehicles"
            raise ScenarioError(message)
    for name, entry in needs.world.items():
        if name not in scenario.world.processes:
            message = f"the task needs world.{name}; write {entry} under world"
            raise ScenarioError(message)
    for name in agents:
        _refuse_agent(name, scenario, needs)


def _refuse_agent(name: str, scenario: Scenario, needs: Requirements) -> None:
    vehicle = scenario.vehicles[name]
    native = vehicle.dynamics.command_type
    if needs.command_type is not None and native is not needs.command_type:
        message = (
            f"the task's agents take {needs.command_type.__name__}, the {vehicle.model} '{name}' "
            f"takes {native.__name__}; give the task another model"
        )
        raise ScenarioError(message)
    if needs.partner and name not in scenario.partners:
        message = f"the task's agent '{name}' needs a deck; write partner: VESSEL beside its model"
        raise ScenarioError(message)
    for one in needs.sensors:
        own = vehicle.sensors.get(one.name)
        if own is None or own.component.sensor.measures is not one.measured:
            message = (
                f"the task's agent '{name}' needs a sensor '{one.name}' of "
                f"{one.measured.__name__}; write {one.name}: {one.kind} under its sensors"
            )
            raise ScenarioError(message)


def check_command_type(name: str, vehicle: Vehicle, mapping: ActionMapping) -> None:
    """Refuses a vehicle that cannot do what agents ask for.

    Raises:
        ScenarioError: with the controllers at hand, and the rung that is missing.
    """
    controllers = [scheduled.component for scheduled in vehicle.cascade]
    try:
        cascade_path(controllers, mapping.kind, vehicle.dynamics.command_type)
    except CascadeError as error:
        message = f"'{name}': the task's agents ask for {mapping.kind.__name__}: {error}"
        raise ScenarioError(message) from None
