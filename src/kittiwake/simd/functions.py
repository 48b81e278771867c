"""Functions of floating-point numbers that are not single instructions.

They are those of the system's mathematical library, called for one element after another, so that
a result does not depend on the number of elements. ``erf_inv`` is the approximation of M. Giles,
"Approximating the erfinv function", GPU Computing Gems Jade Edition, 2012, equation 7 and table 5;
in double precision it is improved by Halley's method.
"""

from collections.abc import Callable, Mapping, Sequence

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import INDEX, scalar_type, wide, width_of
from kittiwake.simd.emitter import Emitter

# from emitter, dtype and registers
Function = Callable[..., ir.Value]

# functions of C's mathematical library by primitive; those of float have the suffix "f"
LIBRARY = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log1p": "log1p",
    "pow": "pow",
    "cbrt": "cbrt",
    "rem": "fmod",
    "erf": "erf",
    "erfc": "erfc",
    "lgamma": "lgamma",
    "nextafter": "nextafter",
}


def _library_function(name: str) -> Function:
    def function(emit: Emitter, dtype: np.dtype, *values: ir.Value) -> ir.Value:
        symbol = name + ("f" if dtype == np.float32 else "")
        element, width = scalar_type(dtype), width_of(values[0])
        if width == 1:
            return emit.call(symbol, element, *values)
        result: ir.Value = ir.Constant(wide(element, width), ir.Undefined)
        for index in range(width):
            one = emit.call(symbol, element, *(emit.element(value, index) for value in values))
            result = emit.builder.insert_element(result, one, ir.Constant(INDEX, index))
        return result

    return function


def _polynomial(
    emit: Emitter, dtype: np.dtype, variable: ir.Value, coefficients: Sequence[float]
) -> ir.Value:
    """Return a polynomial, whose highest coefficient comes first."""
    width = width_of(variable)
    sum_ = emit.splat(coefficients[0], dtype, width)
    for coefficient in coefficients[1:]:
        product = emit.builder.fmul(sum_, variable)
        sum_ = emit.builder.fadd(product, emit.splat(coefficient, dtype, width))
    return sum_


def _logistic(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    one = emit.splat(1, dtype, width_of(value))
    power = FUNCTIONS["exp"](emit, dtype, emit.builder.fneg(value))
    return emit.builder.fdiv(one, emit.builder.fadd(one, power))


# of w = -log(1 - x^2), below and from 5 on: of w - 2.5, and of sqrt(w) - 3
ERF_INV_CENTRAL = (
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
)
ERF_INV_TAIL = (
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
)


def _erf_inv(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    builder, width = emit.builder, width_of(value)
    square = builder.fmul(value, builder.fneg(value))
    w = builder.fneg(FUNCTIONS["log1p"](emit, dtype, square))
    central = _polynomial(
        emit, dtype, builder.fsub(w, emit.splat(2.5, dtype, width)), ERF_INV_CENTRAL
    )
    root = builder.fsub(emit.intrinsic("sqrt", w), emit.splat(3, dtype, width))
    tail = _polynomial(emit, dtype, root, ERF_INV_TAIL)
    is_central = builder.fcmp_ordered("<", w, emit.splat(5, dtype, width))
    result = builder.fmul(builder.select(is_central, central, tail), value)
    if dtype == np.float64:
        for _ in range(2):
            result = _halley_step(emit, value, result)
    one = emit.splat(1, dtype, width)
    is_end = builder.fcmp_ordered("==", emit.intrinsic("fabs", value), one)
    infinite = emit.intrinsic("copysign", emit.splat(np.inf, dtype, width), value)
    return builder.select(is_end, infinite, result)


def _halley_step(emit: Emitter, value: ir.Value, root: ir.Value) -> ir.Value:
    """Return a better root x of erf(x) = value, whose error is the cube of that of the former.

    With e = erf(x) - value and e' = 2 / sqrt(pi) exp(-x^2) the step is e / (e' + x e). Above 1/2
    erfc(x) - (1 - value) is e without its cancellation.
    """
    builder, dtype, width = emit.builder, np.dtype(np.float64), width_of(value)
    size, place = emit.intrinsic("fabs", value), emit.intrinsic("fabs", root)
    one = emit.splat(1, dtype, width)
    near = builder.fsub(FUNCTIONS["erf"](emit, dtype, place), size)
    far = builder.fsub(builder.fsub(one, size), FUNCTIONS["erfc"](emit, dtype, place))
    is_far = builder.fcmp_ordered(">", size, emit.splat(0.5, dtype, width))
    error = builder.select(is_far, far, near)
    power = FUNCTIONS["exp"](emit, dtype, builder.fneg(builder.fmul(place, place)))
    slope = builder.fmul(emit.splat(2 / np.sqrt(np.pi), dtype, width), power)
    step = builder.fdiv(error, builder.fadd(slope, builder.fmul(place, error)))
    return emit.intrinsic("copysign", builder.fsub(place, step), root)


FUNCTIONS: Mapping[str, Function] = {
    **{primitive: _library_function(name) for primitive, name in LIBRARY.items()},
    "logistic": _logistic,
    "erf_inv": _erf_inv,
}
