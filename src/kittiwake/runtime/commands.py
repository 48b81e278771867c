"""Validation of users' commands and their conversion to flat lists of numbers."""

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cache
from math import inf, isfinite
from types import MappingProxyType
from typing import (
    Annotated,
    Any,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from kittiwake.core.bounds import Bounds
from kittiwake.core.columns import column_names, from_columns
from kittiwake.core.commands import Command
from kittiwake.core.errors import CascadeError, CommandError
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.dynamics import AbstractDynamics
from kittiwake.interfaces.vehicle import AssembledVehicle

UNIT_TOLERANCE = 1e-3
# vehicles with their command types
CommandTypes: TypeAlias = tuple[tuple[str, type], ...]
COMMAND_TYPES: tuple[type, ...] = get_args(Command)


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
    numbers: list[float] = []
    for name, command in commands.items():
        given = _numbers(name, command)
        if name in vehicles and type(command) is vehicles[name].dynamics.command_type:
            _check_actuators(name, type(command), given, vehicles[name].dynamics)
        numbers += given
    return numbers


def commands_from_values(
    command_types: CommandTypes,
    numbers: Iterable[Any],
    vehicles: Mapping[str, AssembledVehicle] = MappingProxyType({}),
) -> dict[str, Any]:
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


def _numbers(name: str, command: Any) -> list[float]:
    if not isinstance(command, COMMAND_TYPES):
        allowed = ", ".join(f"kw.{command_type.__name__}" for command_type in COMMAND_TYPES)
        given = type(command).__name__
        message = f"the command for '{name}' is a {given}; give one of {allowed}"
        raise CommandError(message)
    return _numbers_inside(command, f"the {type(command).__name__} for '{name}'", name)


def _numbers_inside(command: Any, whole: str, name: str, prefix: str = "") -> list[float]:
    """Return the numbers of a command or a nested one; ``prefix`` begins field names in errors."""
    numbers: list[float] = []
    for part in _parts(type(command)):
        value, path = getattr(command, part.field), f"{prefix}{part.field}"
        if part.field_type in COMMAND_TYPES:
            if not isinstance(value, part.field_type):
                raise _refusal(path, whole, value, f"a kw.{part.field_type.__name__}")
            numbers += _numbers_inside(value, whole, name, f"{path}.")
            continue
        try:
            given = _flat(value)
        except (TypeError, ValueError):
            given = []
        fits = bool(given) if part.length is None else len(given) == part.length
        if not fits or not all(map(isfinite, given)):
            raise _refusal(path, whole, value, _finite_numbers(part.length))
        if part.bounds is not None and not all(map(part.bounds.contains, given)):
            raise _refusal(path, whole, value, str(part.bounds))
        if (
            part.field_type is Quaternion
            and abs(sum(x * x for x in given) - 1.0) > 2.0 * UNIT_TOLERANCE
        ):
            message = (
                f"{path} of the command for '{name}' has the norm "
                f"{sum(x * x for x in given) ** 0.5:.6g}; a rotation is a unit quaternion "
                "(w, x, y, z), such as kw.Quaternion.from_euler(...)"
            )
            raise CommandError(message)
        numbers += given
    return numbers


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


def _flat(value: Any) -> list[float]:
    if isinstance(value, Vec3):
        return [float(value.x), float(value.y), float(value.z)]
    if isinstance(value, Quaternion):
        return [float(value.w), float(value.x), float(value.y), float(value.z)]
    if isinstance(value, float):
        return [value]
    return np.asarray(value, dtype=np.float64).ravel().tolist()


class _Part(NamedTuple):
    """A command's field: name, type, count of numbers and their bounds.

    ``length`` is None for one number for each actuator of the vehicle.
    """

    field: str
    field_type: Any
    length: int | None
    bounds: Bounds | None


@cache
def _parts(command_type: type[Any]) -> tuple[_Part, ...]:
    hints = get_type_hints(command_type, include_extras=True)
    return tuple(_part(f.name, hints[f.name]) for f in dataclasses.fields(command_type))


def _part(field: str, hint: Any) -> _Part:
    bounds = None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        bounds = next((note for note in notes if isinstance(note, Bounds)), None)
    if get_origin(hint) is tuple:
        items = get_args(hint)
        return _Part(field, hint, None if ... in items else len(items), bounds)
    length = {Vec3: len("xyz"), Quaternion: len("wxyz")}.get(hint, 1)
    return _Part(field, hint, length, bounds)


def _finite_numbers(length: int | None) -> str:
    numbers = {None: "finite numbers", 1: "one finite number", 3: "three finite numbers"}
    return numbers.get(length, "four finite numbers")


def _refusal(field: str, whole: str, value: Any, allowed: str) -> CommandError:
    return CommandError(f"{field} of {whole} must be {allowed}; it is {value!r}")
