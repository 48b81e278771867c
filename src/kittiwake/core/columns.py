"""Conversion of typed records to named columns and back, for logs and recorded input files.

A scalar field is a column of its own name. A vector field ``velocity_world_mps`` is three, with the
axis before the frame and unit: ``velocity_x_world_mps``; a tuple or an array ``speeds_radps`` is as
many as it has numbers, counted from 0: ``speeds_0_radps``. A nested record's fields follow its name
and a dot. A tuple of any length, ``tuple[Real, ...]``, has as many columns as there are numbers; a
record type has at most one, and ``length`` is its length.
"""

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from itertools import product
from typing import NamedTuple, TypeAlias, TypeGuard, get_args, get_origin, get_type_hints

import numpy as np
from typing_extensions import TypeVar

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.parameters import Annotation, Parameters
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

Record = TypeVar("Record", bound=Module)
# what a column can hold
Number: TypeAlias = Real | Integer | Flag

FRAMES = ("world", "body")


def axis_column(name: str, axis: str) -> str:
    """Return the column name of one axis of the vector field ``name``."""
    words = name.split("_")
    at = next((i for i, word in enumerate(words) if word in FRAMES), max(len(words) - 1, 1))
    return "_".join([*words[:at], axis, *words[at:]])


def column_names(record_type: type[Module], length: int = 0) -> list[str]:
    """Return the columns of a record type, which must not have arrays."""
    hints = get_type_hints(record_type)
    return [
        column for f in fields(record_type) for column in _columns_of(f.name, hints[f.name], length)
    ]


def required_columns(record_type: type[Module], length: int = 0) -> list[str]:
    """Return the columns of the fields without a default."""
    hints = get_type_hints(record_type)
    required = [f.name for f in fields(record_type) if f.default is MISSING]
    return [column for name in required for column in _columns_of(name, hints[name], length)]


def from_columns(record_type: type[Record], values: Mapping[str, Number]) -> Record:
    """Return a record from its columns; a missing column of a field with a default is zero."""
    definite = column_names(record_type)
    possible = [name for name in column_names(record_type, len(values)) if name not in definite]
    length = sum(name in values for name in possible)
    required = required_columns(record_type, length)
    remaining = iter(
        [
            values[c] if c in required else values.get(c, 0.0)
            for c in column_names(record_type, length)
        ]
    )
    return _record(record_type, remaining, length)


def tuple_length(annotation: Annotation, length: int) -> int:
    """Return the length of a tuple type, which is ``length`` for a tuple of any length."""
    items = get_args(annotation)
    return length if ... in items else len(items)


def to_columns(record: Module | Parameters, prefix: str = "") -> dict[str, Number]:
    """Return a record's numbers by column name, with a prefix."""
    return {
        name: group.numbers if np.ndim(group.numbers) == 0 else group.numbers[at]
        for group in to_column_groups(record, prefix)
        for name, at in zip(group.columns, np.ndindex(np.shape(group.numbers)), strict=True)
    }


class ColumnGroup(NamedTuple):
    """Columns that share one array, such as an image, or a single column."""

    columns: list[str]
    numbers: ArrayTree


def to_column_groups(record: Module | Parameters, prefix: str = "") -> list[ColumnGroup]:
    """Return a record's numbers in order, with a column prefix, without fields that are None."""
    items = record.items() if isinstance(record, dict) else _items(record)
    known = [(name, value) for name, value in items if value is not None]
    return [group for name, value in known for group in _column_groups(prefix, name, value)]


def _column_groups(prefix: str, name: str, value: ArrayTree) -> list[ColumnGroup]:
    if isinstance(value, Vec3 | Quaternion):
        parts = [getattr(value, f.name) for f in fields(value)]
        names = _columns_of(name, type(value))
        return [ColumnGroup([prefix + n], part) for n, part in zip(names, parts, strict=True)]
    if isinstance(value, Module | dict):
        return to_column_groups(value, f"{prefix}{name}.")
    if isinstance(value, tuple | list):
        return [
            ColumnGroup([prefix + axis_column(name, str(i))], part) for i, part in enumerate(value)
        ]
    if np.ndim(value) == 0:
        return [ColumnGroup([prefix + name], value)]
    # an image may have a million columns: compute the common parts once
    before, after = (prefix + axis_column(name, "\0")).split("\0")
    places = product(*(map(str, range(size)) for size in np.shape(value)))
    return [ColumnGroup([f"{before}{'_'.join(at)}{after}" for at in places], value)]


def _columns_of(name: str, annotation: Annotation, length: int = 0) -> list[str]:
    if annotation is Vec3:
        return [axis_column(name, axis) for axis in "xyz"]
    if annotation is Quaternion:
        return [f"{name}_{part}" for part in "wxyz"]
    if get_origin(annotation) is tuple:
        return [axis_column(name, str(i)) for i in range(tuple_length(annotation, length))]
    if _is_record(annotation):
        return [f"{name}.{column}" for column in column_names(annotation, length)]
    return [name]


def _record(record_type: type[Record], numbers: Iterator[Number], length: int) -> Record:
    hints = get_type_hints(record_type)
    return record_type(*(_value(hints[f.name], numbers, length) for f in fields(record_type)))


def _value(annotation: Annotation, numbers: Iterator[Number], length: int) -> ArrayTree:
    if get_origin(annotation) is tuple:
        return tuple(next(numbers) for _ in range(tuple_length(annotation, length)))
    return _record(annotation, numbers, length) if _is_record(annotation) else next(numbers)


def _is_record(annotation: Annotation) -> TypeGuard[type[Module]]:
    return isinstance(annotation, type) and issubclass(annotation, Module)


def _items(record: Module) -> list[tuple[str, ArrayTree]]:
    return [(f.name, getattr(record, f.name)) for f in fields(record)]
