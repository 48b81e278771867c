"""Functions of floating-point numbers that are not single instructions.

Most are polynomials after a reduction of the argument, as in W. J. Cody and W. Waite, "Software
Manual for the Elementary Functions", 1980; logarithms as in fdlibm (Sun Microsystems, 1993), and
``erf_inv`` by the variable of M. Giles, "Approximating the erfinv function", GPU Computing Gems
Jade Edition, 2012. Errors are below ``ERRORS``. The others are those of the system's mathematical
library, called for one element after another, as are arguments for which a reduction fails. No
result depends on the number of elements.
"""

from collections.abc import Callable, Mapping
from math import log, pi

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.coefficients import (
    ATAN,
    COS,
    ERF_INV_CENTRAL,
    ERF_INV_MIDDLE,
    ERF_INV_TAIL,
    EXPM1,
    LOG,
    SIN,
)
from kittiwake.simd.data_types import scalar_type, width_of
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.float_arithmetic import FloatArithmetic, each_element

# from emitter, dtype and registers
Function = Callable[..., ir.Value]
# from arithmetic and registers
Formula = Callable[..., ir.Value]

FLOAT64 = np.dtype(np.float64)
# functions of C's mathematical library by primitive; those of float have the suffix "f"
LIBRARY = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "sinh": "sinh",
    "cosh": "cosh",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "exp2": "exp2",
    "pow": "pow",
    "cbrt": "cbrt",
    "rem": "fmod",
    "erf": "erf",
    "erfc": "erfc",
    "lgamma": "lgamma",
    "nextafter": "nextafter",
}
# largest errors of the formulas, in units in the last place of the result
ERRORS = {
    "exp": 1.0,
    "expm1": 2.0,
    "log": 1.0,
    "log1p": 1.0,
    "sin": 1.6,
    "cos": 1.6,
    "tan": 3.5,
    "atan": 1.8,
    "atan2": 1.6,
    "asin": 2.5,
    "acos": 2.5,
    "tanh": 2.5,
    "logistic": 2.0,
    "pow": 1.0,
    "rem": 0.0,
    "erf_inv": 2.5,
}
# logarithm of 2, pi / 2 and pi / 4 as sums of doubles, from the decimal expansions
LOG_2 = (0.6931471805599453, 2.3190468138462996e-17)
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
# arguments of sine and cosine whose reduction is exact enough, by dtype
LARGEST_ANGLE = {np.dtype(np.float32): 3e4, FLOAT64: 1.6e6}
# above, tanh is one to the last digit
LARGEST_TANH = {np.dtype(np.float32): 10.0, FLOAT64: 20.0}


def _parts(m: FloatArithmetic, value: tuple[float, ...], count: int) -> list[ir.Value]:
    """Return a constant as a sum of numbers of the arithmetic's precision."""
    if m.dtype == FLOAT64:
        return [m.number(part) for part in value[:count]]
    parts, left = [], value[0]
    for _ in range(count):
        part = float(np.float32(left))
        parts.append(m.number(part))
        left = (left - part) + (value[1] if len(parts) == 1 else 0.0)
    return parts


def _reduced_exponent(m: FloatArithmetic, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Return the integer n and expm1(r), where x = n log(2) + r."""
    whole = m.rounded(m.product(x, m.number(1 / log(2))))
    high, low = _parts(m, LOG_2, 2)
    minus = m.negative(whole)
    r = m.fma(minus, low, m.fma(minus, high, x))
    return m.integer(whole), m.fma(m.product(r, r), m.polynomial(r, EXPM1), r)


def _exp(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    limit = 1.1 * log(2) * np.finfo(m.dtype).maxexp
    exponent, small = _reduced_exponent(m, m.limited(x, -limit, limit))
    result = m.scaled(m.sum(small, m.number(1)), exponent)
    return m.select(m.is_nan(x), x, result)


def _expm1(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    limit = log(2) * (m.mantissa_bits + 3)
    exponent, small = _reduced_exponent(m, m.limited(x, -limit, limit))
    scale = m.power_of_two(exponent)
    near = m.with_sign(m.fma(scale, small, m.difference(scale, m.number(1))), x)
    result = m.select(m.is_less(m.number(limit), x), _exp(m, x), near)
    return m.select(m.is_nan(x), x, result)


def _log_of_sum(m: FloatArithmetic, x: ir.Value, correction: ir.Value) -> ir.Value:
    """Return log(x + correction), for a normal x and a correction below its last digit."""
    exponent, significand = m.split(x)
    f = m.difference(significand, m.number(1))
    s = m.quotient(f, m.sum(f, m.number(2)))
    z = m.product(s, s)
    half_square = m.product(m.product(f, f), m.number(0.5))
    rest = m.product(s, m.fma(z, m.polynomial(z, LOG), half_square))
    high, low = _parts(m, LOG_2, 2)
    lower = m.sum(m.fma(exponent, low, rest), correction)
    return m.fma(exponent, high, m.sum(m.difference(lower, half_square), f))


def _at_ends_of_log(m: FloatArithmetic, x: ir.Value, result: ir.Value) -> ir.Value:
    """Return a logarithm of x with its values at zero, at infinity and for negative numbers."""
    zero, infinite = m.number(0), m.number(np.inf)
    result = m.select(m.is_less(x, infinite), result, x)
    result = m.select(m.is_less(x, zero), m.number(np.nan), result)
    return m.select(m.is_equal(x, zero), m.number(-np.inf), result)


def _log(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    return _at_ends_of_log(m, x, _log_of_sum(m, x, m.number(0)))


def _log1p(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    one = m.number(1)
    u = m.sum(x, one)
    lost = m.select(
        m.is_less(one, x),
        m.difference(one, m.difference(u, x)),
        m.difference(x, m.difference(u, one)),
    )
    result = _at_ends_of_log(m, u, _log_of_sum(m, u, m.quotient(lost, u)))
    # u is one
    is_tiny = m.is_less(m.size(x), m.number(np.finfo(m.dtype).eps / 4))
    return m.select(is_tiny, x, result)


def _quadrant(m: FloatArithmetic, x: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Return the integer n, sine and cosine of r, where x = n pi / 2 + r."""
    whole = m.rounded(m.product(x, m.number(2 / pi)))
    r, minus = x, m.negative(whole)
    for part in _parts(m, HALF_PI, 3):
        r = m.fma(minus, part, r)
    z = m.product(r, r)
    sine = m.fma(m.product(r, z), m.polynomial(z, SIN), r)
    square = m.product(z, z)
    cosine = m.fma(square, m.polynomial(z, COS), m.fma(z, m.number(-0.5), m.number(1)))
    return m.integer(whole), sine, cosine


def _sine(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    quadrant, sine, cosine = _quadrant(m, x)
    result = m.select(m.has_bit(quadrant, 0), cosine, sine)
    return m.select(m.has_bit(quadrant, 1), m.negative(result), result)


def _cosine(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    quadrant, sine, cosine = _quadrant(m, x)
    is_odd = m.has_bit(quadrant, 0)
    result = m.select(is_odd, m.negative(sine), cosine)
    return m.select(m.has_bit(quadrant, 1), m.negative(result), result)


def _tangent(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    quadrant, sine, cosine = _quadrant(m, x)
    is_odd = m.has_bit(quadrant, 0)
    dividend = m.select(is_odd, m.negative(cosine), sine)
    return m.quotient(dividend, m.select(is_odd, sine, cosine))


def _of_angle(name: str, formula: Formula) -> Formula:
    """Return a function of an angle; large ones are left to the mathematical library."""

    def function(m: FloatArithmetic, x: ir.Value, library: Formula) -> ir.Value:
        is_small = m.is_less(m.size(x), m.number(LARGEST_ANGLE[m.dtype]))
        usual = formula(m, m.select(is_small, x, m.number(0)))
        # the sine and the tangent of -0
        if name != "cos":
            usual = m.select(m.is_equal(x, m.number(0)), x, usual)
        return m.with_exceptions(m.negated(is_small), usual, library, x)

    return function


def _angle_in_quadrant(m: FloatArithmetic, y: ir.Value, x: ir.Value) -> ir.Value:
    """Return the angle of a point whose coordinates are not negative."""
    zero, one = m.number(0), m.number(1)
    is_far = m.is_less(m.product(x, m.number(1 + np.sqrt(2))), y)
    is_near = m.negated(m.is_less(m.product(x, m.number(np.sqrt(2) - 1)), y))
    # the tangent of the angle, or of what it exceeds pi / 4 or pi / 2 by
    dividend = m.select(is_far, m.negative(x), m.select(is_near, y, m.difference(y, x)))
    divisor = m.select(is_far, y, m.select(is_near, x, m.sum(y, x)))
    is_origin = m.is_equal(divisor, zero)
    t = m.quotient(dividend, m.select(is_origin, one, divisor))
    z = m.product(t, t)
    high, low = _parts(m, HALF_PI, 2)
    share = m.select(is_far, one, m.select(is_near, zero, m.number(0.5)))
    angle = m.fma(m.product(t, z), m.polynomial(z, ATAN), m.product(share, low))
    return m.fma(share, high, m.sum(angle, t))


def _atan(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    return m.with_sign(_angle_in_quadrant(m, m.size(x), m.number(1)), x)


def _atan2(m: FloatArithmetic, y: ir.Value, x: ir.Value) -> ir.Value:
    one, infinite = m.number(1), m.number(np.inf)
    height, width = m.size(y), m.size(x)
    is_diagonal = m.both(m.is_equal(height, infinite), m.is_equal(width, infinite))
    angle = _angle_in_quadrant(
        m, m.select(is_diagonal, one, height), m.select(is_diagonal, one, width)
    )
    high, low = _parts(m, tuple(2 * part for part in HALF_PI), 2)
    behind = m.difference(high, m.difference(angle, low))
    is_behind = m.is_less(m.with_sign(one, x), m.number(0))
    return m.with_sign(m.select(is_behind, behind, angle), y)


def _cathetus(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    """Return the root of 1 - x^2."""
    one = m.number(1)
    return m.root(m.product(m.difference(one, x), m.sum(one, x)))


def _asin(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    return _atan2(m, x, _cathetus(m, x))


def _acos(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    return _atan2(m, _cathetus(m, x), x)


def _tanh(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    size, largest = m.size(x), m.number(LARGEST_TANH[m.dtype])
    size = m.select(m.is_less(largest, size), largest, size)
    power = _expm1(m, m.sum(size, size))
    return m.with_sign(m.quotient(power, m.sum(power, m.number(2))), x)


def _logistic(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    one = m.number(1)
    return m.quotient(one, m.sum(one, _exp(m, m.negative(x))))


def _power(m: FloatArithmetic, x: ir.Value, y: ir.Value, library: Formula) -> ir.Value:
    """Return x^y by logarithm and exponential in double precision."""
    double = m.in_precision(FLOAT64)
    base, exponent = (m.converted(one, double) for one in (x, y))
    result = _exp(double, double.product(exponent, _log(double, base)))
    infinite, zero = m.number(np.inf), m.number(0)
    is_usual = m.both(
        m.both(m.is_less(zero, x), m.is_less(x, infinite)), m.is_less(m.size(y), infinite)
    )
    return m.with_exceptions(m.negated(is_usual), double.converted(result, m), library, x, y)


def _remainder(m: FloatArithmetic, x: ir.Value, y: ir.Value, library: Formula) -> ir.Value:
    """Return the remainder of a division that is rounded towards zero, without any error."""
    dividend, divisor, zero = m.size(x), m.size(y), m.number(0)
    times = m.truncated(m.quotient(dividend, divisor))
    rest = m.fma(m.negative(times), divisor, dividend)
    # the quotient may have been rounded to the next whole number
    rest = m.select(m.is_less(rest, zero), m.sum(rest, divisor), rest)
    is_usual = m.is_less(times, m.number(2.0**m.mantissa_bits))
    is_usual = m.both(is_usual, m.is_less(divisor, m.number(np.inf)))
    return m.with_exceptions(m.negated(is_usual), m.with_sign(rest, x), library, x, y)


def _erf_inv(m: FloatArithmetic, x: ir.Value) -> ir.Value:
    one, size = m.number(1), m.size(x)
    u = m.product(m.difference(one, size), m.sum(one, size))
    # 1 - u is exact for small x
    lost = m.fma(m.negative(size), size, m.difference(one, u))
    correction = m.select(m.is_less(size, m.number(0.5)), m.quotient(lost, u), m.number(0))
    w = m.negative(_log_of_sum(m, u, correction))
    root = m.root(w)
    ratio = m.polynomial(m.difference(root, m.number(3.25)), ERF_INV_MIDDLE)
    if m.dtype == FLOAT64:
        tail = m.polynomial(m.difference(root, m.number(5)), ERF_INV_TAIL)
        ratio = m.select(m.is_less(w, m.number(16)), ratio, tail)
    central = m.polynomial(m.difference(w, m.number(3.125)), ERF_INV_CENTRAL)
    ratio = m.select(m.is_less(w, m.number(6.25)), central, ratio)
    result = m.select(m.is_equal(size, one), m.number(np.inf), m.product(ratio, size))
    result = m.select(m.is_less(one, size), m.number(np.nan), result)
    return m.select(m.is_nan(x), x, m.with_sign(result, x))


FORMULAS: Mapping[str, Formula] = {
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "atan": _atan,
    "atan2": _atan2,
    "asin": _asin,
    "acos": _acos,
    "tanh": _tanh,
    "logistic": _logistic,
    "erf_inv": _erf_inv,
}
# those that leave some arguments to the library
WITH_EXCEPTIONS: Mapping[str, Formula] = {
    "sin": _of_angle("sin", _sine),
    "cos": _of_angle("cos", _cosine),
    "tan": _of_angle("tan", _tangent),
    "rem": _remainder,
}
# a power of doubles would need a logarithm of more digits
IN_SINGLE_PRECISION: Mapping[str, Formula] = {"pow": _power}


def _library_function(emit: Emitter, name: str, dtype: np.dtype) -> Callable[..., ir.Value]:
    """Return a function of scalars of the mathematical library."""
    symbol, kind = LIBRARY[name] + ("f" if dtype == np.float32 else ""), scalar_type(dtype)
    return lambda *scalars: emit.call(symbol, kind, *scalars)


def _body(emit: Emitter, name: str, dtype: np.dtype, values: list[ir.Value]) -> ir.Value:
    m = FloatArithmetic(emit, dtype, width_of(values[0]))
    if name in FORMULAS:
        return FORMULAS[name](m, *values)
    library = _library_function(emit, name, dtype)
    if name in WITH_EXCEPTIONS:
        return WITH_EXCEPTIONS[name](m, *values, library)
    if name in IN_SINGLE_PRECISION and dtype == np.float32:
        return IN_SINGLE_PRECISION[name](m, *values, library)
    return each_element(emit, library, *values)


def _function(name: str) -> Function:
    """Return a function that is compiled once for each type and number of elements."""

    def call(emit: Emitter, dtype: np.dtype, *values: ir.Value) -> ir.Value:
        kind = values[0].type
        symbol = f"{name}.{dtype.name}.{width_of(values[0])}"
        if symbol not in emit.module.globals:
            types = [kind] * len(values)
            function = ir.Function(emit.module, ir.FunctionType(kind, types), symbol)
            function.linkage = "internal"
            function.attributes.add("noinline")
            inner = Emitter(emit.module, function)
            inner.finish(_body(inner, name, dtype, [*function.args]))
        return emit.call(symbol, kind, *values)

    return call


FUNCTIONS: Mapping[str, Function] = {
    name: _function(name) for name in {**LIBRARY, **FORMULAS, **WITH_EXCEPTIONS}
}
