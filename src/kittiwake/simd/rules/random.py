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
from kittiwake.simd.translator import Rule, Translator, reshaped
from kittiwake.simd.values import MAX_REGISTER_ELEMENTS, Known, Register, Value

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
WORD = np.dtype(np.uint32)


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


def _words(translator: Translator, keys: Value, repeats: int) -> list[Value]:
    """Return first and second words of keys, each repeated along a new last axis."""
    places = np.arange(keys.size).reshape(-1, 2)
    shape = Variable((len(places), repeats), WORD)
    return [
        translator.rearranged(np.repeat(places[:, word : word + 1], repeats, 1), shape, keys)
        for word in range(2)
    ]


def _drawn(translator: Translator, keys: Value, counters: Sequence[Value]) -> list[Value]:
    """Return both words of random bits for each key and counter."""
    repeats = counters[0].size // (keys.size // 2)
    words = _words(translator, keys, repeats)
    shape = Variable(words[0].shape, WORD)
    if prod(shape.shape) <= MAX_REGISTER_ELEMENTS:
        registers = [translator.register(each) for each in (*words, *counters)]
        both = threefry(translator.emit, registers[:2], registers[2:])
        return [Register(each, shape.shape, WORD) for each in both]
    found = []
    for number in range(2):

        def word(*registers: ir.Value, number: int = number) -> ir.Value:
            return threefry(translator.emit, registers[:2], registers[2:])[number]

        found.append(translator.elementwise(word, shape, *words, *counters))
    return found


def _counted(keys: Value, count: int) -> list[Value]:
    """Return the words of the numbers of elements, for each key anew."""
    numbers = np.broadcast_to(np.arange(count, dtype=np.uint32), (keys.size // 2, count))
    return [Known(np.zeros(numbers.shape, WORD)), Known(np.ascontiguousarray(numbers))]


def _paired(translator: Translator, words: Sequence[Value], result: Variable) -> Value:
    """Return keys from their first and second words."""
    size = words[0].size
    places = np.stack([np.arange(size), size + np.arange(size)], axis=-1)
    flat = [reshaped(each, (size,)) for each in words]
    return translator.rearranged(places, result, *flat)


def _fold_in(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    keys, data = operands
    emit, (result,) = translator.emit, equation.results
    shape = result.shape[:-1]
    count = prod(shape)

    def as_word(value: ir.Value) -> ir.Value:
        return converted(emit, data.dtype, WORD, value)

    words = translator.elementwise(as_word, Variable(data.shape, WORD), data)
    low = translator.rearranged(_repeated(data.shape, shape), Variable((count, 1), WORD), words)
    high = Known(np.zeros((count, 1), WORD))
    places = 2 * _repeated(keys.shape[:-1], shape).reshape(count, 1) + np.arange(2)
    keys = translator.rearranged(places, Variable((count, 2), WORD), keys)
    return [_paired(translator, _drawn(translator, keys, [high, low]), result)]


def _repeated(shape: tuple[int, ...], result: tuple[int, ...]) -> np.ndarray:
    """Return for each element of a result the index of the element that is repeated there."""
    return np.broadcast_to(np.arange(prod(shape)).reshape(shape), result).ravel()


def _split(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (keys,), (result,) = operands, equation.results
    counters = _counted(keys, prod(equation.params["shape"]))
    return [_paired(translator, _drawn(translator, keys, counters), result)]


def _bits(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    (keys,), (result,) = operands, equation.results
    width = equation.params["bit_width"]
    count = prod(equation.params["shape"])
    if prod(result.shape) == 0:
        return [translator.filled(0, result)]
    emit = translator.emit
    builder = emit.builder
    high, low = _drawn(translator, keys, _counted(keys, count))

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
    return [_paired(translator, [high, word(0)], result)]


def _threefry_rule(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    found = []
    for number, result in enumerate(equation.results):

        def word(*registers: ir.Value, number: int = number) -> ir.Value:
            return threefry(translator.emit, registers[:2], registers[2:])[number]

        found.append(translator.elementwise(word, result, *operands))
    return found


RANDOM: Mapping[str, Rule] = {
    "random_fold_in": _fold_in,
    "random_split": _split,
    "random_bits": _bits,
    "random_seed": _seed,
    "threefry2x32": _threefry_rule,
}
