"""Element-wise choice between two trees, by a condition known only at run time."""

from typing import TypeVar

import jax
import jax.numpy as jnp

from kittiwake.geometry.scalar import Flag

Tree = TypeVar("Tree")


def tree_where(condition: Flag, one: Tree, otherwise: Tree) -> Tree:
    """Return ``one`` where the condition is true, else ``otherwise``; of equal structure."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, otherwise)
