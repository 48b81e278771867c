"""Keeping the compiler from weaving two computations into each other.

On a CPU, XLA makes one loop for each result of a program, and each loop computes again what the
results share. A vehicle's forces, shared by a dozen states in each of four stages, are then
computed dozens of times, in programs that take minutes to compile. What is computed apart is
computed once.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def fusion_barrier(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, on a CPU compiled as a piece of its own.

    It becomes a branch that is always taken, which the compiler cannot know: it neither moves code
    across its edge nor does anything twice. Elsewhere it is a plain call.
    """

    def plain(*given: Any) -> Any:
        # not the function itself, which may hold numbers that are being differentiated by
        return function(*given)

    def branch(*given: Any) -> Any:
        return _as_branch(plain, given)

    return jax.lax.platform_dependent(*arguments, cpu=branch, default=plain)


def _as_branch(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    shapes = jax.eval_shape(function, *arguments)

    def never(*_: Any) -> Any:
        return jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

    always = jax.lax.optimization_barrier(jnp.asarray(True))
    return jax.lax.cond(always, function, never, *arguments)
