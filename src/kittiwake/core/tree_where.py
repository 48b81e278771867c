"""One of two trees, by a condition that is known only when the program runs."""

from typing import TypeVar

import jax
import jax.numpy as jnp

from kittiwake.geometry.scalar import Flag

Tree = TypeVar("Tree")


def tree_where(condition: Flag, one: Tree, otherwise: Tree) -> Tree:
    """One of two trees of equal structure."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, otherwise)
