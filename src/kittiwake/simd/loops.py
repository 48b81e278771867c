"""Loops whose passes do not depend on each other, several passes at a time in vectors."""

from collections.abc import Sequence
from typing import Any

import jax
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun
from jax.extend.core import JaxprEqn as JaxEquation

from kittiwake.simd.data_types import elements_per_register
from kittiwake.simd.emitter import MAX_REGISTERS
from kittiwake.simd.flattening import PASSES_AT_A_TIME, FlatProgram, flatten
from kittiwake.simd.lanes import AnyArray, inner_programs, with_lanes


def flat_program(closed: ClosedJaxpr) -> FlatProgram:
    """Return a program without calls, whose independent loops do several passes at a time."""
    width = elements_per_register(aval.dtype for aval in (*closed.in_avals, *closed.out_avals))
    return flatten(closed.replace(jaxpr=_with_wide_loops(closed.jaxpr, width)))


def _with_wide_loops(jaxpr: Jaxpr, width: int) -> Jaxpr:
    equations = [_wide(equation, width) for equation in jaxpr.eqns]
    if all(new is old for new, old in zip(equations, jaxpr.eqns, strict=True)):
        return jaxpr
    return jaxpr.replace(eqns=equations)


def _wide(equation: JaxEquation, width: int) -> JaxEquation:
    if _is_independent(equation, width):
        body = _wide_body(equation.params["jaxpr"], equation.params["num_consts"], width)
        return equation.replace(params={**equation.params, "jaxpr": body, PASSES_AT_A_TIME: width})
    params = {name: _wide_param(value, width) for name, value in equation.params.items()}
    if all(params[name] is value for name, value in equation.params.items()):
        return equation
    return equation.replace(params=params)


def _wide_param(value: Any, width: int) -> Any:
    if isinstance(value, ClosedJaxpr):
        jaxpr = _with_wide_loops(value.jaxpr, width)
        return value if jaxpr is value.jaxpr else value.replace(jaxpr=jaxpr)
    if isinstance(value, Jaxpr):
        return _with_wide_loops(value, width)
    if isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
        many = tuple(_wide_param(one, width) for one in value)
        return value if all(map(lambda new, old: new is old, many, value)) else many
    return value


def _is_independent(equation: JaxEquation, width: int) -> bool:
    """Return True for a loop that carries nothing and works mostly on single numbers."""
    params = equation.params
    if equation.primitive.name != "scan" or params["num_carry"] or params["length"] < width:
        return False
    sizes = [*_sizes(params["jaxpr"].jaxpr)]
    is_short = max(sizes, default=0) <= MAX_REGISTERS * width
    return is_short and 2 * sum(size == 1 for size in sizes) > len(sizes)


def _sizes(jaxpr: Jaxpr) -> Sequence[int]:
    """Return the numbers of elements of all results, those of inner programs included."""
    own = [getattr(one.aval, "size", 0) for each in jaxpr.eqns for one in each.outvars]
    inner = [size for each in jaxpr.eqns for one in inner_programs(each) for size in _sizes(one)]
    return [*own, *inner]


def _wide_body(body: ClosedJaxpr, of_constants: int, width: int) -> ClosedJaxpr:
    """Return the body of so many passes, whose parts and results have a first axis of them."""
    varies = [index >= of_constants for index in range(len(body.in_avals))]
    in_lanes = jaxpr_as_fun(with_lanes(body, varies, [True] * len(body.out_avals), width))

    def program(*arrays: AnyArray) -> list[AnyArray]:
        parts = [_lanes_last(one) for one in arrays[of_constants:]]
        return [*map(_lanes_first, in_lanes(*arrays[:of_constants], *parts))]

    examples = [
        jax.ShapeDtypeStruct((width, *aval.shape) if own else aval.shape, aval.dtype)
        for aval, own in zip(body.in_avals, varies, strict=True)
    ]
    return jax.make_jaxpr(program)(*examples)


def _lanes_last(array: AnyArray) -> AnyArray:
    return lax.transpose(array, [*range(1, array.ndim), 0]) if array.ndim > 1 else array


def _lanes_first(array: AnyArray) -> AnyArray:
    last = array.ndim - 1
    return lax.transpose(array, [last, *range(last)]) if array.ndim > 1 else array
