"""Validation of a user's command and its conversion to a flat list of numbers."""

import dataclasses
from collections.abc import Sequence
from functools import cache
from math import isfinite
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from kittiwake.core.bounds import Bounds
from kittiwake.core.commands import Command, ThrustTorque
from kittiwake.core.errors import CommandError, described_value
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.vec3 import Vec3

UNIT_TOLERANCE = 1e-3
COMMAND_TYPES: tuple[type, ...] = get_args(Command)


def command_example(command_type: type) -> str:
    """Return a call of a command type with the names of its fields."""
    names = ", ".join(field.name for field in dataclasses.fields(command_type))
    return f"kw.{command_type.__name__}({names})"


def one_of_commands(allowed: Sequence[type], example: type = ThrustTorque) -> str:
    """Return the names of command types, with an example, which is the first one by default."""
    names = ", ".join(f"kw.{command_type.__name__}" for command_type in allowed)
    shown = example if example in allowed else next(iter(allowed))
    return f"one of {names}, such as {command_example(shown)}"


def command_numbers(
    name: str, command: Any, allowed: Sequence[type] = COMMAND_TYPES
) -> list[float]:
    """Return the numbers of a command, field by field in order.

    A scalar may be any number or array of one; a vector also a list of three; a quaternion also a
    list (w, x, y, z).

    Args:
        name: the vehicle, for messages.
        command: the command.
        allowed: the command types to name in messages.

    Raises:
        CommandError: for anything that is not a command of finite numbers, or for a quaternion that
            is not a unit one.
    """
    if not isinstance(command, COMMAND_TYPES):
        given = described_value(command)
        message = f"the command for '{name}' is {given}; give {one_of_commands(allowed)}"
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
