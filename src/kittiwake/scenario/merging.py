"""Merging of given parameters with defaults, also inside nested parameters."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from kittiwake.core.units import stored_name
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module


def merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the defaults with the given parameters in their place, also inside nested ones.

    A parameter in another unit replaces its default; a nested one of another ``type`` replaces
    the default completely.
    """
    names = {stored_name(key) for key in given}
    kept = {key: value for key, value in defaults.items() if stored_name(key) not in names}
    for key, value in given.items():
        default = defaults.get(key)
        kept[key] = _merged_inside(default, value)
    return kept


def _merged_inside(default: Any, given: Any) -> Any:
    if not (isinstance(default, Mapping) and isinstance(given, Mapping)):
        return given
    type_name = default.get("type")
    return merged(default, given) if given.get("type", type_name) == type_name else given


def as_written(value: Any) -> Any:
    """Return a component's value as plain data; fields that are None are left out."""
    if isinstance(value, Vec3):
        return [value.x, value.y, value.z]
    if isinstance(value, Module):
        values = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        return {name: as_written(part) for name, part in values.items() if part is not None}
    if isinstance(value, tuple):
        return [as_written(item) for item in value]
    return value
