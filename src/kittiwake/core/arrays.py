"""Numbers in trees that loops can carry: arrays of a definite type."""

from typing import Any

import jax
import jax.numpy as jnp


def as_arrays(tree: Any) -> Any:
    """Python numbers in a tree as arrays of the working precision."""
    return jax.tree.map(_as_array, tree)


def match_dtypes(new: Any, old: Any) -> Any:
    """A state with the types of the one before, so that loops can carry it."""
    return jax.tree.map(lambda n, o: jnp.asarray(n, dtype=jnp.asarray(o).dtype), new, old)


def _as_array(leaf: Any) -> Any:
    array = jnp.asarray(leaf)
    if jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
        return array
    return jax.lax.convert_element_type(array, array.dtype)
