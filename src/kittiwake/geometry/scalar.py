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


def namespace(*values: Real) -> ModuleType:
    """NumPy for plain numbers, JAX as soon as one value is a JAX array.

    A person's own controller in plain Python thus computes in double precision and without the cost
    of dispatching to a device, with the same vectors and rotations.
    """
    return jnp if any(isinstance(value, jax.Array) for value in values) else np
