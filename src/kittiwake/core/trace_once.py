"""Functions that are traced once and used several times within one traced program.

Tracing takes as long as much of compiling: a Runge-Kutta step of fourth order would otherwise trace
the same derivative four times.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import jax
from jax.core import Tracer

P = ParamSpec("P")
R = TypeVar("R")


def trace_once(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function, traced once for all calls whose arguments have the same types.

    The traced operations are inlined into the surrounding program, which is the same as without.
    Calls with concrete arguments are left alone, because each would compile a program of its own.
    """
    inlined = jax.jit(function, inline=True)

    def call(*arguments: P.args, **named: P.kwargs) -> R:
        leaves = jax.tree.leaves((arguments, named))
        traced = any(isinstance(leaf, Tracer) for leaf in leaves)
        return (inlined if traced else function)(*arguments, **named)

    return call
