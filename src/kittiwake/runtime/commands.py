"""Validation of users' commands and their conversion to flat lists of numbers."""

from collections.abc import Iterable, Mapping
from math import inf
from types import MappingProxyType
from typing import Any, TypeAlias

from kittiwake.core.bounds import Bounds
from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.command_numbers import COMMAND_TYPES, command_numbers
from kittiwake.core.commands import Command
from kittiwake.core.errors import CascadeError, CommandError, did_you_mean
from kittiwake.geometry.scalar import Real
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.vehicle import AssembledVehicle

# commands by vehicle as a user gives them, before they are validated
Commands: TypeAlias = Mapping[str, Any]
# vehicles with their command types
CommandTypes: TypeAlias = tuple[tuple[str, type[Command]], ...]


def command_values(commands: object, vehicles: Mapping[str, AssembledVehicle]) -> list[float]:
    """Return the numbers of all commands, field by field in order.

    A scalar may be any number or array of one; a vector also a list of three; a quaternion also a
    list (w, x, y, z).

    Raises:
        CommandError: for anything that is not a command of finite numbers, for a quaternion that is
            not a unit one, or for an actuator command outside its vehicle's bounds.
    """
    if not isinstance(commands, Mapping):
        message = (
            f"commands are a {type(commands).__name__}; give a mapping from vehicle to command, "
            'such as {"pelican": kw.PositionYaw(...)}'
        )
        raise CommandError(message)
    for name in commands:
        # before the types, of which those of this vehicle are unknown
        if vehicles and name not in vehicles:
            message = f"there is no vehicle {name!r}. {did_you_mean(str(name), vehicles)}"
            raise CommandError(message)
    numbers: list[float] = []
    for name, command in commands.items():
        known = isinstance(command, COMMAND_TYPES) or name not in vehicles
        allowed = COMMAND_TYPES if known else accepted_commands(vehicles[name])
        given = command_numbers(name, command, allowed)
        if name in vehicles and type(command) is vehicles[name].dynamics.command_type:
            _check_actuators(name, type(command), given, vehicles[name].dynamics)
        numbers += given
    return numbers


def commands_from_values(
    command_types: CommandTypes,
    numbers: Iterable[Real],
    vehicles: Mapping[str, AssembledVehicle] = MappingProxyType({}),
) -> dict[str, Command]:
    """Return commands from their numbers, inside a compiled function."""
    remaining = iter(numbers)
    return {
        name: from_columns(command_type, {column: next(remaining) for column in columns})
        for (name, command_type), columns in zip(
            command_types, command_columns(command_types, vehicles), strict=True
        )
    }


def command_columns(
    command_types: CommandTypes, vehicles: Mapping[str, AssembledVehicle]
) -> list[list[str]]:
    """Return the column names of each command, with one for each actuator where it has them."""
    counts = {name: vehicle.dynamics.actuator_count for name, vehicle in vehicles.items()}
    return [column_names(command_type, counts.get(name, 0)) for name, command_type in command_types]


def require_cascade(command_types: CommandTypes, vehicles: Mapping[str, AssembledVehicle]) -> None:
    """Require that vehicles' controllers lead from these command types to the actuator commands.

    Raises:
        CascadeError: with the command types that the vehicle accepts.
    """
    for name, command_type in command_types:
        if name not in vehicles:
            continue  # the fleet refuses it
        vehicle = vehicles[name]
        if not accepts_command(command_type, vehicle):
            accepted = ", ".join(f"kw.{one.__name__}" for one in accepted_commands(vehicle))
            message = (
                f"the command for '{name}' cannot be followed: no controller leads from "
                f"{command_type.__name__} to {vehicle.dynamics.command_type.__name__}, which the "
                f"vehicle takes; give one of {accepted}"
            )
            raise CascadeError(message, command_type.__name__)


def accepts_command(command_type: type, vehicle: AssembledVehicle) -> bool:
    """Return True if a vehicle's controllers lead from a command type to its actuator command."""
    controllers = [level.component for level in vehicle.cascade]
    try:
        cascade_path(controllers, command_type, vehicle.dynamics.command_type)
    except CascadeError:
        return False
    return True


def accepted_commands(vehicle: AssembledVehicle) -> tuple[type, ...]:
    """Return the command types that a vehicle accepts, from high to low."""
    return tuple(
        command_type for command_type in COMMAND_TYPES if accepts_command(command_type, vehicle)
    )


def _check_actuators(
    name: str, command_type: type, numbers: list[float], dynamics: AbstractDynamics
) -> None:
    count, bounds = dynamics.actuator_count, dynamics.command_bounds
    if count not in (0, len(numbers)):
        message = (
            f"the {command_type.__name__} for '{name}': got {len(numbers)} numbers; must be "
            f"{count}, one for each actuator of the vehicle"
        )
        raise CommandError(message)
    for column, number in zip(column_names(command_type, count), numbers, strict=True):
        low, high = bounds.get(column, (-inf, inf))
        bound = Bounds(float(low), float(high))
        if not bound.contains(number):
            message = f"`{column}` of '{name}': got {number:g}; must be {bound}"
            raise CommandError(message)
