"""Conversions between dtypes."""

from collections.abc import Mapping, Sequence
from functools import partial

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import scalar_type, wide, width_of
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Register, Stored, Value


def converted(emit: Emitter, dtype: np.dtype, target: np.dtype, value: ir.Value) -> ir.Value:
    """Return elements in another dtype; numbers out of its range become its ends."""
    if dtype == target:
        return value
    if target == np.bool_:
        zero = emit.splat(0, dtype, width_of(value))
        compare = emit.builder.icmp_unsigned if dtype.kind != "f" else emit.builder.fcmp_unordered
        return compare("!=", value, zero)
    kind = wide(scalar_type(target), width_of(value))
    if dtype.kind == "f":
        return _from_floats(emit, dtype, target, value, kind)
    if target.kind == "f":
        convert = emit.builder.sitofp if dtype.kind == "i" else emit.builder.uitofp
        return convert(value, kind)
    if dtype == np.bool_ or target.itemsize > dtype.itemsize:
        extend = emit.builder.sext if dtype.kind == "i" else emit.builder.zext
        return extend(value, kind)
    return emit.builder.trunc(value, kind) if target.itemsize < dtype.itemsize else value


def _from_floats(
    emit: Emitter, dtype: np.dtype, target: np.dtype, value: ir.Value, kind: ir.Type
) -> ir.Value:
    if target.kind == "f":
        widens = target.itemsize > dtype.itemsize
        return emit.builder.fpext(value, kind) if widens else emit.builder.fptrunc(value, kind)
    # LLVM's own conversion to the nearest end computes the elements of a vector one by one
    builder, width, ends = emit.builder, width_of(value), np.iinfo(target)
    low, high = (emit.splat(float(end), dtype, width) for end in (ends.min, ends.max))
    # what is not below the high end is not a number or is too large
    is_below = builder.fcmp_ordered("<", value, high)
    is_inside = builder.and_(is_below, builder.fcmp_ordered(">=", value, low))
    convert = builder.fptosi if target.kind == "i" else builder.fptoui
    inside = convert(builder.select(is_inside, value, emit.splat(0.0, dtype, width)), kind)
    least, most, zero = (emit.splat(int(end), target, width) for end in (ends.min, ends.max, 0))
    is_number = builder.fcmp_ordered("ord", value, value)
    outside = builder.select(is_below, least, builder.select(is_number, most, zero))
    return builder.select(is_inside, inside, outside)


def _convert(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (operand,), (result,) = operands, equation.results
    if isinstance(operand, Known) and operand.dtype.kind != "f":
        return [Known(operand.elements.astype(result.dtype))]
    if isinstance(operand, Known) and result.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return [Known(operand.elements.astype(result.dtype))]
    if operand.dtype == result.dtype:
        return [operand]
    function = partial(converted, translator.emit, operand.dtype, result.dtype)
    return [translator.elementwise(function, result, operand)]


def _bitcast(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Read the same bits as another dtype; another size adds or takes a last axis."""
    (operand,), (result,) = operands, equation.results
    if isinstance(operand, Known):
        raw = np.ascontiguousarray(operand.elements).tobytes()
        return [Known(np.frombuffer(raw, result.dtype).reshape(result.shape))]
    if isinstance(operand, Stored):
        kind = scalar_type(result.dtype).as_pointer()
        pointer = translator.emit.builder.bitcast(operand.pointer, kind)
        return [Stored(pointer, result.shape, result.dtype, operand.memory)]
    size = operand.size * operand.dtype.itemsize // result.dtype.itemsize
    kind = wide(scalar_type(result.dtype), size)
    return [
        Register(translator.emit.builder.bitcast(operand.value, kind), result.shape, result.dtype)
    ]


def _reduce_precision(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (operand,) = operands
    widest = {np.dtype(np.float32): (8, 23), np.dtype(np.float64): (11, 52)}[operand.dtype]
    given = equation.params["exponent_bits"], equation.params["mantissa_bits"]
    if given == widest:
        return [operand]
    if given == (8, 23):
        single = np.dtype(np.float32)
        emit = translator.emit

        def rounded(value: ir.Value) -> ir.Value:
            narrow = converted(emit, operand.dtype, single, value)
            return converted(emit, single, operand.dtype, narrow)

        return [translator.elementwise(rounded, equation.results[0], operand)]
    message = f"reduce_precision to {given}"
    raise NotImplementedError(message)


CONVERSIONS: Mapping[str, Rule] = {
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast,
    "reduce_precision": _reduce_precision,
}
