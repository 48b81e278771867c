"""Sorting along an axis, by insertion, which is stable."""

from collections.abc import Mapping, Sequence

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import INDEX, bits_dtype, scalar_type
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Stored, Value


def _with_axis_last(translator: Translator, value: Value, axis: int) -> Stored:
    """Return a copy in memory, whose axis comes last."""
    places = np.moveaxis(np.arange(value.size).reshape(value.shape), axis, -1)
    memory = translator.reserve(Variable(places.shape, value.dtype))
    moved = translator.rearranged(places, Variable(places.shape, value.dtype), value)
    translator.write(moved, memory.pointer)
    return memory


def _order(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    """Return a signed integer that orders like the number: zeros are equal, NaN is the last."""
    builder = emit.builder
    if dtype.kind != "f":
        return value
    zero = emit.splat(0, dtype, 1)
    plain = builder.select(builder.fcmp_ordered("==", value, zero), zero, value)
    plain = builder.select(
        builder.fcmp_unordered("uno", value, value), emit.splat(np.nan, dtype, 1), plain
    )
    bits = builder.bitcast(plain, scalar_type(bits_dtype(dtype)))
    count = 8 * dtype.itemsize
    sign = builder.ashr(bits, ir.Constant(bits.type, count - 1))
    return builder.xor(bits, builder.and_(sign, ir.Constant(bits.type, 2 ** (count - 1) - 1)))


def _precedes(
    emit: Emitter,
    dtypes: Sequence[np.dtype],
    one: Sequence[ir.Value],
    other: Sequence[ir.Value],
    *,
    descending: bool,
) -> ir.Value:
    """Return true if keys come before others, the first key first."""
    builder = emit.builder
    result, equal = ir.Constant(ir.IntType(1), 0), ir.Constant(ir.IntType(1), 1)
    for dtype, own, others in zip(dtypes, one, other, strict=True):
        left, right = _order(emit, dtype, own), _order(emit, dtype, others)
        compare = builder.icmp_unsigned if dtype.kind in "ub" else builder.icmp_signed
        before = compare(">" if descending else "<", left, right)
        result = builder.or_(result, builder.and_(equal, before))
        equal = builder.and_(equal, builder.icmp_unsigned("==", left, right))
    return result


def _sort_rows(
    translator: Translator, columns: Sequence[Stored], keys: int, *, descending: bool = False
) -> None:
    """Sort each row of arrays in memory, along their last axis, by the first arrays."""
    emit, length = translator.emit, columns[0].shape[-1]
    builder = emit.builder
    at = emit.reserve(1, np.dtype(np.int64))
    index_dtype = np.dtype(np.int64)
    rows = columns[0].size // length if length else 0
    with emit.loop(rows) as row, emit.loop(length) as step:
        start = builder.mul(row, emit.index(length))
        held = [
            emit.load(column.pointer, builder.add(start, step), column.dtype, 1)
            for column in columns
        ]
        emit.store(step, at, 0, index_dtype)
        moves = emit.reserve(1, np.dtype(np.bool_))
        emit.store(ir.Constant(ir.IntType(1), 1), moves, 0, np.dtype(np.bool_))

        def goes_on(moves: ir.Value = moves) -> ir.Value:
            place = emit.load(at, 0, index_dtype, 1)
            is_inside = builder.icmp_signed(">", place, ir.Constant(INDEX, 0))
            return builder.and_(is_inside, emit.load(moves, 0, np.dtype(np.bool_), 1))

        def move(
            start: ir.Value = start, held: list[ir.Value] = held, moves: ir.Value = moves
        ) -> None:
            place = emit.load(at, 0, index_dtype, 1)
            former = builder.sub(place, ir.Constant(INDEX, 1))
            source, target = builder.add(start, former), builder.add(start, place)
            before = [emit.load(column.pointer, source, column.dtype, 1) for column in columns]
            dtypes = [column.dtype for column in columns[:keys]]
            goes = _precedes(emit, dtypes, held[:keys], before[:keys], descending=descending)
            for column, own in zip(columns, before, strict=True):
                present = emit.load(column.pointer, target, column.dtype, 1)
                kept = builder.select(goes, own, present)
                emit.store(kept, column.pointer, target, column.dtype)
            emit.store(builder.select(goes, former, place), at, 0, index_dtype)
            emit.store(goes, moves, 0, np.dtype(np.bool_))

        emit.loop_while(goes_on, move)
        place = builder.add(start, emit.load(at, 0, index_dtype, 1))
        for column, own in zip(columns, held, strict=True):
            emit.store(own, column.pointer, place, column.dtype)


def _axis_back(translator: Translator, memory: Stored, axis: int, result: Variable) -> Value:
    places = np.moveaxis(np.arange(memory.size).reshape(memory.shape), -1, axis)
    return translator.rearranged(places, result, translator.loaded(memory))


def _sort(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    axis = equation.params["dimension"]
    columns = [_with_axis_last(translator, operand, axis) for operand in operands]
    _sort_rows(translator, columns, equation.params["num_keys"])
    return [
        _axis_back(translator, memory, axis, result)
        for memory, result in zip(columns, equation.results, strict=True)
    ]


def _top_k(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (operand,), (values, indices) = operands, equation.results
    axis = equation.params.get("axis", len(operand.shape) - 1) % len(operand.shape)
    column = _with_axis_last(translator, operand, axis)
    counted = np.broadcast_to(np.arange(column.shape[-1]), column.shape).astype(indices.dtype)
    numbers = translator.reserve(Variable(column.shape, indices.dtype))
    translator.write(Known(np.ascontiguousarray(counted)), numbers.pointer)
    _sort_rows(translator, [column, numbers], 1, descending=True)
    found = []
    for memory, result in ((column, values), (numbers, indices)):
        places = np.arange(memory.size).reshape(memory.shape)[..., : equation.params["k"]]
        moved = np.moveaxis(places, -1, axis)
        found.append(translator.rearranged(moved, result, translator.loaded(memory)))
    return found


SORTING: Mapping[str, Rule] = {"sort": _sort, "top_k": _top_k}
