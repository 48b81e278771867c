"""Records whose vectors may be given as sequences of numbers: ``PositionYaw([0, 0, 2], 0.0)``."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, get_origin, overload

import jax
import numpy as np
from typing_extensions import TypeVar

from kittiwake.core.errors import CommandError
from kittiwake.geometry.quaternion import Quaternion
from kittiwake.geometry.scalar import Real
from kittiwake.geometry.vec3 import Vec3
from kittiwake.pytree import Module

if TYPE_CHECKING:
    Stored = TypeVar("Stored", covariant=True)
    Given = TypeVar("Given", contravariant=True)

    class ConvertedField(Generic[Stored, Given]):
        """Field as type checkers see it: read as one type, given as one of several."""

        @overload
        def __get__(self, instance: None, owner: type[Module]) -> Stored: ...
        @overload
        def __get__(self, instance: Module, owner: type[Module]) -> Stored: ...
        def __get__(self, instance: Module | None, owner: type[Module]) -> Stored: ...
        def __set__(self, instance: Module, value: Given) -> None: ...

    Numbers: TypeAlias = Sequence[Real] | np.ndarray | jax.Array
    VectorField: TypeAlias = ConvertedField[Vec3, Vec3 | Numbers]
    RotationField: TypeAlias = ConvertedField[Quaternion, Quaternion | Numbers]
    NumbersField: TypeAlias = ConvertedField[tuple[Real, ...], Numbers]
else:
    VectorField = Vec3
    RotationField = Quaternion
    NumbersField = tuple[Real, ...]

SEQUENCES = (list, tuple, np.ndarray, jax.Array)
# default of a vector field, which is no field of type checkers' kind
ZERO_VECTOR: Any = Vec3.zero()


class AbstractVectorRecord(Module):
    """Record that converts sequences and arrays to the vectors and rotations of its fields."""

    def __post_init__(self) -> None:
        for name, kind in _kinds(type(self)).items():
            object.__setattr__(self, name, _converted(getattr(self, name), name, kind))


# constructor of each kind of field, and the number of its parts
_CONSTRUCTORS: dict[Any, tuple[Callable[[list[Any]], Any], int | None]] = {
    Vec3: (Vec3.of, 3),
    Quaternion: (Quaternion.of, 4),
    tuple: (tuple, None),
}


@cache
def _kinds(record: type[AbstractVectorRecord]) -> dict[str, Any]:
    """Return the fields of a record that are converted, with what they are converted to."""
    kinds = {one.name: get_origin(one.type) or one.type for one in fields(record)}
    return {name: kind for name, kind in kinds.items() if kind in _CONSTRUCTORS}


def _converted(value: Any, name: str, kind: type) -> Any:
    """Return a value as its field's type if it is a sequence; leave others to those who read it.

    Raises:
        CommandError: if a sequence has the wrong length.
    """
    if isinstance(value, kind) or not isinstance(value, SEQUENCES):
        return value
    construct, length = _CONSTRUCTORS[kind]
    if getattr(value, "ndim", 1) != 1 or (length or len(value)) != len(value):
        message = f"`{name}`: got {value!r}; must be {length or 'a list of'} numbers"
        raise CommandError(message)
    parts = value.tolist() if isinstance(value, np.ndarray) else [*value]
    # floats, with which all equations compute
    return construct([float(part) if isinstance(part, int) else part for part in parts])
