"""Descriptions of objects: text that tells any two apart which differ in a class or a value."""

import dataclasses
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from types import FunctionType
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

PLAIN = (bool, int, float, complex, str, bytes, type(None), datetime, np.dtype, np.generic)


@runtime_checkable
class Defined(Protocol):
    """Object that names all that it does depends on, and need not be a dataclass."""

    @property
    def definition(self) -> Sequence[Any]:
        """All values on which what it does depends."""
        ...


class IndescribableError(Exception):
    """Error of an object with parts of which no description tells all."""


def description(value: Any, package: str) -> str:
    """Return the description of a tree of plain values, arrays, containers and own objects.

    Objects are dataclasses, or tell their definition.

    Args:
        value: the object.
        package: the package in which all of its classes and functions are defined, besides those
            of Python and NumPy, since no more than their names are described.

    Raises:
        IndescribableError: for any other part.
    """
    return "\n".join(_lines(value, package))


def _lines(value: Any, package: str) -> Iterator[str]:
    line, parts = _described(value, package)
    yield f"{type(value).__name__} {len(parts)} {line}"
    for part in parts:
        yield from _lines(part, package)


def _described(value: Any, package: str) -> tuple[str, Sequence[Any]]:
    """Return what a value is without its parts, and these."""
    for kinds, describe in KINDS.items():
        if isinstance(value, kinds):
            return describe(value, package)
    if isinstance(value, Defined) and not isinstance(value, type):
        return _full_name(type(value), package), value.definition
    if not dataclasses.is_dataclass(value):
        raise IndescribableError(repr(type(value)))
    names = [field.name for field in dataclasses.fields(value)]
    if {*getattr(value, "__dict__", ())} - {*names}:
        raise IndescribableError(repr(type(value)))
    parts = [getattr(value, name) for name in names]
    return f"{_full_name(type(value), package)} {names}", parts


def _describe_array(value: np.ndarray | jax.Array, _package: str) -> tuple[str, Sequence[Any]]:
    array = np.asarray(value)
    return f"{array.dtype} {array.shape} {array.tobytes().hex()}", ()


def _describe_sequence(value: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    # names of vehicles, of which there may be many
    return (repr(value), ()) if {*map(type, value)} == {str} else ("", value)


# how each kind of values is described, the first that fits
KINDS: Mapping[Any, Callable[[Any, str], tuple[str, Sequence[Any]]]] = {
    enum.Enum: lambda value, package: (f"{_full_name(type(value), package)} {value.name}", ()),
    PLAIN: lambda value, _: (repr(value), ()),
    (np.ndarray, jax.Array): _describe_array,
    (tuple, list): lambda value, _: _describe_sequence(value),
    (set, frozenset): lambda value, _: ("", sorted(value)),
    Mapping: lambda value, _: ("", [*value, *value.values()]),
    (type, FunctionType): lambda value, package: (_full_name(value, package), ()),
    partial: lambda value, _: ("", (value.func, value.args, value.keywords)),
}


def _full_name(value: type | FunctionType, package: str) -> str:
    """Return the full name of a class or a function that others can import."""
    name = f"{value.__module__}.{value.__qualname__}"
    own = name.partition(".")[0] in (package, "builtins", "numpy")
    if not own or "<" in name or getattr(value, "__closure__", None):
        raise IndescribableError(name)
    return name
