"""Windows into arrays whose places are computed: gather, scatter and dynamic slices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from operator import index
from typing import SupportsIndex

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import INDEX
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.rules.arithmetic import OPERATIONS
from kittiwake.simd.rules.conversions import converted
from kittiwake.simd.rules.keys import moving_keys
from kittiwake.simd.translator import Rule, Translator, reshaped
from kittiwake.simd.values import (
    Known,
    Stored,
    Value,
    known_elements,
)

# more windows are a loop
MAX_UNROLLED = 16
INDEX_DTYPE = np.dtype(np.int64)


@dataclass(frozen=True)
class Windows:
    """Windows of one shape in an array.

    Attributes:
        shape: shape of the array.
        sizes: lengths of a window, along all axes of the array.
        axes: the axes of the array that an index vector moves along.
        batch_axes: axes of the array along which each window has its own place, as its number says.
        batch_places: for each window, its place along each of these.
        clamps: true if windows beyond the edge are moved inside; otherwise they are left out.
    """

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    axes: tuple[int, ...]
    batch_axes: tuple[int, ...]
    batch_places: np.ndarray
    clamps: bool

    @property
    def strides(self) -> list[int]:
        """Number of elements between neighbors along each axis."""
        return [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]

    @property
    def limits(self) -> list[int]:
        """The last place of a window along each of ``axes``."""
        return [self.shape[axis] - self.sizes[axis] for axis in self.axes]

    @property
    def offsets(self) -> np.ndarray:
        """Flat index of each element of a window at the first place."""
        places = np.arange(prod(self.shape)).reshape(self.shape)
        return places[tuple(slice(0, size) for size in self.sizes)].ravel()

    def batch_offsets(self) -> np.ndarray:
        """Return the flat index of each window by its number alone."""
        strides = np.asarray([self.strides[axis] for axis in self.batch_axes], int)
        return (
            self.batch_places @ strides if len(strides) else np.zeros(len(self.batch_places), int)
        )

    def known_starts(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return first element and whether it is inside, for known index vectors of each window."""
        limits, strides = (
            np.asarray(each, int)
            for each in (self.limits, [self.strides[axis] for axis in self.axes])
        )
        places = indices.astype(int)
        inside = np.all((places >= 0) & (places <= limits), axis=1)
        if self.clamps:
            places, inside = np.clip(places, 0, limits), np.ones(len(places), bool)
        return places @ strides + self.batch_offsets(), inside


def _clamps(mode: object) -> bool:
    """Return True unless windows beyond the edge are left out or filled."""
    return "FILL" not in str(mode)


def _whole(numbers: Sequence[SupportsIndex]) -> tuple[int, ...]:
    """Return whole numbers, which may be those of NumPy, as Python's."""
    return tuple(index(number) for number in numbers)


def _numbers_of(shape: Sequence[int]) -> np.ndarray:
    """Return the place of each element along each axis."""
    return np.indices(shape).reshape(len(shape), prod(shape)).T


def _index_vectors(indices: Value) -> tuple[int, int]:
    """Return number and length of the index vectors."""
    length = indices.shape[-1]
    return prod(indices.shape[:-1]), length


def _start(
    translator: Translator, windows: Windows, vector: Sequence[ir.Value], offset: ir.Value
) -> tuple[ir.Value, ir.Value]:
    """Return the first element of a window, and a flag that it is inside."""
    builder = translator.emit.builder
    start, inside = offset, ir.Constant(ir.IntType(1), 1)
    for place, axis, limit in zip(vector, windows.axes, windows.limits, strict=True):
        low, high = ir.Constant(INDEX, 0), ir.Constant(INDEX, limit)
        is_low, is_high = (
            builder.icmp_signed("<", place, low),
            builder.icmp_signed(">", place, high),
        )
        if not windows.clamps:
            inside = builder.and_(inside, builder.not_(builder.or_(is_low, is_high)))
        # also where it is left out, so that no other memory is read
        kept = builder.select(is_low, low, builder.select(is_high, high, place))
        step = builder.mul(kept, ir.Constant(INDEX, windows.strides[axis]))
        start = builder.add(start, step)
    return start, inside


def _each_window(
    translator: Translator, windows: Windows, indices: Value
) -> Iterator[tuple[ir.Value | int, ir.Value, ir.Value]]:
    """Yield number, first element and flag of each window; the ``for`` body emits its code."""
    emit, (count, length) = translator.emit, _index_vectors(indices)
    offsets = windows.batch_offsets()

    def vector(values: Sequence[ir.Value]) -> list[ir.Value]:
        return [converted(emit, indices.dtype, INDEX_DTYPE, value) for value in values]

    if count <= MAX_UNROLLED:
        for number in range(count):
            places = [
                translator.register(
                    translator.rearranged(
                        np.asarray([number * length + axis]), Variable((), indices.dtype), indices
                    )
                )
                for axis in range(length)
            ]
            yield (
                number,
                *_start(translator, windows, vector(places), emit.index(int(offsets[number]))),
            )
        return
    pointer, table = translator.pointer(indices), emit.table(offsets.astype(np.int64))
    with emit.loop(count) as number:
        first = emit.builder.mul(number, emit.index(length))
        places = [
            emit.load(pointer, emit.builder.add(first, emit.index(axis)), indices.dtype, 1)
            for axis in range(length)
        ]
        offset = emit.load(table, number, INDEX_DTYPE, 1)
        yield number, *_start(translator, windows, vector(places), offset)


def _read(
    translator: Translator, windows: Windows, source: ir.Value, start: ir.Value, dtype: np.dtype
) -> Value:
    """Return the elements of a window."""
    emit, offsets = translator.emit, windows.offsets
    shape = (int(offsets[-1]) + 1,)
    view = Stored(emit.builder.gep(source, [start]), shape, dtype, source)
    return translator.rearranged(offsets, Variable((len(offsets),), dtype), view)


def _gathered(
    translator: Translator, windows: Windows, operand: Value, indices: Value, fill: float | int
) -> Value:
    """Return all windows, one after another."""
    emit, dtype = translator.emit, operand.dtype
    count, size = len(windows.batch_places), prod(windows.sizes)
    result = Variable((count, size), dtype)
    if prod(result.shape) == 0:
        return translator.filled(0, result)
    if isinstance(indices, Known):
        starts, inside = windows.known_starts(indices.elements.reshape(count, -1))
        places = starts[:, None] + windows.offsets
        places[~inside] = operand.size
        filler = Known(np.full(1, fill, dtype))
        return translator.rearranged(places, result, operand, filler)
    source, memory = translator.pointer(operand), translator.reserve(result)
    for number, start, inside in _each_window(translator, windows, indices):
        window = _read(translator, windows, source, start, dtype)
        if not windows.clamps:
            window = _selected(translator, inside, window, fill)
        place = emit.builder.mul(emit.index(number), emit.index(size))
        translator.write(window, memory.pointer, place)
    return translator.loaded(memory)


def _selected(translator: Translator, flag: ir.Value, value: Value, fill: float | int) -> Value:
    """Return the elements if a flag is set, else others."""
    emit, result = translator.emit, Variable(value.shape, value.dtype)
    filler = translator.filled(fill, Variable((1,), value.dtype))
    return translator.elementwise(
        lambda own, other: emit.builder.select(flag, own, other), result, value, filler
    )


def _gather(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    operand, indices = operands
    (result,), params = equation.results, equation.params
    numbers = params["dimension_numbers"]
    batch_shape = indices.shape[:-1]
    batch = _numbers_of(batch_shape)
    windows = Windows(
        operand.shape,
        _whole(params["slice_sizes"]),
        _whole(numbers.start_index_map),
        _whole(numbers.operand_batching_dims),
        batch[:, list(numbers.start_indices_batching_dims)],
        _clamps(params["mode"]),
    )
    fill = params["fill_value"]
    if fill is None:
        fill = np.nan if operand.dtype.kind == "f" else _integer_fill(operand.dtype)
    found = _gathered(translator, windows, operand, indices, fill)
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    window_shape = [size for axis, size in enumerate(windows.sizes) if axis not in dropped]
    ordered = np.arange(found.size).reshape(*batch_shape, *window_shape)
    offsets = [*numbers.offset_dims]
    others = [axis for axis in range(len(result.shape)) if axis not in offsets]
    places = np.moveaxis(ordered, range(ordered.ndim), [*others, *offsets])
    return [translator.rearranged(places, result, found)]


def _integer_fill(dtype: np.dtype) -> int:
    if dtype == np.bool_:
        return 1
    return int(np.iinfo(dtype).max if dtype.kind == "u" else np.iinfo(dtype).min)


def _scatter(name: str | None) -> Rule:
    """Return the rule of a scatter that combines by an operation; None replaces."""

    def rule(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        operand, indices, updates = operands
        (result,), params = equation.results, equation.params
        numbers = params["dimension_numbers"]
        window_axes = [*numbers.update_window_dims]
        batch_axes = [axis for axis in range(len(updates.shape)) if axis not in window_axes]
        batch = _numbers_of(indices.shape[:-1])
        dropped = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        lengths = iter(updates.shape[axis] for axis in window_axes)
        windows = Windows(
            operand.shape,
            tuple(1 if axis in dropped else next(lengths) for axis in range(len(operand.shape))),
            _whole(numbers.scatter_dims_to_operand_dims),
            _whole(numbers.operand_batching_dims),
            batch[:, list(numbers.scatter_indices_batching_dims)],
            _clamps(params["mode"]),
        )
        places = np.arange(updates.size).reshape(updates.shape).transpose(batch_axes + window_axes)
        rows = translator.rearranged(
            places, Variable((len(batch), prod(windows.sizes)), updates.dtype), updates
        )
        return [_scattered(translator, windows, operand, indices, rows, name, result)]

    return rule


def _scattered(
    translator: Translator,
    windows: Windows,
    operand: Value,
    indices: Value,
    rows: Value,
    name: str | None,
    result: Variable,
) -> Value:
    """Return an array into which windows are written, one after another."""
    emit, dtype = translator.emit, operand.dtype
    count, size = rows.shape
    if rows.size == 0 or operand.size == 0:
        return operand
    if isinstance(indices, Known) and name is None:
        starts, inside = windows.known_starts(indices.elements.reshape(count, -1))
        return _replaced(
            translator, operand, rows, starts[:, None] + windows.offsets, inside, result
        )
    memory, updates = translator.reserve(result), translator.pointer(rows)
    translator.write(operand, memory.pointer)
    table = emit.table(windows.offsets.astype(np.int64))
    for number, start, inside in _each_window(translator, windows, indices):
        first = emit.builder.mul(emit.index(number), emit.index(size))
        with emit.loop(emit.builder.select(inside, emit.index(size), emit.index(0))) as step:
            value = emit.load(updates, emit.builder.add(first, step), dtype, 1)
            place = emit.builder.add(start, emit.load(table, step, INDEX_DTYPE, 1))
            if name is not None:
                before = emit.load(memory.pointer, place, dtype, 1)
                value = OPERATIONS[name](emit, dtype, before, value)
            emit.store(value, memory.pointer, place, dtype)
    return translator.loaded(memory)


def _replaced(
    translator: Translator,
    operand: Value,
    rows: Value,
    places: np.ndarray,
    inside: np.ndarray,
    result: Variable,
) -> Value:
    """Return an array in which the elements at known places are those of rows, as far as inside."""
    numbers = np.arange(rows.size).reshape(rows.shape)[inside].ravel()
    targets = places[inside].ravel()
    if operand.size <= translator.emit.max_elements or len(targets) <= MAX_UNROLLED:
        sources = np.arange(operand.size)
        sources[targets] = operand.size + numbers
        return translator.rearranged(sources, result, operand, reshaped(rows, (rows.size,)))
    memory = translator.reserve(result)
    translator.write(operand, memory.pointer)
    translator.copy_elements(rows, numbers, memory, targets)
    return memory


def _start_vector(translator: Translator, starts: Sequence[Value]) -> Value:
    """Return scalar places as one index vector."""
    known = known_elements(starts)
    if known is not None:
        return Known(np.asarray([known], INDEX_DTYPE))
    emit = translator.emit
    wide = [
        translator.elementwise(
            partial(converted, emit, start.dtype, INDEX_DTYPE), Variable((), INDEX_DTYPE), start
        )
        for start in starts
    ]
    shape = Variable((1, len(starts)), INDEX_DTYPE)
    return translator.rearranged(np.arange(len(starts)), shape, *wide)


def _sliding(shape: tuple[int, ...], sizes: tuple[int, ...]) -> Windows:
    axes = tuple(range(len(shape)))
    return Windows(shape, sizes, axes, (), np.zeros((1, 0), int), clamps=True)


def _dynamic_slice(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    operand, *starts = operands
    (result,) = equation.results
    windows = _sliding(operand.shape, _whole(equation.params["slice_sizes"]))
    found = _gathered(translator, windows, operand, _start_vector(translator, starts), 0)
    return [reshaped(found, result.shape)]


def _dynamic_update_slice(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    operand, update, *starts = operands
    (result,) = equation.results
    windows = _sliding(operand.shape, update.shape)
    rows = reshaped(update, (1, update.size))
    vector = _start_vector(translator, starts)
    return [_scattered(translator, windows, operand, vector, rows, None, result)]


SCATTERS: Mapping[str, str | None] = {
    "scatter": None,
    "scatter-add": "add",
    "scatter_add": "add",
    "scatter-mul": "mul",
    "scatter_mul": "mul",
    "scatter-min": "min",
    "scatter_min": "min",
    "scatter-max": "max",
    "scatter_max": "max",
}
INDEXING: Mapping[str, Rule] = {
    "gather": moving_keys(_gather),
    **{primitive: moving_keys(_scatter(name)) for primitive, name in SCATTERS.items()},
    "dynamic_slice": moving_keys(_dynamic_slice),
    "dynamic_update_slice": moving_keys(_dynamic_update_slice),
}
