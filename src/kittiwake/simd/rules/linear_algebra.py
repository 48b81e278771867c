"""Linear algebra on small dense matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import INDEX
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Stored, Value


@dataclass(frozen=True)
class Matrix:
    """A matrix in memory."""

    emit: Emitter
    pointer: ir.Value
    columns: int
    dtype: np.dtype

    def at(self, row: ir.Value, column: ir.Value) -> ir.Value:
        """Return an element."""
        return self.emit.load(self.pointer, self._place(row, column), self.dtype, 1)

    def set(self, row: ir.Value, column: ir.Value, value: ir.Value) -> None:
        """Write an element."""
        self.emit.store(value, self.pointer, self._place(row, column), self.dtype)

    def _place(self, row: ir.Value, column: ir.Value) -> ir.Value:
        builder = self.emit.builder
        return builder.add(builder.mul(row, ir.Constant(INDEX, self.columns)), column)


def _copy(translator: Translator, value: Value) -> Stored:
    memory = translator.reserve(Variable(value.shape, value.dtype))
    translator.write(value, memory.pointer)
    return memory


def _matrices(translator: Translator, memory: Stored) -> list[Matrix]:
    """Return the matrices along all but the last two axes."""
    rows, columns = memory.shape[-2:]
    size, builder = rows * columns, translator.emit.builder
    return [
        Matrix(
            translator.emit,
            builder.gep(memory.pointer, [ir.Constant(INDEX, number * size)]),
            columns,
            memory.dtype,
        )
        for number in range(memory.size // size)
    ]


def _triangular_solve(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Solve by substitution, row after row, or column after column from the right side."""
    params = equation.params
    triangle, right = _copy(translator, operands[0]), _copy(translator, operands[1])
    for matrix, values in zip(
        _matrices(translator, triangle), _matrices(translator, right), strict=True
    ):
        _substitute(matrix, values, right.shape[-2:], params)
    return [translator.loaded(right)]


def _substitute(
    matrix: Matrix, values: Matrix, shape: tuple[int, ...], params: Mapping[str, object]
) -> None:
    emit, builder = matrix.emit, matrix.emit.builder
    is_left, transposed = bool(params["left_side"]), bool(params["transpose_a"])
    size, others = shape if is_left else shape[::-1]
    # X A = B is solved as transpose(A) transpose(X) = transpose(B)
    swapped = transposed == is_left
    is_lower = bool(params["lower"]) != swapped

    def of_triangle(row: ir.Value, column: ir.Value) -> ir.Value:
        return matrix.at(column, row) if swapped else matrix.at(row, column)

    def place(row: ir.Value, column: ir.Value) -> tuple[ir.Value, ir.Value]:
        return (row, column) if is_left else (column, row)

    last = ir.Constant(INDEX, size - 1)
    with emit.loop(others) as column, emit.loop(size) as step:
        row = step if is_lower else builder.sub(last, step)
        total = emit.reserve(1, values.dtype)
        emit.store(values.at(*place(row, column)), total, 0, values.dtype)
        with emit.loop(step) as earlier:
            known = earlier if is_lower else builder.sub(last, earlier)
            product = builder.fmul(of_triangle(row, known), values.at(*place(known, column)))
            before = emit.load(total, 0, values.dtype, 1)
            emit.store(builder.fsub(before, product), total, 0, values.dtype)
        found = emit.load(total, 0, values.dtype, 1)
        if not params["unit_diagonal"]:
            found = builder.fdiv(found, of_triangle(row, row))
        values.set(*place(row, column), found)


def _cholesky(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    """Return the lower triangle whose product with its transpose is the matrix."""
    del equation
    memory = _copy(translator, operands[0])
    emit, builder, size = translator.emit, translator.emit.builder, memory.shape[-1]
    for matrix in _matrices(translator, memory):
        with emit.loop(size) as row, emit.loop(size) as column:
            total = emit.reserve(1, memory.dtype)
            emit.store(matrix.at(row, column), total, 0, memory.dtype)
            is_lower = builder.icmp_signed(">=", row, column)
            with emit.loop(builder.select(is_lower, column, emit.index(0))) as step:
                product = builder.fmul(matrix.at(row, step), matrix.at(column, step))
                before = emit.load(total, 0, memory.dtype, 1)
                emit.store(builder.fsub(before, product), total, 0, memory.dtype)
            left = emit.load(total, 0, memory.dtype, 1)
            root = emit.intrinsic("sqrt", left)
            quotient = builder.fdiv(left, matrix.at(column, column))
            is_diagonal = builder.icmp_signed("==", row, column)
            found = builder.select(is_diagonal, root, quotient)
            # above the diagonal the matrix is still needed
            kept = builder.select(is_lower, found, matrix.at(row, column))
            matrix.set(row, column, kept)
        with emit.loop(size) as row, emit.loop(size) as column:
            is_upper = builder.icmp_signed("<", row, column)
            zero = emit.splat(0, memory.dtype, 1)
            matrix.set(row, column, builder.select(is_upper, zero, matrix.at(row, column)))
    return [translator.loaded(memory)]


def _lu(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    """Return triangles, exchanges and permutation of a decomposition with row exchanges."""
    _, exchanges_form, permutation_form = equation.results
    memory = _copy(translator, operands[0])
    rows, columns = memory.shape[-2:]
    exchanges = translator.reserve(exchanges_form)
    counted = np.broadcast_to(np.arange(rows), permutation_form.shape)
    permutation = _copy(translator, Known(counted.astype(permutation_form.dtype)))
    builder = translator.emit.builder
    for number, matrix in enumerate(_matrices(translator, memory)):
        steps = min(rows, columns)
        own = builder.gep(exchanges.pointer, [ir.Constant(INDEX, number * steps)])
        order = builder.gep(permutation.pointer, [ir.Constant(INDEX, number * rows)])
        _decompose(matrix, rows, own, order)
    return [translator.loaded(each) for each in (memory, exchanges, permutation)]


def _decompose(matrix: Matrix, rows: int, exchanges: ir.Value, order: ir.Value) -> None:
    emit, builder, columns = matrix.emit, matrix.emit.builder, matrix.columns
    one, word, index = ir.Constant(INDEX, 1), np.dtype(np.int32), np.dtype(np.int64)
    pivot = emit.reserve(1, index)
    with emit.loop(min(rows, columns)) as step:
        after = builder.add(step, one)
        left = builder.sub(ir.Constant(INDEX, rows), after)
        emit.store(step, pivot, 0, index)
        with emit.loop(left) as further:
            row = builder.add(after, further)
            best = emit.load(pivot, 0, index, 1)
            sizes = [emit.intrinsic("fabs", matrix.at(each, step)) for each in (row, best)]
            is_larger = builder.fcmp_ordered(">", *sizes)
            emit.store(builder.select(is_larger, row, best), pivot, 0, index)
        chosen = emit.load(pivot, 0, index, 1)
        emit.store(builder.trunc(chosen, ir.IntType(32)), exchanges, step, word)
        with emit.loop(columns) as column:
            one_value, other_value = matrix.at(step, column), matrix.at(chosen, column)
            matrix.set(step, column, other_value)
            matrix.set(chosen, column, one_value)
        places = [emit.load(order, each, word, 1) for each in (step, chosen)]
        emit.store(places[1], order, step, word)
        emit.store(places[0], order, chosen, word)
        diagonal = matrix.at(step, step)
        with emit.loop(left) as further:
            row = builder.add(after, further)
            factor = builder.fdiv(matrix.at(row, step), diagonal)
            matrix.set(row, step, factor)
            with emit.loop(builder.sub(ir.Constant(INDEX, columns), after)) as place:
                column = builder.add(after, place)
                product = builder.fmul(factor, matrix.at(step, column))
                matrix.set(row, column, builder.fsub(matrix.at(row, column), product))


LINEAR_ALGEBRA: Mapping[str, Rule] = {
    "triangular_solve": _triangular_solve,
    "cholesky": _cholesky,
    "lu": _lu,
}
