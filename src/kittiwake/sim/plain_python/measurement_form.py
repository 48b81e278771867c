"""Forms of measurements in plain Python: numbers, arrays, dictionaries of these, and records."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from math import prod
from types import new_class
from typing import Any, NamedTuple, get_type_hints

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from kittiwake.core.errors import OwnComponentError
from kittiwake.core.measurements import AbstractMeasurement
from kittiwake.geometry.scalar import Flag, Integer, Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

# names of a measurement that is one number, or one array
NUMBER, ARRAY = "value", "values"
ALLOWED = (
    "a number, an array, a dictionary of these, a record of kw.measurements, or None for no "
    "measurement"
)
SCALARS: dict[Any, type] = {Real: float, Integer: int, Flag: bool}


class MeasuredField(NamedTuple):
    """Field of a measurement: type of its numbers and shape."""

    name: str
    number_type: type
    shape: tuple[int, ...]
    is_vector: bool = False

    def restored(self, numbers: Array) -> Any:
        """Return the value of a flat array of floats."""
        if self.is_vector:
            return Vec3.of([*numbers])
        if self.number_type is bool:
            numbers = numbers > 0.5
        elif self.number_type is int:
            numbers = jnp.round(numbers).astype(jnp.int32)
        return numbers.reshape(self.shape)


class MeasurementForm(NamedTuple):
    """Form of a sensor's measurements: the record in the program, and its fields.

    ``is_plain`` is true if ``update`` returns numbers, arrays or dictionaries.
    """

    record_type: type[AbstractMeasurement]
    fields: tuple[MeasuredField, ...]
    is_plain: bool

    @property
    def size(self) -> int:
        """Count of numbers."""
        return sum(prod(field.shape) for field in self.fields)

    @classmethod
    def of(cls, example: Any, title: str) -> "MeasurementForm":
        """Return the form of what ``update`` returned.

        Raises:
            OwnComponentError: if it is not a measurement.
        """
        if isinstance(example, AbstractMeasurement):
            hints = get_type_hints(type(example))
            values = {field.name: getattr(example, field.name) for field in fields(example)}
            found = [_field(name, value, hints[name]) for name, value in values.items()]
            return cls(type(example), tuple(found), is_plain=False)
        found = tuple(_field(name, value, None) for name, value in _named(example).items())
        return cls(_plain_type(f"{title}Measurement", found), found, is_plain=True)

    @classmethod
    def of_type(cls, record_type: type[AbstractMeasurement]) -> "MeasurementForm | None":
        """Return the form of a record type; None if it has arrays, whose sizes are unknown."""
        hints = get_type_hints(record_type)
        found: list[MeasuredField] = []
        for field in fields(record_type):
            hint = hints[field.name]
            if hint is Vec3:
                found.append(MeasuredField(field.name, float, (3,), is_vector=True))
            elif hint in SCALARS:
                found.append(MeasuredField(field.name, SCALARS[hint], ()))
            else:
                return None
        return cls(record_type, tuple(found), is_plain=False)

    def record(self, numbers: Array) -> AbstractMeasurement:
        """Return the record of a flat array of floats."""
        ends = np.cumsum([prod(field.shape) for field in self.fields])
        parts = jnp.split(numbers, ends[:-1])
        values = {
            field.name: field.restored(part) for field, part in zip(self.fields, parts, strict=True)
        }
        return self.record_type(**values)

    def numbers(self, returned: Any) -> np.ndarray:
        """Return the numbers of what ``update`` returned.

        Raises:
            OwnComponentError: if it has another form, or a number that is not finite.
        """
        if self.is_plain:
            values = _named(returned)
        elif isinstance(returned, self.record_type):
            values = {field.name: getattr(returned, field.name) for field in self.fields}
        else:
            message = (
                f"update returned a {type(returned).__name__}; must be a "
                f"{self.record_type.__name__}, or None for no measurement"
            )
            raise OwnComponentError(message)
        names = [field.name for field in self.fields]
        if {*names} != {*values}:
            message = (
                f"update returned {', '.join(values)}; must be {', '.join(names)}, as at the "
                "start, or None for no measurement"
            )
            raise OwnComponentError(message)
        return np.concatenate([_numbers(field, values[field.name]) for field in self.fields])


def _named(value: Any) -> Mapping[str, Any]:
    """Return the values of a measurement in plain Python by name.

    Raises:
        OwnComponentError: if it is something else.
    """
    if isinstance(value, Mapping) and value and all(map(_is_name, value)):
        return value
    if isinstance(value, Mapping | Module | str) or value is None:
        if isinstance(value, Vec3):
            return {ARRAY: value}
        shown = value if isinstance(value, Mapping | str) else f"a {type(value).__name__}"
        message = f"update returned {shown}; must be {ALLOWED}"
        raise OwnComponentError(message)
    return {NUMBER if np.ndim(value) == 0 else ARRAY: value}


def _is_name(key: object) -> bool:
    return isinstance(key, str) and key.isidentifier()


def _field(name: str, value: Any, hint: Any) -> MeasuredField:
    if hint is Vec3:
        return MeasuredField(name, float, (3,), is_vector=True)
    array = _array(name, value)
    number_type = SCALARS.get(hint, bool if array.dtype == bool else float)
    return MeasuredField(name, number_type, array.shape)


def _array(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        array.astype(float)
    except (TypeError, ValueError):
        message = f"update returned {value!r} as {name}; must be numbers"
        raise OwnComponentError(message) from None
    return array


def _numbers(field: MeasuredField, value: Any) -> np.ndarray:
    array = _array(field.name, value).astype(float)
    if array.shape != field.shape or not np.isfinite(array).all():
        count = prod(field.shape)
        noun = "a finite number" if not field.shape else f"{count} finite numbers"
        message = (
            f"update returned {value!r} as {field.name}; must be {noun}, as at the start, or None "
            "for no measurement"
        )
        raise OwnComponentError(message)
    # rounding would change what was measured without a word
    noun = {bool: "True or False", int: "whole numbers"}.get(field.number_type)
    if noun is not None and not np.array_equal(array, array.astype(field.number_type)):
        message = f"update returned {value!r} as {field.name}; must be {noun}, as at the start"
        raise OwnComponentError(message)
    return array.ravel()


@cache
def _plain_type(name: str, given: tuple[MeasuredField, ...]) -> type[AbstractMeasurement]:
    """Return a record type with these fields."""
    body = {
        "__annotations__": {field.name: _annotation(field) for field in given},
        "__module__": __name__,
        "__doc__": name,
    }
    return new_class(name, (AbstractMeasurement,), exec_body=lambda space: space.update(body))


def _annotation(field: MeasuredField) -> Any:
    if not field.shape:
        return Flag if field.number_type is bool else Real
    shape = " ".join(map(str, field.shape))
    return Bool[Array, shape] if field.number_type is bool else Float[Array, shape]
