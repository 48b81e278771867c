"""Typed records as named numbers: the columns of logs and of recorded input files.

A scalar field is a column of its own name. A vector field ``velocity_world_mps`` is three, with the
axis before the frame and unit: ``velocity_x_world_mps``. A nested record's fields follow its name
and a dot.
"""

from dataclasses import fields
from typing import Any, get_type_hints

import equinox as eqx

from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3

FRAMES = ("world", "body")


def axis_column(name: str, axis: str) -> str:
    """The column of one axis of the vector field ``name``."""
    words = name.split("_")
    at = next((i for i, word in enumerate(words) if word in FRAMES), len(words) - 1)
    return "_".join([*words[:at], axis, *words[at:]])


def column_names(kind: type[eqx.Module]) -> list[str]:
    """The columns of a record type whose fields are scalars, vectors and quaternions."""
    hints = get_type_hints(kind)
    return [name for f in fields(kind) for name in _field_columns(f.name, hints[f.name])]


def from_columns(kind: type[eqx.Module], values: dict[str, Real]) -> Any:
    """A record of this type from its columns."""
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    for f in fields(kind):
        names = _field_columns(f.name, hints[f.name])
        parts = [values[name] for name in names]
        given[f.name] = (
            parts[0] if hints[f.name] not in (Vec3, Quaternion) else hints[f.name](*parts)
        )
    return kind(**given)


def to_columns(record: eqx.Module | dict[str, Any], prefix: str = "") -> dict[str, Real]:
    """A record's numbers by column, each name with ``prefix`` before it."""
    columns: dict[str, Real] = {}
    items = record.items() if isinstance(record, dict) else _items(record)
    for name, value in items:
        if isinstance(value, Vec3 | Quaternion):
            names = [prefix + column for column in _field_columns(name, type(value))]
            columns.update(zip(names, _components(value), strict=True))
        elif isinstance(value, eqx.Module | dict):
            columns.update(to_columns(value, f"{prefix}{name}."))
        else:
            columns[prefix + name] = value
    return columns


def _items(record: eqx.Module) -> list[tuple[str, Any]]:
    return [(f.name, getattr(record, f.name)) for f in fields(record)]


def _components(value: Vec3 | Quaternion) -> list[Real]:
    return [getattr(value, f.name) for f in fields(value)]


def _field_columns(name: str, kind: Any) -> list[str]:
    if kind is Vec3:
        return [axis_column(name, axis) for axis in "xyz"]
    if kind is Quaternion:
        return [f"{name}_{part}" for part in "wxyz"]
    return [name]
