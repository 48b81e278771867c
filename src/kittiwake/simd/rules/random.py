"""Random bits by Threefry-2x32 with 20 rounds.

J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Counters are those of
JAX's partitionable streams: the index of an element as two words.
"""

from collections.abc import Mapping, Sequence
from math import prod

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import scalar_type, wide, width_of
from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.rules.conversions import converted
from kittiwake.simd.rules.keys import WORD, keys_of, words_of
from kittiwake.simd.translator import Rule, Translator, reshaped
from kittiwake.simd.values import Known, Value

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def threefry(
    emit: Emitter, key: Sequence[ir.Value], counter: Sequence[ir.Value]
) -> tuple[ir.Value, ir.Value]:
    """Return two words of random bits, for registers of keys and counters."""
    builder, width = emit.builder, width_of(counter[0])
    parity = emit.splat(PARITY, WORD, width)
    keys = [*key, builder.xor(builder.xor(*key), parity)]
    one, other = (builder.add(word, own) for word, own in zip(counter, keys, strict=False))
    for round_ in range(5):
        for rotation in ROTATIONS[round_ % 2]:
            one = builder.add(one, other)
            other = builder.xor(_rotated(emit, other, rotation), one)
        number = emit.splat(round_ + 1, WORD, width)
        one = builder.add(one, keys[(round_ + 1) % 3])
        other = builder.add(builder.add(other, keys[(round_ + 2) % 3]), number)
    return one, other


def _rotated(emit: Emitter, word: ir.Value, by: int) -> ir.Value:
    shift = emit.splat(by, WORD, width_of(word))
    mangled = f"llvm.fshl.{'i32' if width_of(word) == 1 else f'v{width_of(word)}i32'}"
    return emit.call(mangled, word.type, word, word, shift)


def _drawn(
    translator: Translator, keys: Value, shape: tuple[int, ...], counters: Sequence[Value]
) -> list[Value]:
    """Return both words of random bits for arrays of keys and counters of a common shape.

    Shorter arrays are repeated along axes of length one.
    """
    return _encrypted(translator, [*words_of(translator, keys), *counters], Variable(shape, WORD))


def _encrypted(translator: Translator, words: Sequence[Value], result: Variable) -> list[Value]:
    def both(*registers: ir.Value) -> Sequence[ir.Value]:
        return threefry(translator.emit, registers[:2], registers[2:])

    return translator.elementwise_many(both, [result, result], *words)


def _counted(keys: Value, count: int) -> tuple[Value, tuple[int, ...], list[Value]]:
    """Return keys with another axis, the shape of their draws, and the words of their numbers."""
    shape = keys.shape[1:]
    numbers = np.arange(count, dtype=np.uint32).reshape((1,) * len(shape) + (count,))
    counters: list[Value] = [Known(np.zeros(numbers.shape, WORD)), Known(numbers)]
    return reshaped(keys, (*keys.shape, 1)), (*shape, count), counters


def _fold_in(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    keys, data = operands
    emit, (result,) = translator.emit, equation.results

    def as_word(value: ir.Value) -> ir.Value:
        return converted(emit, data.dtype, WORD, value)

    low = translator.elementwise(as_word, Variable(data.shape, WORD), data)
    counters = [Known(np.zeros(data.shape, WORD)), low]
    drawn = _drawn(translator, keys, result.shape[1:], counters)
    return [keys_of(translator, drawn, result)]


def _split(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (keys,), (result,) = operands, equation.results
    counted = _counted(keys, prod(equation.params["shape"]))
    return [keys_of(translator, _drawn(translator, *counted), result)]


def _bits(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    (keys,), (result,) = operands, equation.results
    width = equation.params["bit_width"]
    count = prod(equation.params["shape"])
    if prod(result.shape) == 0:
        return [translator.filled(0, result)]
    emit = translator.emit
    builder = emit.builder
    high, low = _drawn(translator, *_counted(keys, count))

    def combined(one: ir.Value, other: ir.Value) -> ir.Value:
        if width == 64:
            kind = wide(scalar_type(result.dtype), width_of(one))
            shift = emit.splat(32, result.dtype, width_of(one))
            shifted = builder.shl(builder.zext(one, kind), shift)
            return builder.or_(shifted, builder.zext(other, kind))
        mixed = builder.xor(one, other)
        return mixed if width == 32 else converted(emit, WORD, result.dtype, mixed)

    shape = Variable(high.shape, result.dtype)
    return [reshaped(translator.elementwise(combined, shape, high, low), result.shape)]


def _seed(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    """Return the key of a whole number: its high and its low word."""
    (number,), (result,) = operands, equation.results
    emit, bits = translator.emit, 8 * operands[0].dtype.itemsize

    def word(shift: int) -> Value:
        def part(value: ir.Value) -> ir.Value:
            moved = emit.builder.lshr(value, emit.splat(shift, number.dtype, width_of(value)))
            return converted(emit, number.dtype, WORD, moved)

        return translator.elementwise(part, Variable(number.shape, WORD), number)

    high = word(32) if bits == 64 else Known(np.zeros(number.shape, WORD))
    return [keys_of(translator, [high, word(0)], result)]


def _threefry_rule(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    return _encrypted(translator, operands, equation.results[0])


RANDOM: Mapping[str, Rule] = {
    "random_fold_in": _fold_in,
    "random_split": _split,
    "random_bits": _bits,
    "random_seed": _seed,
    "threefry2x32": _threefry_rule,
}
