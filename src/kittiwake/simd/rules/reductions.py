"""Reductions along axes, in the order of the elements."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.rules.arithmetic import OPERATIONS
from kittiwake.simd.translator import Rule, Translator, reshaped
from kittiwake.simd.values import Stored, Value

# longer reductions are loops
MAX_UNROLLED = 16

REDUCTION_OPERATIONS = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_or": "or",
    "reduce_and": "and",
    "reduce_xor": "xor",
}
CUMULATIVE_OPERATIONS = {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}


def with_axes_first(translator: Translator, value: Value, axes: Sequence[int]) -> Value:
    """Return an array of two axes: along the given axes, and along all others."""
    others = [axis for axis in range(len(value.shape)) if axis not in axes]
    count = prod(value.shape[axis] for axis in axes)
    places = np.arange(value.size).reshape(value.shape).transpose([*axes, *others])
    shape = (count, value.size // count if count else 0)
    return translator.rearranged(places, Variable(shape, value.dtype), value)


def row(translator: Translator, value: Value, index: int) -> Value:
    """Return a row of an array of two axes."""
    width = value.shape[1]
    places = np.arange(index * width, (index + 1) * width)
    return translator.rearranged(places, Variable((width,), value.dtype), value)


def _reduction(name: str) -> Rule:
    def rule(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        (operand,), (result,) = operands, equation.results
        if not operand.size:
            return [translator.filled(_neutral(name, operand.dtype), result)]
        if prod(result.shape) == operand.size:
            return [reshaped(operand, result.shape)]
        combine = partial(OPERATIONS[name], translator.emit, operand.dtype)
        rows = with_axes_first(translator, operand, equation.params["axes"])
        if rows.shape[1] == 1 and (name not in ("add", "mul") or operand.dtype.kind != "f"):
            rows = _in_any_order(translator, rows, combine)
        return [reshaped(_combined(translator, rows, combine), result.shape)]

    return rule


def _in_any_order(translator: Translator, rows: Value, combine: Callable[..., ir.Value]) -> Value:
    """Return fewer rows of one element, whose combination is that of all rows in any order."""
    block, count = translator.emit.block, rows.shape[0]
    whole = count // block
    if whole < 2:
        return rows
    many = Variable((whole, block), rows.dtype)
    wide = translator.rearranged(np.arange(whole * block), many, rows)
    left_over = Variable((count - whole * block, 1), rows.dtype)
    parts = [
        _combined(translator, wide, combine),
        translator.rearranged(np.arange(whole * block, count), left_over, rows),
    ]
    together = Variable((block + left_over.shape[0], 1), rows.dtype)
    return translator.rearranged(np.arange(together.shape[0]), together, *parts)


def _neutral(name: str, dtype: np.dtype) -> float | int:
    """Return the combination of no elements."""
    if name in ("max", "min"):
        if dtype.kind == "f":
            return -np.inf if name == "max" else np.inf
        limits = np.iinfo(dtype)
        return int(limits.min if name == "max" else limits.max)
    return {"mul": 1, "and": -1}.get(name, 0)


def _combined(translator: Translator, rows: Value, combine: Callable[..., ir.Value]) -> Value:
    """Return the combination of all rows, one after another."""
    count, width = rows.shape
    total = row(translator, rows, 0)
    one = Variable((width,), rows.dtype)
    if count <= MAX_UNROLLED:
        for index in range(1, count):
            total = translator.elementwise(combine, one, total, row(translator, rows, index))
        return total
    memory, source = translator.reserve(one), translator.pointer(rows)
    translator.write(total, memory.pointer)
    emit = translator.emit
    with emit.loop(count - 1) as step:
        number = emit.builder.add(step, emit.index(1))
        start = emit.builder.mul(number, emit.index(width))
        present = emit.builder.gep(source, [start])
        later = translator.elementwise(
            combine,
            one,
            translator.loaded(memory),
            translator.loaded(Stored(present, one.shape, one.dtype)),
        )
        translator.write(later, memory.pointer)
    return translator.loaded(memory)


def _cumulative(name: str) -> Rule:
    def rule(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        (operand,), (result,) = operands, equation.results
        axis, emit = equation.params["axis"], translator.emit
        combine = partial(OPERATIONS[name], emit, operand.dtype)
        rows = with_axes_first(translator, operand, [axis])
        count, width = rows.shape
        one, memory = Variable((width,), operand.dtype), translator.reserve(result)
        source, total = translator.pointer(rows), translator.reserve(one)
        builder = emit.builder
        with emit.loop(count) as step:
            is_reversed = equation.params["reverse"]
            index = builder.sub(emit.index(count - 1), step) if is_reversed else step
            start = builder.mul(index, emit.index(width))
            present = translator.loaded(
                Stored(builder.gep(source, [start]), one.shape, one.dtype, source)
            )
            before = translator.loaded(total)
            is_first = builder.icmp_signed("==", step, emit.index(0))
            combined = translator.elementwise(
                lambda own, other: builder.select(is_first, other, combine(own, other)),
                one,
                before,
                present,
            )
            translator.write(combined, total.pointer)
            translator.write(combined, memory.pointer, start)
        return [_with_axis_back(translator, memory, axis, result)]

    return rule


def _with_axis_back(translator: Translator, memory: Stored, axis: int, result: Variable) -> Value:
    """Return an array whose first axis, before all others, goes back to its place."""
    others = [length for i, length in enumerate(result.shape) if i != axis]
    moved = np.arange(memory.size).reshape(result.shape[axis], *others)
    places = np.moveaxis(moved, 0, axis)
    return translator.rearranged(places, result, translator.loaded(memory))


def _argument(sign: str) -> Rule:
    """Return the rule of the index of the least or greatest element; the first of equal ones."""

    def rule(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        (operand,), (result,) = operands, equation.results
        rows = with_axes_first(translator, operand, equation.params["axes"])
        width = rows.shape[1]
        one, number = Variable((width,), operand.dtype), Variable((width,), result.dtype)
        best, which = row(translator, rows, 0), translator.filled(0, number)
        better = partial(_is_better, translator.emit, operand.dtype, sign)
        for index in range(1, rows.shape[0]):
            present = row(translator, rows, index)
            flag = translator.elementwise(better, Variable((width,), np.dtype(bool)), present, best)
            select = translator.emit.builder.select
            best = translator.elementwise(select, one, flag, present, best)
            here = translator.filled(index, number)
            which = translator.elementwise(select, number, flag, here, which)
        return [reshaped(which, result.shape)]

    return rule


def _is_better(
    emit: Emitter, dtype: np.dtype, sign: str, present: ir.Value, best: ir.Value
) -> ir.Value:
    """Return true if an element is beyond the best one; what is not a number is beyond all."""
    builder = emit.builder
    if dtype.kind != "f":
        compare = builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned
        return compare(sign, present, best)
    beyond = builder.fcmp_ordered(sign, present, best)
    is_none = builder.fcmp_unordered("uno", present, present)
    is_first = builder.and_(is_none, builder.fcmp_ordered("ord", best, best))
    return builder.or_(beyond, is_first)


def _dot_general(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Sum products along contracted axes, in their order."""
    (result,) = equation.results
    (left_axes, right_axes), (left_batch, right_batch) = equation.params["dimension_numbers"]
    left, right = operands
    left_free = _others(left, left_axes, left_batch)
    right_free = _others(right, right_axes, right_batch)
    count = prod(left.shape[axis] for axis in left_axes)
    if prod(result.shape) == 0 or count == 0:
        return [translator.filled(0, result)]
    lefts = _arranged(translator, left, [*left_axes, *left_batch, *left_free])
    rights = _arranged(translator, right, [*right_axes, *right_batch, *right_free])
    batch = prod(left.shape[axis] for axis in left_batch)
    rows, columns = (
        prod(one.shape[axis] for axis in free)
        for one, free in ((left, left_free), (right, right_free))
    )
    small = count * prod(result.shape) <= MAX_UNROLLED * translator.emit.max_elements
    if count <= MAX_UNROLLED and prod(result.shape) <= translator.emit.max_elements and small:
        return [_unrolled_product(translator, lefts, rights, (count, batch, rows, columns), result)]
    return [_looped_product(translator, lefts, rights, (count, batch, rows, columns), result)]


def _others(value: Value, *used: Sequence[int]) -> list[int]:
    taken = [axis for axes in used for axis in axes]
    return [axis for axis in range(len(value.shape)) if axis not in taken]


def _arranged(translator: Translator, value: Value, axes: Sequence[int]) -> Value:
    """Return the elements with the axes in another order."""
    places = np.arange(value.size).reshape(value.shape).transpose(axes)
    return translator.rearranged(places, Variable(places.shape, value.dtype), value)


def _unrolled_product(
    translator: Translator,
    left: Value,
    right: Value,
    lengths: tuple[int, int, int, int],
    result: Variable,
) -> Value:
    count, batch, rows, columns = lengths
    lefts = np.arange(left.size).reshape(count, batch, rows, 1)
    rights = np.arange(right.size).reshape(count, batch, 1, columns)
    shape = (batch, rows, columns)
    one = Variable((prod(shape),), result.dtype)
    add, multiply = (
        partial(OPERATIONS[name], translator.emit, result.dtype) for name in ("add", "mul")
    )
    total = None
    for index in range(count):
        own = translator.rearranged(np.broadcast_to(lefts[index], shape), one, left)
        other = translator.rearranged(np.broadcast_to(rights[index], shape), one, right)
        product = translator.elementwise(multiply, one, own, other)
        total = product if total is None else translator.elementwise(add, one, total, product)
    assert total is not None
    return reshaped(total, result.shape)


def _looped_product(
    translator: Translator,
    left: Value,
    right: Value,
    lengths: tuple[int, int, int, int],
    result: Variable,
) -> Value:
    """Return products row by row; a row of the result is a sum of rows of the right operand."""
    count, batch, rows, columns = lengths
    emit, memory = translator.emit, translator.reserve(result)
    lefts, rights = translator.pointer(left), translator.pointer(right)
    add, multiply = (partial(OPERATIONS[name], emit, result.dtype) for name in ("add", "mul"))
    builder = emit.builder
    with emit.loop(batch * rows) as place:
        target = builder.mul(place, emit.index(columns))
        own_batch = builder.udiv(place, emit.index(rows))
        for start, width in emit.blocks(columns):
            total = emit.reserve(width, result.dtype)
            emit.store(emit.splat(0, result.dtype, width), total, 0, result.dtype)
            with emit.loop(count) as step:
                factor_place = builder.add(builder.mul(step, emit.index(batch * rows)), place)
                factor = emit.load(lefts, factor_place, result.dtype, 1)
                first = builder.add(builder.mul(step, emit.index(batch)), own_batch)
                other_place = builder.add(
                    builder.mul(first, emit.index(columns)), emit.index(start)
                )
                others = emit.load(rights, other_place, result.dtype, width)
                product = multiply(emit.repeat(factor, width), others)
                before = emit.load(total, 0, result.dtype, width)
                emit.store(add(before, product), total, 0, result.dtype)
            row_place = builder.add(target, emit.index(start))
            emit.store(
                emit.load(total, 0, result.dtype, width), memory.pointer, row_place, result.dtype
            )
    return translator.loaded(memory)


REDUCTIONS: Mapping[str, Rule] = {
    **{primitive: _reduction(name) for primitive, name in REDUCTION_OPERATIONS.items()},
    **{primitive: _cumulative(name) for primitive, name in CUMULATIVE_OPERATIONS.items()},
    "argmax": _argument(">"),
    "argmin": _argument("<"),
    "dot_general": _dot_general,
}
