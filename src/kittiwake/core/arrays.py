"""Conversion of the numbers in a tree to arrays with definite dtypes, as loops require."""

from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, ArrayLike

Tree = TypeVar("Tree")
# nested records, tuples and dictionaries of arrays
ArrayTree: TypeAlias = Any


def as_arrays(tree: Tree) -> Tree:
    """Return a tree with its Python numbers as arrays of the working precision."""
    return jax.tree.map(_as_array, tree)


def match_dtypes(new: Tree, old: Tree) -> Tree:
    """Return ``new`` with the dtypes of ``old``, so that a loop can carry it."""
    return jax.tree.map(lambda n, o: jnp.asarray(n, dtype=jnp.asarray(o).dtype), new, old)


def _as_array(leaf: ArrayLike) -> Array:
    array = jnp.asarray(leaf)
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return array
    return jax.lax.convert_element_type(array, array.dtype)
