"""Sorting along an axis, by insertion, which is stable, and the largest elements along one."""

from collections.abc import Mapping, Sequence
from math import prod

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import INDEX, scalar_type, wide, width_of
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Stored, Value

INDEX_DTYPE = np.dtype(np.int64)
# elements that are sorted by insertion; a power of two
RUN = 16


def _with_axis_last(translator: Translator, value: Value, axis: int) -> Stored:
    """Return a copy in memory, whose axis comes last."""
    places = np.moveaxis(np.arange(value.size).reshape(value.shape), axis, -1)
    memory = translator.reserve(Variable(places.shape, value.dtype))
    moved = translator.rearranged(places, Variable(places.shape, value.dtype), value)
    translator.write(moved, memory.pointer)
    return memory


def _order(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    """Return signed integers that order like the numbers: zeros are equal, NaN is the last."""
    if dtype.kind != "f":
        return _total_order(emit, dtype, value)
    builder, width = emit.builder, width_of(value)
    zero = emit.splat(0, dtype, width)
    plain = builder.select(builder.fcmp_ordered("==", value, zero), zero, value)
    is_nan = builder.fcmp_unordered("uno", value, value)
    plain = builder.select(is_nan, emit.splat(np.nan, dtype, width), plain)
    return _total_order(emit, dtype, plain)


def _total_order(emit: Emitter, dtype: np.dtype, value: ir.Value) -> ir.Value:
    """Return signed integers that order like the numbers, -0 before 0 and NaN by its sign."""
    builder, width = emit.builder, width_of(value)
    if dtype == np.bool_:
        return builder.zext(value, wide(scalar_type(np.dtype(np.int8)), width))
    whole = np.dtype(f"int{8 * dtype.itemsize}")
    lowest = emit.splat(np.iinfo(whole).min, whole, width)
    if dtype.kind == "u":
        return builder.xor(value, lowest)
    if dtype.kind != "f":
        return value
    bits = builder.bitcast(value, lowest.type)
    sign = builder.ashr(bits, emit.splat(8 * dtype.itemsize - 1, whole, width))
    return builder.xor(bits, builder.and_(sign, builder.not_(lowest)))


def _precedes(
    emit: Emitter,
    dtypes: Sequence[np.dtype],
    one: Sequence[ir.Value],
    other: Sequence[ir.Value],
) -> ir.Value:
    """Return true if keys come before others, the first key first."""
    builder = emit.builder
    result, equal = ir.Constant(ir.IntType(1), 0), ir.Constant(ir.IntType(1), 1)
    for dtype, own, others in zip(dtypes, one, other, strict=True):
        left, right = _order(emit, dtype, own), _order(emit, dtype, others)
        before = builder.icmp_signed("<", left, right)
        result = builder.or_(result, builder.and_(equal, before))
        equal = builder.and_(equal, builder.icmp_unsigned("==", left, right))
    return result


def _sort_rows(translator: Translator, columns: Sequence[Stored], keys: int) -> Sequence[Stored]:
    """Return arrays with each row sorted, along their last axis, by the first arrays.

    Runs are sorted by insertion in the memory of the arrays, and then merged.
    """
    length = columns[0].shape[-1]
    rows = columns[0].size // length if length else 0
    others = [
        translator.reserve(Variable(one.shape, one.dtype)) if length > RUN else one
        for one in columns
    ]
    with translator.emit.loop(rows) as row:
        start = translator.emit.builder.mul(row, translator.emit.index(length))
        sorting = _RowSort(translator.emit, start, keys)
        sorting.insert_in_runs(columns, length)
        merged, spare, run = columns, others, RUN
        while run < length:
            sorting.merge(merged, spare, run, length)
            merged, spare, run = spare, merged, 2 * run
    return merged if rows else columns


class _RowSort:
    """Steps that sort one row of arrays in memory by the first arrays; all are stable."""

    def __init__(self, emit: Emitter, start: ir.Value, keys: int) -> None:
        self._emit, self._start, self._keys = emit, start, keys
        self._places = [emit.reserve(1, INDEX_DTYPE) for _ in range(2)]
        self._moves = emit.reserve(1, np.dtype(np.bool_))

    def insert_in_runs(self, columns: Sequence[Stored], length: int) -> None:
        """Sort runs of ``RUN`` elements, and that of the elements that are left over."""
        emit, builder = self._emit, self._emit.builder
        at, moves = self._places[0], self._moves
        with emit.loop(length) as step:
            held = self._elements(columns, step)
            first = builder.and_(step, emit.index(~(RUN - 1)))
            self._set(at, step)
            emit.store(ir.Constant(ir.IntType(1), 1), moves, 0, np.dtype(np.bool_))

            def goes_on() -> ir.Value:
                is_inside = builder.icmp_signed(">", self._place(at), first)
                return builder.and_(is_inside, emit.load(moves, 0, np.dtype(np.bool_), 1))

            def move() -> None:
                place = self._place(at)
                former = builder.sub(place, emit.index(1))
                before = self._elements(columns, former)
                goes = self._precedes(columns, held, before)
                present = self._elements(columns, place)
                kept = map(builder.select, [goes] * len(columns), before, present)
                self._put(columns, place, [*kept])
                self._set(at, builder.select(goes, former, place))
                emit.store(goes, moves, 0, np.dtype(np.bool_))

            emit.loop_while(goes_on, move)
            self._put(columns, self._place(at), held)

    def merge(
        self, sources: Sequence[Stored], targets: Sequence[Stored], run: int, length: int
    ) -> None:
        """Merge pairs of sorted runs."""
        emit, builder = self._emit, self._emit.builder
        left, right = self._places
        end_of_row, last = emit.index(length), emit.index(length - 1)
        with emit.loop(length) as target:
            pair = builder.and_(target, emit.index(-2 * run))
            middle, end = (
                _least(emit, builder.add(pair, emit.index(count)), end_of_row)
                for count in (run, 2 * run)
            )
            with builder.if_then(builder.icmp_signed("==", target, pair)):
                self._set(left, pair)
                self._set(right, middle)
            own, other = self._place(left), self._place(right)
            is_left_over = builder.icmp_signed("<", own, middle)
            is_right_over = builder.icmp_signed("<", other, end)
            # an end is no element, and is not taken
            lefts = self._elements(sources, _least(emit, own, last))
            rights = self._elements(sources, _least(emit, other, last))
            precedes = self._precedes(sources, rights, lefts)
            takes_right = builder.and_(
                is_right_over, builder.or_(precedes, builder.not_(is_left_over))
            )
            taken = map(builder.select, [takes_right] * len(sources), rights, lefts)
            self._put(targets, target, [*taken])
            one = emit.index(1)
            self._set(left, builder.select(takes_right, own, builder.add(own, one)))
            self._set(right, builder.select(takes_right, builder.add(other, one), other))

    def _elements(self, columns: Sequence[Stored], place: ir.Value) -> list[ir.Value]:
        index = self._emit.builder.add(self._start, place)
        return [self._emit.load(one.pointer, index, one.dtype, 1) for one in columns]

    def _put(self, columns: Sequence[Stored], place: ir.Value, values: Sequence[ir.Value]) -> None:
        index = self._emit.builder.add(self._start, place)
        for column, value in zip(columns, values, strict=True):
            self._emit.store(value, column.pointer, index, column.dtype)

    def _precedes(
        self, columns: Sequence[Stored], one: Sequence[ir.Value], other: Sequence[ir.Value]
    ) -> ir.Value:
        dtypes = [column.dtype for column in columns[: self._keys]]
        return _precedes(self._emit, dtypes, one[: self._keys], other[: self._keys])

    def _place(self, memory: ir.Value) -> ir.Value:
        return self._emit.load(memory, 0, INDEX_DTYPE, 1)

    def _set(self, memory: ir.Value, place: ir.Value) -> None:
        self._emit.store(place, memory, 0, INDEX_DTYPE)


def _least(emit: Emitter, one: ir.Value, other: ir.Value) -> ir.Value:
    return emit.builder.select(emit.builder.icmp_signed("<", one, other), one, other)


def _axis_back(translator: Translator, memory: Stored, axis: int, result: Variable) -> Value:
    places = np.moveaxis(np.arange(memory.size).reshape(memory.shape), -1, axis)
    return translator.rearranged(places, result, translator.loaded(memory))


def _sort(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    axis = equation.params["dimension"]
    columns = [_with_axis_last(translator, operand, axis) for operand in operands]
    columns = _sort_rows(translator, columns, equation.params["num_keys"])
    return [
        _axis_back(translator, memory, axis, result)
        for memory, result in zip(columns, equation.results, strict=True)
    ]


def _top_k(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Return the largest elements, in a list to which what exceeds its last one is added."""
    (operand,), emit, builder = operands, translator.emit, translator.emit.builder
    axis = equation.params.get("axis", len(operand.shape) - 1) % len(operand.shape)
    most, row_shape = equation.params["k"], np.delete(operand.shape, axis)
    shape = (*map(int, row_shape), most)
    if not prod(shape):
        return [Known(np.zeros(one.shape, one.dtype)) for one in equation.results]
    column = _with_axis_last(translator, operand, axis)
    length = column.shape[-1]
    of_values, of_indices = (
        translator.reserve(Variable(shape, one.dtype)) for one in equation.results
    )
    largest = _Largest(emit, column, most)
    with emit.loop(column.size // length) as row:
        start = builder.mul(row, emit.index(length))
        with emit.loop(most) as place:
            order = _total_order(emit, column.dtype, largest.load(builder.add(start, place), 1))
            largest.insert(order, place, place)
        for begin, width in emit.blocks(length - most):
            first = builder.add(emit.index(begin), emit.index(most))
            orders = _total_order(
                emit, column.dtype, largest.load(builder.add(start, first), width)
            )
            largest.insert_exceeding(orders, first)
        with emit.loop(most) as place:
            index = largest.index(place)
            target = builder.add(builder.mul(row, emit.index(most)), place)
            value = largest.load(builder.add(start, index), 1)
            emit.store(value, of_values.pointer, target, column.dtype)
            narrow = builder.trunc(index, scalar_type(of_indices.dtype))
            emit.store(narrow, of_indices.pointer, target, of_indices.dtype)
    return [
        _axis_back(translator, memory, axis, result)
        for memory, result in zip((of_values, of_indices), equation.results, strict=True)
    ]


class _Largest:
    """List of the largest elements of a row of an array in memory, the largest first."""

    def __init__(self, emit: Emitter, column: Stored, most: int) -> None:
        self._emit, self._column, self._most = emit, column, most
        self._order_dtype = np.dtype(f"int{8 * column.dtype.itemsize}")
        self._orders = emit.reserve(most, self._order_dtype)
        self._indices = emit.reserve(most, INDEX_DTYPE)
        self._place = emit.reserve(1, INDEX_DTYPE)
        self._block = emit.reserve(emit.block, self._order_dtype)
        self._mask = emit.reserve(1, INDEX_DTYPE)

    def load(self, index: ir.Value, width: int) -> ir.Value:
        """Return elements of the array."""
        return self._emit.load(self._column.pointer, index, self._column.dtype, width)

    def index(self, place: ir.Value) -> ir.Value:
        """Return the index of an element of the list in its row."""
        return self._emit.load(self._indices, place, INDEX_DTYPE, 1)

    def insert(self, order: ir.Value, index: ir.Value, last: ir.Value) -> None:
        """Insert an element in place of the last one."""
        emit, builder = self._emit, self._emit.builder
        emit.store(last, self._place, 0, INDEX_DTYPE)

        def goes_before() -> ir.Value:
            place = emit.load(self._place, 0, INDEX_DTYPE, 1)
            # the list's first element stays readable at its beginning
            is_inside = builder.icmp_signed(">", place, emit.index(0))
            former = builder.select(is_inside, builder.sub(place, emit.index(1)), emit.index(0))
            other = emit.load(self._orders, former, self._order_dtype, 1)
            return builder.and_(is_inside, builder.icmp_signed(">", order, other))

        def move() -> None:
            place = emit.load(self._place, 0, INDEX_DTYPE, 1)
            former = builder.sub(place, emit.index(1))
            for pointer, dtype in (
                (self._orders, self._order_dtype),
                (self._indices, INDEX_DTYPE),
            ):
                emit.store(emit.load(pointer, former, dtype, 1), pointer, place, dtype)
            emit.store(former, self._place, 0, INDEX_DTYPE)

        emit.loop_while(goes_before, move)
        place = emit.load(self._place, 0, INDEX_DTYPE, 1)
        emit.store(order, self._orders, place, self._order_dtype)
        emit.store(index, self._indices, place, INDEX_DTYPE)

    def insert_exceeding(self, orders: ir.Value, first: ir.Value) -> None:
        """Insert those of a register that exceed the last one of the list."""
        emit, builder = self._emit, self._emit.builder
        last, width = emit.index(self._most - 1), width_of(orders)

        def exceeding(orders: ir.Value) -> ir.Value:
            least = emit.load(self._orders, last, self._order_dtype, 1)
            return builder.icmp_signed(">", orders, emit.repeat(least, width_of(orders)))

        mask = builder.bitcast(exceeding(orders), ir.IntType(width))
        emit.store(builder.zext(mask, INDEX), self._mask, 0, INDEX_DTYPE)
        emit.store(orders, self._block, 0, self._order_dtype)

        def remaining() -> ir.Value:
            return builder.icmp_signed("!=", emit.load(self._mask, 0, INDEX_DTYPE, 1), zero)

        def take() -> None:
            mask = emit.load(self._mask, 0, INDEX_DTYPE, 1)
            number = builder.cttz(mask, ir.Constant(ir.IntType(1), 1))
            others = builder.and_(mask, builder.sub(mask, emit.index(1)))
            emit.store(others, self._mask, 0, INDEX_DTYPE)
            order = emit.load(self._block, number, self._order_dtype, 1)
            # those before it may have raised the last one
            with builder.if_then(exceeding(order)):
                self.insert(order, builder.add(first, number), last)

        zero = emit.index(0)
        emit.loop_while(remaining, take)


SORTING: Mapping[str, Rule] = {"sort": _sort, "top_k": _top_k}
