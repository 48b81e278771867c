"""Translation of the equations of a flat program to instructions, value by value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import width_of
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Constant, Equation, FlatProgram, Operand, Variable
from kittiwake.simd.fusion import LoopGroup, scheduled
from kittiwake.simd.lifetimes import Lifetimes
from kittiwake.simd.values import (
    Known,
    Register,
    Stored,
    Value,
    known_elements,
)

# copies with more nested loops take the places of elements from a table
MAX_NESTED_LOOPS = 4

# returns the values of an equation's results
Rule: TypeAlias = Callable[["Translator", Equation, Sequence[Value]], Sequence[Value]]
# returns a register from registers of equal width
Elementwise: TypeAlias = Callable[..., ir.Value]


class Translator:
    """Translator of programs into one function.

    Attributes:
        emit: emitter of its instructions.
        rules: by the name of a primitive, how it is translated.
    """

    def __init__(
        self, emit: Emitter, rules: Mapping[str, Rule], elementwise: frozenset[str]
    ) -> None:
        """Prepare to translate; ``elementwise`` names the primitives that may share loops."""
        self.emit, self.rules, self._elementwise = emit, rules, elementwise

    def translate(self, program: FlatProgram, operands: Sequence[Value]) -> list[Value]:
        """Emit a program and return its results."""
        found: dict[Operand, Value] = dict(zip(program.inputs, operands, strict=True))
        lifetimes = Lifetimes(self.emit, program)

        def read(operand: Operand) -> Value:
            return Known(operand.elements) if isinstance(operand, Constant) else found[operand]

        for part in scheduled(program, self._elementwise, self.emit.max_elements):
            if isinstance(part, LoopGroup):
                results, equations = self._looped(part, read), part.equations
            else:
                values = [read(operand) for operand in part.operands]
                given = self.rules[part.primitive](self, part, values)
                results: Mapping[Operand, Value] = dict(zip(part.results, given, strict=True))
                equations = [part]
            found.update(results)
            lifetimes.follow(equations, results)
        return [read(output) for output in program.outputs]

    def _looped(
        self, group: LoopGroup, read: Callable[[Operand], Value]
    ) -> Mapping[Operand, Value]:
        """Emit the loop of a group and return its results."""
        inside = {result for equation in group.equations for result in equation.results}
        whole = Variable(group.shape, np.dtype(bool))
        outside = {
            operand: _uniform(self._broadcast(read(operand), whole))
            for equation in group.equations
            for operand in equation.operands
            if operand not in inside
        }
        pointers = {
            operand: self.pointer(value) for operand, value in outside.items() if value.size > 1
        }
        memory: dict[Operand, Stored] = {result: self.reserve(result) for result in group.results}
        for start, width in self.emit.blocks(prod(group.shape)):
            block: dict[Operand, Value] = {}
            for operand, value in outside.items():
                block[operand] = (
                    reshaped(value, (1,))
                    if value.size == 1
                    else Register(
                        self.emit.load(pointers[operand], start, value.dtype, width),
                        (width,),
                        value.dtype,
                    )
                )
            for equation in group.equations:
                parts = [Variable((width,), result.dtype) for result in equation.results]
                own = replace(equation, results=tuple(parts))
                values = [block[operand] for operand in equation.operands]
                results = self.rules[equation.primitive](self, own, values)
                block.update(zip(equation.results, results, strict=True))
            for result, place in memory.items():
                register = self._repeated(self.register(block[result]), width)
                self.emit.store(register, place.pointer, start, place.dtype)
        return memory

    def register(self, value: Value) -> ir.Value:
        """Return all elements in a register."""
        if isinstance(value, Known):
            return self.emit.constant(value.elements)
        if isinstance(value, Stored):
            return self.emit.load(value.pointer, 0, value.dtype, value.size)
        return value.value

    def pointer(self, value: Value) -> ir.Value:
        """Return a pointer to the elements, which may not be written."""
        if isinstance(value, Known):
            return self.emit.table(value.elements)
        if isinstance(value, Stored):
            return value.pointer
        memory = self.emit.reserve(value.size, value.dtype)
        self.emit.store(value.value, memory, 0, value.dtype)
        return memory

    def reserve(self, like: Variable) -> Stored:
        """Return an array in memory whose elements have not been written."""
        size = prod(like.shape)
        return Stored(self.emit.reserve(size, like.dtype), like.shape, like.dtype)

    def write(self, value: Value, pointer: ir.Value, start: ir.Value | int = 0) -> None:
        """Write all elements into memory, from an index on."""
        if not value.size:
            return
        if isinstance(value, Register) or value.size <= self.emit.max_elements:
            self.emit.store(self.register(value), pointer, start, value.dtype)
            return
        target = pointer if start == 0 else self.emit.builder.gep(pointer, [self.emit.index(start)])
        self.emit.copy(self.pointer(value), target, value.size, value.dtype)

    def loaded(self, memory: Stored) -> Value:
        """Return an array in memory as it is best used: in a register if it is small."""
        if 0 < memory.size <= self.emit.max_elements:
            return Register(self.register(memory), memory.shape, memory.dtype)
        return memory

    def filled(self, number: float | int, result: Variable) -> Value:
        """Return an array of equal elements."""
        return Known(np.full(result.shape, number, result.dtype))

    def elementwise(self, function: Elementwise, result: Variable, *operands: Value) -> Value:
        """Return the function of operands, element by element; a single element is repeated.

        Args:
            function: from registers of equal width to another one.
            result: shape and dtype of the result.
            operands: arrays of its shape, along whose axes of length one they are repeated.
        """
        (value,) = self.elementwise_many(lambda *own: [function(*own)], [result], *operands)
        return value

    def elementwise_many(
        self,
        function: Callable[..., Sequence[ir.Value]],
        results: Sequence[Variable],
        *operands: Value,
    ) -> list[Value]:
        """Return the results of a function with several ones, all of one shape."""
        shape = results[0].shape
        size = prod(shape)
        if size == 0:
            return [Known(np.zeros(shape, result.dtype)) for result in results]
        operands = tuple(self._broadcast(one, results[0]) for one in operands)
        if size <= self.emit.max_elements:
            registers = [self._repeated(self.register(one), size) for one in operands]
            found = zip(function(*registers), results, strict=True)
            return [Register(value, shape, result.dtype) for value, result in found]
        sources = [self.register(one) if one.size == 1 else self.pointer(one) for one in operands]
        memory = [self.reserve(result) for result in results]
        for start, width in self.emit.blocks(size):
            registers = [
                self.emit.repeat(source, width)
                if one.size == 1
                else self.emit.load(source, start, one.dtype, width)
                for one, source in zip(operands, sources, strict=True)
            ]
            for value, place in zip(function(*registers), memory, strict=True):
                self.emit.store(value, place.pointer, start, place.dtype)
        return [*memory]

    def _broadcast(self, value: Value, result: Variable) -> Value:
        """Return an operand with all elements of a result, or with one."""
        if value.size in (1, prod(result.shape)):
            return value
        places = np.broadcast_to(np.arange(value.size).reshape(value.shape), result.shape)
        return self.rearranged(places, Variable(result.shape, value.dtype), value)

    def rearranged(self, indices: np.ndarray, result: Variable, *operands: Value) -> Value:
        """Return an array whose elements are taken from the operands.

        Args:
            indices: for each element its index in the operands' elements, one after another.
            result: shape and dtype of the result.
            operands: arrays of its dtype.
        """
        flat = np.ravel(indices)
        if not len(flat):
            return self.filled(0, result)
        known = known_elements(operands)
        if known is not None:
            elements = np.concatenate([each.ravel() for each in known])
            return Known(elements[flat].reshape(result.shape).astype(result.dtype))
        if len(operands) == 1 and np.array_equal(flat, np.arange(operands[0].size)):
            return reshaped(operands[0], result.shape)
        if len(flat) <= self.emit.max_elements:
            return Register(self._gathered(flat, operands), result.shape, result.dtype)
        return self._gathered_in_memory(flat, result, operands)

    def _gathered(self, indices: np.ndarray, operands: Sequence[Value]) -> ir.Value:
        """Return a register of some elements of the operands."""
        whole, start = None, 0
        for operand in operands:
            own = (indices >= start) & (indices < start + operand.size)
            if own.any():
                part = self._picked(operand, np.where(own, indices - start, -1))
                whole = part if whole is None else self.emit.chosen(whole, part, own.tolist())
            start += operand.size
        assert whole is not None, "each element is of one of the operands"
        return whole

    def _picked(self, operand: Value, indices: np.ndarray) -> ir.Value:
        """Return a register of some elements of one operand; -1 for any."""
        if not isinstance(operand, Stored):
            picks = [None if index < 0 else int(index) for index in indices]
            return self.emit.rearranged(self.register(operand), picks)
        used = indices[indices >= 0]
        first, last = int(used.min()), int(used.max())
        if last - first < self.emit.max_elements:
            loaded = self.emit.load(operand.pointer, first, operand.dtype, last - first + 1)
            picks = [None if index < 0 else int(index) - first for index in indices]
            return self.emit.rearranged(loaded, picks)
        places = [
            (place, self.emit.load(operand.pointer, int(index), operand.dtype, 1))
            for place, index in enumerate(indices)
            if index >= 0
        ]
        whole = self.emit.repeat(places[0][1], len(indices))
        for place, value in places:
            if len(indices) > 1:
                at = ir.Constant(ir.IntType(64), place)
                whole = self.emit.builder.insert_element(whole, value, at)
        return whole

    def _gathered_in_memory(
        self, indices: np.ndarray, result: Variable, operands: Sequence[Value]
    ) -> Value:
        """Return an array in memory, copied run by run, or by a table of indices."""
        memory = self.reserve(result)
        runs = np.flatnonzero(np.diff(indices) != 1) + 1
        starts = [0, *runs.tolist()]
        ends = [*runs.tolist(), len(indices)]
        edges = np.cumsum([0, *(one.size for one in operands)])
        if len(starts) <= 2 * self.emit.block:
            for start, end in zip(starts, ends, strict=True):
                self._copy_run(int(indices[start]), start, end, memory, operands, edges)
            return memory
        for operand, start, end in zip(operands, edges, edges[1:], strict=False):
            targets = np.flatnonzero((indices >= start) & (indices < end))
            if len(targets):
                self.copy_elements(operand, indices[targets] - start, memory, targets)
        return memory

    def copy_elements(
        self, source: Value, numbers: np.ndarray, target: Stored, places: np.ndarray
    ) -> None:
        """Copy elements, by their known numbers, to known places in memory, one after another."""
        strides = strides_of(np.stack([numbers, places], axis=1))
        first = int(numbers[0]), int(places[0])
        if strides is None or len(strides) > MAX_NESTED_LOOPS:
            self._copy_by_table(source, numbers, target, places)
        else:
            pointers = (
                self._offset(self.pointer(source), first[0]),
                self._offset(target.pointer, first[1]),
            )
            self._copy_strided(pointers, target.dtype, strides)

    def _copy_by_table(
        self, source: Value, numbers: np.ndarray, target: Stored, places: np.ndarray
    ) -> None:
        emit, index = self.emit, np.dtype(np.int32)
        pointer = self.pointer(source)
        sources, targets = (emit.table(each.astype(index)) for each in (numbers, places))
        with emit.loop(len(places)) as step:
            number, place = (emit.load(each, step, index, 1) for each in (sources, targets))
            element = emit.load(pointer, number, target.dtype, 1)
            emit.store(element, target.pointer, place, target.dtype)

    def _copy_strided(
        self,
        pointers: tuple[ir.Value, ir.Value],
        dtype: np.dtype,
        strides: Sequence[tuple[int, np.ndarray]],
    ) -> None:
        """Copy elements at regular distances, in loops from the outermost to the innermost."""
        emit, builder = self.emit, self.emit.builder
        source, target = pointers
        if not strides:
            emit.store(emit.load(source, 0, dtype, 1), target, 0, dtype)
            return
        (count, (of_source, of_target)), *inner = strides
        if not inner and of_source == of_target == 1:
            emit.copy(source, target, count, dtype)
            return
        with emit.loop(count) as step:
            moved = [
                builder.gep(pointer, [builder.mul(step, emit.index(int(stride)))])
                for pointer, stride in ((source, of_source), (target, of_target))
            ]
            self._copy_strided((moved[0], moved[1]), dtype, inner)

    def _copy_run(
        self,
        first: int,
        start: int,
        end: int,
        memory: Stored,
        operands: Sequence[Value],
        edges: np.ndarray,
    ) -> None:
        """Copy consecutive elements, which may be those of several operands."""
        while start < end:
            which = int(np.searchsorted(edges, first, "right")) - 1
            operand, offset = operands[which], first - int(edges[which])
            count = min(end - start, operand.size - offset)
            part = Variable((count,), operand.dtype)
            if count <= self.emit.max_elements:
                piece = self.rearranged(np.arange(offset, offset + count), part, operand)
                self.write(piece, memory.pointer, start)
            else:
                source = self._offset(self.pointer(operand), offset)
                target = self._offset(memory.pointer, start)
                self.emit.copy(source, target, count, operand.dtype)
            first, start = first + count, start + count

    def _offset(self, pointer: ir.Value, count: int) -> ir.Value:
        return self.emit.builder.gep(pointer, [self.emit.index(count)]) if count else pointer

    def _repeated(self, value: ir.Value, width: int) -> ir.Value:
        return value if width_of(value) == width else self.emit.repeat(value, width)


def strides_of(indices: np.ndarray) -> list[tuple[int, np.ndarray]] | None:
    """Return lengths and strides of nested loops that pass through indices; None if there are none.

    Args:
        indices: one row for each step, with the same number of columns.
    """
    loops: list[tuple[int, np.ndarray]] = []
    while len(indices) > 1:
        stride = indices[1] - indices[0]
        others = np.flatnonzero((np.diff(indices, axis=0) != stride).any(axis=1))
        count = int(others[0]) + 1 if len(others) else len(indices)
        if len(indices) % count:
            return None
        rows = indices.reshape(-1, count, indices.shape[1])
        if (rows != rows[:, :1] + stride * np.arange(count)[:, None]).any():
            return None
        loops.insert(0, (count, stride))
        indices = rows[:, 0]
    return loops


def reshaped(value: Value, shape: tuple[int, ...]) -> Value:
    """Return the same elements in another shape."""
    if isinstance(value, Known):
        return Known(value.elements.reshape(shape))
    if isinstance(value, Register):
        return Register(value.value, shape, value.dtype)
    return replace(value, shape=shape)


def _uniform(value: Value) -> Value:
    """Return one element where all are known to be equal."""
    if not isinstance(value, Known) or value.size < 2:
        return value
    flat = value.elements.ravel()
    # as bytes, which tell zeros apart and know equal numbers that are none
    first = flat[:1].tobytes()
    return Known(flat[:1]) if flat.tobytes() == first * len(flat) else value
