"""The scalar types that every model is written in.

A model sees one vehicle, so its numbers are scalars: Python floats for parameters (compiled in as
constants), zero-dimensional JAX arrays for what evolves.
"""

from types import ModuleType
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

Real: TypeAlias = float | int | Float[Array, ""]
Flag: TypeAlias = bool | Bool[Array, ""]
Count: TypeAlias = int | Int[Array, ""]


def is_zero(value: Real) -> bool:
    """Whether a number is known to be zero when a model is compiled, so that it can be left out."""
    return isinstance(value, int | float) and bool(value == 0.0)


def product(a: Real, b: Real) -> Real:
    """``a b``; where one is known to be zero, that, which the compiler may not conclude itself."""
    return 0.0 if is_zero(a) or is_zero(b) else a * b


def total(a: Real, b: Real) -> Real:
    """``a + b``, without what is known to be zero."""
    return b if is_zero(a) else a if is_zero(b) else a + b


def difference(a: Real, b: Real) -> Real:
    """``a - b``, without what is known to be zero."""
    return a if is_zero(b) else -b if is_zero(a) else a - b


def namespace(*values: Real) -> ModuleType:
    """NumPy for plain numbers, JAX as soon as one value is a JAX array.

    A person's own controller in plain Python thus computes in double precision and without the cost
    of dispatching to a device, with the same vectors and rotations.
    """
    return jnp if any(isinstance(value, jax.Array) for value in values) else np
