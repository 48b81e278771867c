"""Commands that people hand to a simulation: as plain numbers, or refused with what is wrong."""

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cache
from math import inf, isfinite
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
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.cascade import cascade_path
from kittiwake.interfaces.vehicle import Vehicle

UNIT_TOLERANCE = 1e-3
# vehicles with the types of their signals
Kinds: TypeAlias = tuple[tuple[str, type], ...]
SIGNALS: tuple[type, ...] = get_args(Command)


def numbers_of(commands: object, vehicles: Mapping[str, Vehicle]) -> list[float]:
    """The numbers of all commands, field by field in order.

    A scalar may be any number or array of one; a vector also a list of three; a quaternion also a
    list (w, x, y, z).

    Raises:
        CommandError: for anything that is no signal of finite numbers, with unit quaternions, or a
            native command outside its vehicle's bounds.
    """
    if not isinstance(commands, Mapping):
        message = (
            f"commands are a {type(commands).__name__}; give a mapping from vehicle to signal, "
            'such as {"pelican": kw.PositionYaw(...)}'
        )
        raise CommandError(message)
    numbers: list[float] = []
    for name, signal in commands.items():
        given = _numbers(name, signal)
        if name in vehicles and type(signal) is vehicles[name].dynamics.command_type:
            _check_bounds(name, type(signal), given, vehicles[name].dynamics.command_bounds)
        numbers += given
    return numbers


def commands_of(kinds: Kinds, numbers: Iterable[Any]) -> dict[str, Any]:
    """The commands again from their numbers, inside a compiled function."""
    remaining = iter(numbers)
    return {
        name: from_columns(kind, {column: next(remaining) for column in column_names(kind)})
        for name, kind in kinds
    }


def refuse_dead_ends(kinds: Kinds, vehicles: Mapping[str, Vehicle]) -> None:
    """Refuses kinds of signals from which a vehicle's controllers do not lead down.

    Raises:
        LadderError: with the kinds of signals that the vehicle takes.
    """
    for name, kind in kinds:
        if name not in vehicles:
            continue  # which the fleet refuses
        vehicle = vehicles[name]
        if not leads_down(kind, vehicle):
            taken = ", ".join(f"kw.{one.__name__}" for one in SIGNALS if leads_down(one, vehicle))
            message = (
                f"the command for '{name}' cannot be followed: nothing leads from "
                f"{kind.__name__} to {vehicle.dynamics.command_type.__name__}, which the vehicle "
                f"takes; give one of {taken}"
            )
            raise CascadeError(message, kind.__name__)


def leads_down(kind: type, vehicle: Vehicle) -> bool:
    """Whether a vehicle's controllers lead from a kind of signal to its native one."""
    controllers = [level.component for level in vehicle.cascade]
    try:
        cascade_path(controllers, kind, vehicle.dynamics.command_type)
    except CascadeError:
        return False
    return True


def _numbers(name: str, signal: Any) -> list[float]:
    if not isinstance(signal, SIGNALS):
        allowed = ", ".join(f"kw.{kind.__name__}" for kind in SIGNALS)
        given = type(signal).__name__
        message = f"the command for '{name}' is a {given}; give a signal, one of {allowed}"
        raise CommandError(message)
    return _numbers_inside(signal, f"the {type(signal).__name__} for '{name}'", name)


def _numbers_inside(signal: Any, whole: str, name: str, prefix: str = "") -> list[float]:
    """The numbers of a signal, or of one inside it; messages begin its fields with ``prefix``."""
    numbers: list[float] = []
    for part in _parts(type(signal)):
        value, called = getattr(signal, part.field), f"{prefix}{part.field}"
        if part.kind in SIGNALS:
            if not isinstance(value, part.kind):
                raise _refusal(called, whole, value, f"a kw.{part.kind.__name__}")
            numbers += _numbers_inside(value, whole, name, f"{called}.")
            continue
        try:
            given = _flat(value)
        except (TypeError, ValueError):
            given = []
        if len(given) != part.length or not all(map(isfinite, given)):
            raise _refusal(called, whole, value, _numbers_wanted(part.length))
        if part.bounds is not None and not all(map(part.bounds.hold, given)):
            raise _refusal(called, whole, value, str(part.bounds))
        if part.kind is Quaternion and abs(sum(x * x for x in given) - 1.0) > 2.0 * UNIT_TOLERANCE:
            message = (
                f"{called} of the command for '{name}' has the norm "
                f"{sum(x * x for x in given) ** 0.5:.6g}; a rotation is a unit quaternion "
                "(w, x, y, z), such as kw.Quaternion.from_euler(...)"
            )
            raise CommandError(message)
        numbers += given
    return numbers


def _check_bounds(
    name: str, kind: type, numbers: list[float], bounds: Mapping[str, tuple[Real, Real]]
) -> None:
    for column, number in zip(column_names(kind), numbers, strict=True):
        low, high = bounds.get(column, (-inf, inf))
        bound = Bounds(float(low), float(high))
        if not bound.hold(number):
            message = f"{column} {number:g} for '{name}' is not allowed; must be {bound}"
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
    """A signal's field: its name and type, how many numbers it holds, and what these may be."""

    field: str
    kind: Any
    length: int
    bounds: Bounds | None


@cache
def _parts(kind: type[Any]) -> tuple[_Part, ...]:
    hints = get_type_hints(kind, include_extras=True)
    return tuple(_part(f.name, hints[f.name]) for f in dataclasses.fields(kind))


def _part(field: str, hint: Any) -> _Part:
    bounds = None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        bounds = next((note for note in notes if isinstance(note, Bounds)), None)
    if get_origin(hint) is tuple:
        return _Part(field, hint, len(get_args(hint)), bounds)
    length = {Vec3: len("xyz"), Quaternion: len("wxyz")}.get(hint, 1)
    return _Part(field, hint, length, bounds)


def _numbers_wanted(length: int) -> str:
    return {1: "one finite number", 3: "three finite numbers", 4: "four finite numbers"}[length]


def _refusal(field: str, whole: str, value: Any, wanted: str) -> CommandError:
    return CommandError(f"{field} of {whole} must be {wanted}; it is {value!r}")
