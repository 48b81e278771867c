"""Floating-point modes of JAX in which a fleet computes."""

from typing import Literal

import jax
import jax.numpy as jnp
from jax.core import Tracer

from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import PrecisionError

Precision = Literal["float64", "float32"]


def is_transformed(*arguments: ArrayTree) -> bool:
    """Return True inside ``jit``, ``vmap`` or ``grad``, which have to begin in the right mode."""
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arguments))
    # a compiled function may call this one with constants
    return traced or isinstance(jnp.zeros(()), Tracer)


def require_precision(state: ArrayTree = None, *, single: bool) -> None:
    """Check that a state and JAX's present mode are of the precision of a fleet.

    Raises:
        PrecisionError: if one of them is not.
    """
    expected = jnp.dtype(jnp.float32 if single else jnp.float64)
    for leaf in jax.tree.leaves(state):
        if jnp.issubdtype(leaf.dtype, jnp.floating) and leaf.dtype != expected:
            message = (
                f"this state holds {leaf.dtype} numbers; the simulation requires {expected}; "
                "take the state from its own init"
            )
            raise PrecisionError(message)
    if jax.config.read("jax_enable_x64") == single:
        required, now = ("32", "64") if single else ("64", "32")
        message = (
            f"this simulation requires float{required}, but JAX is in float{now} mode. Call it "
            f"inside 'with jax.enable_x64({not single}):', or load the scenario with "
            f'precision="float{now}".'
        )
        raise PrecisionError(message)
