"""Scalar types of all models, and arithmetic that omits known zeros.

A model sees one vehicle, so its numbers are scalars: Python floats for parameters (compiled in as
constants), zero-dimensional JAX arrays for what evolves.
"""

from types import ModuleType
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

Real: TypeAlias = float | int | Float[Array, ""]
Flag: TypeAlias = bool | Bool[Array, ""]
Reals: TypeAlias = Real | Float[Array, "..."]
Integer: TypeAlias = int | Int[Array, ""]


def is_zero(value: Real) -> bool:
    """Return True if a number is known to be zero at compile time, so that it can be omitted."""
    return isinstance(value, int | float) and bool(value == 0.0)


def require_scalar(value: object, owner: str, instead: str) -> None:
    """Refuse an array or a sequence where one number is required; traced values may be batched.

    Raises:
        TypeError: with what to write instead.
    """
    if isinstance(value, float | int | Tracer):
        return
    if isinstance(value, np.ndarray | jax.Array) and value.ndim > 0:
        given = f"an array of shape {value.shape}"
    elif isinstance(value, str | list | tuple):
        given = repr(value)
    else:
        return
    message = f"`{owner}`: got {given}; must be one number. {instead}"
    raise TypeError(message)


def require_components(components: object, count: int, owner: str) -> None:
    """Refuse an array or a sequence of another shape than ``(count,)``; others are not checked.

    Raises:
        ValueError: with what to write instead.
    """
    if isinstance(components, np.ndarray | jax.Array):
        # traced numbers may be batched, as in ``require_scalar``
        shape = components.shape
        if shape == (count,) or (isinstance(components, Tracer) and shape[:1] == (count,)):
            return
        given = f"an array of shape {components.shape}"
    elif isinstance(components, list | tuple) and len(components) != count:
        given = f"{len(components)} numbers"
    else:
        return
    message = (
        f"`{owner}.of`: got {given}; must be {count} numbers. For an array of rows write "
        f"jax.vmap(kw.{owner}.of)(rows)"
    )
    raise ValueError(message)


def multiply(a: Real, b: Real) -> Real:
    """Return ``a * b``; 0.0 if a factor is known to be zero, which XLA does not simplify."""
    if is_zero(a) or is_zero(b):
        return 0.0
    return lax.mul(a, b) if _are_alike(a, b) else a * b


def add(a: Real, b: Real) -> Real:
    """Return ``a + b``, without terms that are known to be zero."""
    if is_zero(a) or is_zero(b):
        return b if is_zero(a) else a
    return lax.add(a, b) if _are_alike(a, b) else a + b


def subtract(a: Real, b: Real) -> Real:
    """Return ``a - b``, without terms that are known to be zero."""
    if is_zero(a) or is_zero(b):
        return a if is_zero(b) else -b
    return lax.sub(a, b) if _are_alike(a, b) else a - b


def _are_alike(a: Real, b: Real) -> bool:
    """Return True for traced numbers of one type, which need none of ``jax.numpy``'s promotion.

    Its operators give the same operations, and take several times as long to trace.
    """
    return isinstance(a, Tracer) and isinstance(b, Tracer) and a.aval == b.aval


def namespace(*values: Real) -> ModuleType:
    """Return ``numpy`` for plain numbers, and ``jax.numpy`` if any value is a JAX array.

    A user's controller in plain Python thus computes in double precision and without the cost of
    dispatching to a device, with the same vectors and rotations.
    """
    return jnp if any(isinstance(value, jax.Array) for value in values) else np
