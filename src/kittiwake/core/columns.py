"""Typed records as named numbers: the columns of logs and of recorded input files.

A scalar field is a column of its own name. A vector field ``velocity_world_mps`` is three, with the
axis before the frame and unit: ``velocity_x_world_mps``; a tuple or an array ``speeds_radps`` is as
many as it has numbers, counted from 0: ``speeds_0_radps``. A nested record's fields follow its name
and a dot.
"""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

import equinox as eqx
import numpy as np

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Count, Flag, Real
from kittiwake.geometry.vec3 import Vec3

# what a column can hold
Number: TypeAlias = Real | Count | Flag

FRAMES = ("world", "body")


def axis_column(name: str, axis: str) -> str:
    """The column of one axis of the vector field ``name``."""
    words = name.split("_")
    at = next((i for i, word in enumerate(words) if word in FRAMES), max(len(words) - 1, 1))
    return "_".join([*words[:at], axis, *words[at:]])


def column_names(kind: type[eqx.Module]) -> list[str]:
    """The columns of a record type, whose arrays must be tuples of a known length."""
    hints = get_type_hints(kind)
    return [column for f in fields(kind) for column in _columns_of(f.name, hints[f.name])]


def from_columns(kind: type[eqx.Module], values: dict[str, Number]) -> Any:
    """A record of this type from its columns."""
    remaining = iter([values[name] for name in column_names(kind)])
    return _record(kind, remaining)


def to_columns(record: eqx.Module | dict[str, Any], prefix: str = "") -> dict[str, Number]:
    """A record's numbers by column, each name with ``prefix`` before it."""
    items = record.items() if isinstance(record, dict) else _items(record)
    columns: dict[str, Number] = {}
    for name, value in items:
        columns.update(_numbers(prefix, name, value))
    return columns


def _numbers(prefix: str, name: str, value: Any) -> dict[str, Number]:
    if isinstance(value, Vec3 | Quaternion):
        parts = [getattr(value, f.name) for f in fields(value)]
        names = _columns_of(name, type(value))
        return {prefix + column: part for column, part in zip(names, parts, strict=True)}
    if isinstance(value, eqx.Module | dict):
        return to_columns(value, f"{prefix}{name}.")
    if isinstance(value, tuple | list):
        return {prefix + axis_column(name, str(i)): part for i, part in enumerate(value)}
    places = np.ndindex(np.shape(value))
    if np.ndim(value) == 0:
        return {prefix + name: value}
    return {prefix + axis_column(name, "_".join(map(str, at))): value[at] for at in places}


def _columns_of(name: str, kind: Any) -> list[str]:
    if kind is Vec3:
        return [axis_column(name, axis) for axis in "xyz"]
    if kind is Quaternion:
        return [f"{name}_{part}" for part in "wxyz"]
    if get_origin(kind) is tuple:
        return [axis_column(name, str(i)) for i in range(len(get_args(kind)))]
    if _is_record(kind):
        return [f"{name}.{column}" for column in column_names(kind)]
    return [name]


def _record(kind: Any, numbers: Iterator[Number]) -> Any:
    hints = get_type_hints(kind)
    return kind(*(_value(hints[f.name], numbers) for f in fields(kind)))


def _value(kind: Any, numbers: Iterator[Number]) -> Any:
    if get_origin(kind) is tuple:
        return tuple(next(numbers) for _ in get_args(kind))
    return _record(kind, numbers) if _is_record(kind) else next(numbers)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, eqx.Module)


def _items(record: eqx.Module) -> list[tuple[str, Any]]:
    return [(f.name, getattr(record, f.name)) for f in fields(record)]
