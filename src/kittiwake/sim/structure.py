"""Split of a fleet into its structure, which is compiled for, and its numbers, which are arguments.

The structure holds the components, static options and rates, and all whole numbers and flags.
Zeros of the current, and of dynamics that vehicles share, belong to it, too: a model without drag
shall not compute one, and still water has no columns. All other floating-point parameters are
numbers, of which those with few elements are packed into one array.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike, Float

from kittiwake.sim.fleet import Fleet

# larger arrays are not packed
MAX_PACKED_ELEMENTS = 64


class Numbers(NamedTuple):
    """Floating-point parameters of a fleet, in its precision.

    Attributes:
        packed: all that have few elements, one after another.
        large: the others, such as maps.
    """

    packed: Float[np.ndarray, " n"]
    large: tuple[Float[np.ndarray, "..."], ...]


@dataclass(frozen=True)
class NumberShape:
    """The shape of a number in the tree of a fleet."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True)
class FixedLeaf:
    """A parameter that belongs to the structure, with all that tells it from others."""

    shape: tuple[int, ...]
    dtype: str
    content: bytes

    @classmethod
    def of(cls, leaf: ArrayLike) -> "FixedLeaf":
        """Return the description of a leaf."""
        array = np.asarray(leaf)
        kind = array.dtype.str if isinstance(leaf, np.ndarray | jax.Array) else type(leaf).__name__
        return cls(array.shape, kind, array.tobytes())


@dataclass(frozen=True)
class Structure:
    """Structure of a fleet: those of equal structure share their compiled functions.

    It can be hashed. A commander counts as the same only if it is the same object, since it holds
    numbers of its own.

    Attributes:
        treedef: the tree of the fleet, with its static options.
        leaves: for each leaf of it, its content if it belongs to the structure, else its shape.
    """

    treedef: Hashable
    leaves: tuple["FixedLeaf | NumberShape", ...]

    @classmethod
    def of(cls, fleet: Fleet) -> "Structure":
        """Return the structure of a fleet."""
        leaves = (
            NumberShape(_shape(leaf)) if is_number else FixedLeaf.of(leaf)
            for leaf, is_number in _marked_leaves(fleet)
        )
        return cls(jax.tree.structure(fleet), tuple(leaves))


class FleetTemplate:
    """A fleet whose numbers can be replaced, also within compiled functions."""

    def __init__(self, fleet: Fleet) -> None:
        self._leaves, self._treedef = jax.tree.flatten(without_numbers(fleet))

    def fleet(self, numbers: Numbers) -> Fleet:
        """Return the fleet with other numbers."""
        large, start, leaves = iter(numbers.large), 0, []
        for leaf in self._leaves:
            if not isinstance(leaf, NumberShape):
                leaves.append(leaf)
            elif leaf.size > MAX_PACKED_ELEMENTS:
                leaves.append(next(large))
            else:
                part = numbers.packed[start : start + leaf.size]
                leaves.append(part.reshape(leaf.shape))
                start += leaf.size
        return jax.tree.unflatten(self._treedef, leaves)


def without_numbers(fleet: Fleet) -> Fleet:
    """Return the fleet with the shapes of its numbers in their place."""
    leaves = [
        NumberShape(np.shape(leaf)) if is_number else leaf
        for leaf, is_number in _marked_leaves(fleet)
    ]
    return jax.tree.unflatten(jax.tree.structure(fleet), leaves)


def numbers_of(fleet: Fleet) -> Numbers:
    """Return the numbers of a fleet."""
    dtype = np.dtype(np.float32 if fleet.single_precision else np.float64)
    numbers = [
        np.ascontiguousarray(leaf, dtype) for leaf, is_number in _marked_leaves(fleet) if is_number
    ]
    packed = [each.ravel() for each in numbers if each.size <= MAX_PACKED_ELEMENTS]
    large = tuple(each for each in numbers if each.size > MAX_PACKED_ELEMENTS)
    return Numbers(np.concatenate([np.zeros(0, dtype), *packed]), large)


def _marked_leaves(fleet: Fleet) -> list[tuple[ArrayLike, bool]]:
    """Return each leaf of a fleet, with True if it is a number."""
    leaves, treedef = jax.tree.flatten(fleet)
    return [
        (leaf, _is_float(leaf) and not (has_fixed_zero and _is_zero(leaf)))
        for leaf, has_fixed_zero in zip(leaves, _fixed_zeros(treedef, len(leaves)), strict=True)
    ]


# paths take longer to describe than leaves to look at
@lru_cache(maxsize=32)
def _fixed_zeros(treedef: Hashable, count: int) -> tuple[bool, ...]:
    """Return for each leaf of a fleet whether a zero there belongs to the structure."""
    counted = jax.tree.unflatten(treedef, range(count))
    return tuple(
        _belongs_to_structure(path) for path, _ in jax.tree_util.tree_leaves_with_path(counted)
    )


def _shape(leaf: ArrayLike) -> tuple[int, ...]:
    # NumPy's function takes a microsecond for each of the many Python numbers
    return () if isinstance(leaf, float) else np.shape(leaf)


def _is_float(leaf: ArrayLike) -> bool:
    return isinstance(leaf, float) or (
        isinstance(leaf, np.ndarray | jax.Array) and jnp.issubdtype(leaf.dtype, jnp.floating)
    )


def _is_zero(leaf: ArrayLike) -> bool:
    # numbers that vehicles do not share are arrays
    return isinstance(leaf, float) and leaf == 0.0


def _belongs_to_structure(path: Sequence[jax.tree_util.KeyEntry]) -> bool:
    """Return True if a zero at this place of a fleet belongs to the structure."""
    names = [jax.tree_util.keystr((key,)) for key in path[:4]]
    return names[:2] == [".world", ".current"] or (
        names[:1] + names[2:] == [".groups", ".vehicle", ".dynamics"]
    )
