"""Floating-point modes of JAX in which a fleet computes."""

from contextlib import AbstractContextManager, nullcontext

import jax
import jax.numpy as jnp
from jax.core import Tracer

from kittiwake.core.arrays import ArrayTree


def is_transformed(*arguments: ArrayTree) -> bool:
    """Return True inside ``jit``, ``vmap`` or ``grad``, which have to begin in the right mode."""
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arguments))
    # a compiled function may call this one with constants
    return traced or isinstance(jnp.zeros(()), Tracer)


def fleet_precision(*arguments: ArrayTree, single_precision: bool) -> AbstractContextManager[None]:
    """Return the context manager of a fleet's mode; in JAX's transformations it does nothing."""
    if is_transformed(*arguments):
        return nullcontext()
    return jax.enable_x64(not single_precision)
