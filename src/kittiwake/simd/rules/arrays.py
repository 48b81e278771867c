"""Moves of elements, numbers in sequence and parts."""

from collections.abc import Mapping, Sequence

import numpy as np

from kittiwake.simd.flattening import Equation
from kittiwake.simd.moves import MOVE
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Value


def _move(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    return [translator.rearranged(equation.params["indices"], equation.results[0], *operands)]


def _iota(translator: Translator, equation: Equation, operands: Sequence[Value]) -> Sequence[Value]:
    del translator, operands
    (result,) = equation.results
    axis = equation.params["dimension"]
    along = [1] * len(result.shape)
    along[axis] = result.shape[axis]
    counted = np.arange(result.shape[axis]).astype(result.dtype).reshape(along)
    return [Known(np.broadcast_to(counted, result.shape))]


def _split(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (operand,) = operands
    places = np.arange(operand.size).reshape(operand.shape)
    edges = np.cumsum(equation.params["sizes"])[:-1]
    parts = np.split(places, edges, equation.params["axis"])
    return [
        translator.rearranged(part, result, operand)
        for part, result in zip(parts, equation.results, strict=True)
    ]


def _unstack(
    translator: Translator, equation: Equation, operands: Sequence[Value]
) -> Sequence[Value]:
    (operand,) = operands
    places = np.arange(operand.size).reshape(operand.shape)
    return [
        translator.rearranged(part, result, operand)
        for part, result in zip(
            np.moveaxis(places, equation.params["axis"], 0), equation.results, strict=True
        )
    ]


ARRAYS: Mapping[str, Rule] = {MOVE: _move, "iota": _iota, "split": _split, "unstack": _unstack}
