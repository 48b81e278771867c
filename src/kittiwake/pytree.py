"""Frozen dataclasses that JAX transforms: each is a pytree whose children are its fields."""

import dataclasses
from abc import ABCMeta
from collections.abc import Callable, Iterable, Sequence
from inspect import get_annotations
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, dataclass_transform, get_origin

import jax
import numpy as np
from jax.tree_util import GetAttrKey
from typing_extensions import override

T = TypeVar("T")
M = TypeVar("M", bound="Module")

_ABSTRACT = "abstract"
_STATIC = "static"

# a field that each concrete subclass declares, with or without a default
AbstractVar: TypeAlias = Annotated[T, _ABSTRACT]


def field(*, static: bool = False, **options: Any) -> Any:
    """Return the specification of a field of a ``Module``.

    Args:
        static: True for a field that belongs to the pytree's structure and not to its children.
            JAX compiles once for each of its values, which must be hashable.
        options: arguments of ``dataclasses.field``. A field with ``init=False`` needs a default
            and is set by ``replace_unchecked``.
    """
    return dataclasses.field(metadata={_STATIC: static}, **options)


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, field))
class Module(metaclass=ABCMeta):
    """Base class of frozen dataclasses that are pytrees.

    A subclass declares its fields as a dataclass does and is registered with JAX when it is
    defined. Checks and conversions of arguments belong into ``__post_init__``, which JAX does not
    call when it builds an instance of transformed children.
    """

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = get_annotations(cls)
        cls.__annotations__ = {
            name: hint for name, hint in declared.items() if not _is_abstract(hint)
        }
        dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)
        _register(cls)

    @override
    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in _items(self))
        return f"{type(self).__name__}({values})"

    @override
    def __hash__(self) -> int:
        return hash(tuple(_items(self)))

    @override
    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Module):
            return NotImplemented
        return trees_equal(self, other)


# a frozen dataclass may derive from frozen ones only
dataclasses.dataclass(frozen=True, eq=False, repr=False)(Module)


def replace_unchecked(module: M, **values: Any) -> M:
    """Return a copy with other values of fields, as ``dataclasses.replace`` but without checks.

    It also takes fields that are no arguments, and values of a batch, whose types are others.
    """
    changed = object.__new__(type(module))
    vars(changed).update(vars(module), **values)
    return changed


def tree_at(where: Callable[[T], Any], tree: T, value: Any) -> T:
    """Return a pytree with another leaf or subtree: ``tree_at(lambda s: s.tick, state, 3)``.

    Args:
        where: function that returns the leaf or the subtree to replace. It gets a tree of the
            same structure, whose leaves are numbers of leaves.
        tree: the pytree.
        value: the leaf or subtree in its place.

    Raises:
        ValueError: for a value with another number of leaves.
    """
    leaves, structure = jax.tree.flatten(tree)
    numbers = jax.tree.leaves(where(structure.unflatten(range(len(leaves)))))
    given = jax.tree.leaves(value)
    if len(given) != len(numbers):
        message = f"`value`: has {len(given)} leaves; must have {len(numbers)}, as what it replaces"
        raise ValueError(message)
    for number, leaf in zip(numbers, given, strict=True):
        leaves[number] = leaf
    return structure.unflatten(leaves)


def trees_equal(one: Any, other: Any) -> bool:
    """Return True if two pytrees have equal structures and equal leaves of equal types."""
    leaves, structure = jax.tree.flatten(one)
    other_leaves, other_structure = jax.tree.flatten(other)
    return structure == other_structure and all(map(_same_leaf, leaves, other_leaves))


def _same_leaf(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray | np.generic | jax.Array):
        same_type = getattr(other, "dtype", None) == one.dtype
        return same_type and np.array_equal(np.asarray(one), np.asarray(other))
    return type(one) is type(other) and one == other


def _is_abstract(hint: Any) -> bool:
    return get_origin(hint) is Annotated and _ABSTRACT in hint.__metadata__


def _items(module: Module) -> list[tuple[str, Any]]:
    return [(one.name, getattr(module, one.name)) for one in dataclasses.fields(module)]


def _register(cls: type[Module]) -> None:
    fields = dataclasses.fields(cls)
    converted = [one.name for one in fields if "converter" in one.metadata]
    if converted:
        message = (
            f"{cls.__name__}: {converted[0]} has a converter; convert in __post_init__ instead"
        )
        raise TypeError(message)
    static = tuple(one.name for one in fields if one.metadata.get(_STATIC))
    children = tuple(one.name for one in fields if one.name not in static)
    keys = tuple(map(GetAttrKey, children))
    new = object.__new__

    def flatten(module: Module) -> tuple[Sequence[Any], Sequence[Any]]:
        return [getattr(module, name) for name in children], tuple(
            [getattr(module, name) for name in static]
        )

    def flatten_with_keys(module: Module) -> tuple[Sequence[tuple[Any, Any]], Sequence[Any]]:
        values, structure = flatten(module)
        return list(zip(keys, values, strict=True)), structure

    def unflatten(structure: Iterable[Any], values: Iterable[Any]) -> Module:
        module = new(cls)
        vars(module).update(zip(children, values, strict=True))
        vars(module).update(zip(static, structure, strict=True))
        return module

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
