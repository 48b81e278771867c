"""Barrier that keeps the compiler from fusing two computations.

On a CPU, XLA generates one loop for each result of a program, and each loop recomputes what the
results share. A vehicle's forces, shared by a dozen states in each of four stages, are then
computed dozens of times, in programs that take minutes to compile. Behind the barrier they are
computed once.
"""

from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import jax
import jax.numpy as jnp

from kittiwake.core.trace_once import trace_once

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")


def fusion_barrier(function: Callable[[*Arguments], Result], *arguments: *Arguments) -> Result:
    """Return ``function(*arguments)``, on a CPU compiled separately from the surrounding code.

    The call becomes a conditional whose condition is always true, which the compiler cannot
    deduce: it neither moves code across the conditional nor duplicates its contents. On other
    platforms this is a plain call.
    """

    # a wrapper: the function itself may hold values by which JAX differentiates
    @trace_once
    def plain(*given: *Arguments) -> Result:
        return function(*given)

    def branch(*given: *Arguments) -> Result:
        return _as_branch(plain, given)

    return jax.lax.platform_dependent(*arguments, cpu=branch, default=plain)


def _as_branch(function: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
    shapes = jax.eval_shape(function, *arguments)

    def never(*_: *Arguments) -> Result:
        return jax.tree.map(lambda shape: jnp.zeros(shape.shape, shape.dtype), shapes)

    always = jax.lax.optimization_barrier(jnp.asarray(True))
    return jax.lax.cond(always, function, never, *arguments)
