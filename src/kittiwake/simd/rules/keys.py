"""Keys of random streams: two arrays of words, or one of numbers with twice the bits."""

from collections.abc import Sequence
from math import prod

import llvmlite.ir as ir
import numpy as np

from kittiwake.simd.data_types import width_of
from kittiwake.simd.flattening import Equation, Variable
from kittiwake.simd.rules.conversions import converted
from kittiwake.simd.translator import Rule, Translator, reshaped
from kittiwake.simd.values import Value

WORD = np.dtype(np.uint32)
PAIR = np.dtype(np.uint64)


def words_of(translator: Translator, keys: Value) -> list[Value]:
    """Return the first and the second words of keys."""
    shape, size = keys.shape[1:], prod(keys.shape[1:])
    places = np.arange(2 * size).reshape(2, *shape)
    return [translator.rearranged(own, Variable(shape, WORD), keys) for own in places]


def keys_of(translator: Translator, words: Sequence[Value], result: Variable) -> Value:
    """Return keys from their first and second words."""
    size = words[0].size
    flat = [reshaped(each, (size,)) for each in words]
    return translator.rearranged(np.arange(2 * size), result, *flat)


def as_pairs(translator: Translator, keys: Value) -> Value:
    """Return keys as numbers of both words, which can be moved as others."""
    emit = translator.emit

    def joined(one: ir.Value, other: ir.Value) -> ir.Value:
        low, high = (converted(emit, WORD, PAIR, word) for word in (one, other))
        shift = emit.splat(32, PAIR, width_of(one))
        return emit.builder.or_(low, emit.builder.shl(high, shift))

    words = words_of(translator, keys)
    return translator.elementwise(joined, Variable(keys.shape[1:], PAIR), *words)


def from_pairs(translator: Translator, pairs: Value, result: Variable) -> Value:
    """Return keys from numbers of both words."""
    emit = translator.emit

    def word(shift: int) -> Value:
        def part(pair: ir.Value) -> ir.Value:
            moved = emit.builder.lshr(pair, emit.splat(shift, PAIR, width_of(pair)))
            return converted(emit, PAIR, WORD, moved)

        return translator.elementwise(part, Variable(pairs.shape, WORD), pairs)

    return keys_of(translator, [word(0), word(32)], result)


def without_words(variable: Variable) -> Variable:
    """Return an array of numbers of both words in place of keys."""
    return Variable(variable.shape[1:], PAIR) if variable.is_key else variable


def moving_keys(rule: Rule) -> Rule:
    """Return a rule that also moves keys."""

    def moved(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        (result,) = equation.results
        if not result.is_key:
            return rule(translator, equation, operands)
        plain = Equation(
            equation.primitive,
            equation.params,
            tuple(
                without_words(one) if isinstance(one, Variable) else one
                for one in equation.operands
            ),
            (without_words(result),),
            equation.source,
        )
        given = [
            as_pairs(translator, value) if operand.is_key else value
            for operand, value in zip(equation.operands, operands, strict=True)
        ]
        (pairs,) = rule(translator, plain, given)
        return [from_pairs(translator, pairs, result)]

    return moved
