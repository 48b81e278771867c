"""Arithmetic, comparisons and functions, element by element."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import width_of
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation
from kittiwake.simd.functions import FUNCTIONS
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Value, known_elements

# from emitter, dtype of the operands and registers
Operation = Callable[..., ir.Value]

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# what NumPy computes to the same bits
FOLDED: Mapping[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "floor": np.floor,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def operation_rule(operation: Operation) -> Rule:
    """Return the rule of an operation on registers."""

    def rule(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        (result,) = equation.results
        fold = FOLDED.get(equation.primitive)
        known = known_elements(operands)
        if fold is not None and known is not None:
            with np.errstate(all="ignore"):
                folded = np.asarray(fold(*known), result.dtype)
            return [Known(np.broadcast_to(folded, result.shape))]
        simple = _simplified(equation.primitive, operands)
        if simple is not None and simple.shape == result.shape:
            return [simple]
        function = partial(operation, translator.emit, operands[0].dtype)
        return [translator.elementwise(function, result, *operands)]

    return rule


def _simplified(name: str, operands: Sequence[Value]) -> Value | None:
    """Return the operand that equals the result to the bit; None if there is none.

    x * 1, x / 1, x + -0 and x - 0 are x; -0 + 0 is not.
    """
    if len(operands) != 2:
        return None
    one, other = operands
    neutral = {"mul": 1.0, "div": 1.0, "add": -0.0, "sub": 0.0}.get(name)
    if neutral is None:
        return None
    if _is_everywhere(other, neutral):
        return one
    return other if name in ("mul", "add") and _is_everywhere(one, neutral) else None


def _is_everywhere(value: Value, number: float) -> bool:
    """Return True if all elements are known to be a floating-point number, its sign included."""
    if not isinstance(value, Known) or value.dtype.kind != "f":
        return False
    elements = value.elements
    return bool((elements == number).all() and (np.signbit(elements) == np.signbit(number)).all())


def _binary(for_floats: str, for_integers: str) -> Operation:
    def operation(emit: Emitter, dtype: np.dtype, one: ir.Value, other: ir.Value) -> ir.Value:
        name = for_floats if dtype.kind == "f" else for_integers
        return getattr(emit.builder, name)(one, other)

    return operation


def _negated(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    return emit.builder.fneg(value) if dtype.kind == "f" else emit.builder.neg(value)


def _quotient(emit: Emitter, dtype: np.dtype, one: ir.Value, other: ir.Value) -> ir.Value:
    builder = emit.builder
    if dtype.kind == "f":
        return builder.fdiv(one, other)
    quotient, _ = divided(emit, dtype, one, other)
    return quotient


def _remainder(emit: Emitter, dtype: np.dtype, one: ir.Value, other: ir.Value) -> ir.Value:
    if dtype.kind == "f":
        return FUNCTIONS["rem"](emit, dtype, one, other)
    _, remainder = divided(emit, dtype, one, other)
    return remainder


def divided(
    emit: Emitter, dtype: np.dtype, one: ir.Value, other: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """Return quotient and remainder of integers, as JAX defines them for each pair.

    A quotient by zero is -1 and its remainder the dividend; the least integer by -1 is itself.
    """
    builder, width = emit.builder, width_of(one)
    zero, unit = emit.splat(0, dtype, width), emit.splat(1, dtype, width)
    by_zero = builder.icmp_unsigned("==", other, zero)
    if dtype.kind == "u":
        safe = builder.select(by_zero, unit, other)
        quotient, remainder = builder.udiv(one, safe), builder.urem(one, safe)
    else:
        minus = emit.splat(-1, dtype, width)
        overflows = builder.and_(
            builder.icmp_signed("==", other, minus),
            builder.icmp_signed("==", one, emit.splat(np.iinfo(dtype).min, dtype, width)),
        )
        safe = builder.select(builder.or_(by_zero, overflows), unit, other)
        quotient, remainder = builder.sdiv(one, safe), builder.srem(one, safe)
        remainder = builder.select(overflows, zero, remainder)
    everything = emit.splat(np.iinfo(dtype).max if dtype.kind == "u" else -1, dtype, width)
    quotient = builder.select(by_zero, everything, quotient)
    return quotient, builder.select(by_zero, one, remainder)


def _extreme(sign: str) -> Operation:
    """Return the lesser or the greater one; not a number if one of them is not."""

    def operation(emit: Emitter, dtype: np.dtype, one: ir.Value, other: ir.Value) -> ir.Value:
        builder = emit.builder
        if dtype.kind != "f":
            compare = builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned
            return builder.select(compare(sign, one, other), one, other)
        # of zeros the negative one is the lesser
        return emit.intrinsic("minimum" if sign == "<" else "maximum", one, other)

    return operation


def _comparison(sign: str) -> Operation:
    def operation(emit: Emitter, dtype: np.dtype, one: ir.Value, other: ir.Value) -> ir.Value:
        builder = emit.builder
        if dtype.kind == "f":
            compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        else:
            compare = builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned
        return compare(sign, one, other)

    return operation


def _absolute(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    if dtype.kind == "f":
        return emit.intrinsic("fabs", value)
    if dtype.kind == "u":
        return value
    zero = emit.splat(0, dtype, width_of(value))
    is_negative = emit.builder.icmp_signed("<", value, zero)
    return emit.builder.select(is_negative, emit.builder.neg(value), value)


def _sign(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    builder, width = emit.builder, width_of(value)
    zero, one = emit.splat(0, dtype, width), emit.splat(1, dtype, width)
    if dtype.kind == "f":
        # zeros and what is not a number stay as they are
        is_other = builder.fcmp_unordered("==", value, zero)
        return builder.select(is_other, value, emit.intrinsic("copysign", one, value))
    is_positive = builder.zext(builder.icmp_unsigned("!=", value, zero), value.type)
    if dtype.kind == "u":
        return is_positive
    minus = emit.splat(-1, dtype, width)
    return builder.select(builder.icmp_signed("<", value, zero), minus, is_positive)


def _is_finite(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    infinite = emit.splat(np.inf, dtype, width_of(value))
    return emit.builder.fcmp_ordered("<", emit.intrinsic("fabs", value), infinite)


def _intrinsic(name: str) -> Operation:
    return lambda emit, _dtype, *values: emit.intrinsic(name, *values)


def _square(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    return _binary("fmul", "mul")(emit, dtype, value, value)


def _reciprocal_root(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    one = emit.splat(1, dtype, width_of(value))
    return emit.builder.fdiv(one, emit.intrinsic("sqrt", value))


def _shift(name: str) -> Operation:
    """Return a shift; by as many bits as there are, or more, it moves all of them out."""

    def operation(emit: Emitter, dtype: np.dtype, value: ir.Value, by: ir.Value) -> ir.Value:
        builder, width, bits = emit.builder, width_of(value), 8 * dtype.itemsize
        is_far = builder.icmp_unsigned(">=", by, emit.splat(bits, dtype, width))
        last = emit.splat(bits - 1, dtype, width)
        near = getattr(builder, name)(value, builder.select(is_far, last, by))
        if name == "ashr":
            return near
        return builder.select(is_far, emit.splat(0, dtype, width), near)

    return operation


def power(emit: Emitter, dtype: np.dtype, value: ir.Value, exponent: int) -> ir.Value:
    """Return an integer power by repeated squaring."""
    multiply = _binary("fmul", "mul")
    result, factor, left = None, value, abs(exponent)
    while left:
        if left & 1:
            result = factor if result is None else multiply(emit, dtype, result, factor)
        left >>= 1
        factor = multiply(emit, dtype, factor, factor) if left else factor
    one = emit.splat(1, dtype, width_of(value))
    if result is None:
        return one
    return result if exponent > 0 else emit.builder.fdiv(one, result)


def _integer_pow(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    function = partial(power, translator.emit, operands[0].dtype, exponent=equation.params["y"])
    return [translator.elementwise(function, equation.results[0], *operands)]


def _round(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    to_even = int(equation.params["rounding_method"]) == 1
    name = "rint" if to_even else "round"
    function = partial(translator.emit.intrinsic, name)
    return [translator.elementwise(function, equation.results[0], *operands)]


def _select(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Choose element by element among cases, by a flag or a number."""
    which, *cases = operands
    (result,) = equation.results
    if isinstance(which, Known) and which.size and (which.elements == which.elements.flat[0]).all():
        chosen = cases[int(which.elements.flat[0])]
        if chosen.shape == result.shape:
            return [chosen]
    emit = translator.emit

    def function(index: ir.Value, *values: ir.Value) -> ir.Value:
        if which.dtype == np.bool_:
            return emit.builder.select(index, values[1], values[0])
        chosen = values[0]
        for number, value in enumerate(values[1:], 1):
            here = emit.splat(number, which.dtype, width_of(index))
            at_least = emit.builder.icmp_signed(">=", index, here)
            chosen = emit.builder.select(at_least, value, chosen)
        return chosen

    return [translator.elementwise(function, result, which, *cases)]


def _clamp(emit: Emitter, dtype: np.dtype, *values: ir.Value) -> ir.Value:
    low, value, high = values
    return _extreme("<")(emit, dtype, _extreme(">")(emit, dtype, low, value), high)


def _clamp_rule(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    function = partial(_clamp, translator.emit, operands[1].dtype)
    return [translator.elementwise(function, equation.results[0], *operands)]


def _function(name: str) -> Operation:
    return lambda emit, dtype, *values: FUNCTIONS[name](emit, dtype, *values)


OPERATIONS: Mapping[str, Operation] = {
    "add": _binary("fadd", "add"),
    "add_any": _binary("fadd", "add"),
    "sub": _binary("fsub", "sub"),
    "mul": _binary("fmul", "mul"),
    "div": _quotient,
    "rem": _remainder,
    "neg": _negated,
    "and": _binary("and_", "and_"),
    "or": _binary("or_", "or_"),
    "xor": _binary("xor", "xor"),
    "not": lambda emit, _dtype, value: emit.builder.not_(value),
    "min": _extreme("<"),
    "max": _extreme(">"),
    **{name: _comparison(sign) for name, sign in COMPARISONS.items()},
    "lt_to": _comparison("<"),
    "le_to": _comparison("<="),
    "eq_to": _comparison("=="),
    "abs": _absolute,
    "sign": _sign,
    "is_finite": _is_finite,
    "sqrt": _intrinsic("sqrt"),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "square": _square,
    "rsqrt": _reciprocal_root,
    "shift_left": _shift("shl"),
    "shift_right_logical": _shift("lshr"),
    "shift_right_arithmetic": _shift("ashr"),
    "population_count": _intrinsic("ctpop"),
    **{name: _function(name) for name in FUNCTIONS if name != "rem"},
}

ARITHMETIC: Mapping[str, Rule] = {
    **{name: operation_rule(operation) for name, operation in OPERATIONS.items()},
    "integer_pow": _integer_pow,
    "round": _round,
    "select_n": _select,
    "clamp": _clamp_rule,
}
