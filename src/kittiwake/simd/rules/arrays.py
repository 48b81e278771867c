"""Primitives that only move elements: each is done by NumPy to the elements' indices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kittiwake.simd.flattening import Equation
from kittiwake.simd.translator import Rule, Translator
from kittiwake.simd.values import Known, Value

# from arrays of indices, parameters and the shape of the result to the indices of the result
Move = Callable[[Sequence[np.ndarray], Mapping[str, Any], tuple[int, ...]], np.ndarray]


def _moving(move: Move) -> Rule:
    def rule(
        translator: Translator, equation: Equation, operands: Sequence[Value]
    ) -> Sequence[Value]:
        (result,) = equation.results
        # a key is moved as a whole
        words = 2 if result.is_key else 1
        shapes = [operand.shape[:-1] if result.is_key else operand.shape for operand in operands]
        edges = np.cumsum([0, *(operand.size // words for operand in operands)])
        places = [
            np.arange(start, end).reshape(shape)
            for start, end, shape in zip(edges[:-1], edges[1:], shapes, strict=True)
        ]
        shape = result.shape[:-1] if result.is_key else result.shape
        indices = np.asarray(move(places, equation.params, shape))
        if result.is_key:
            indices = 2 * indices[..., None] + np.arange(2)
        return [translator.rearranged(indices, result, *operands)]

    return rule


def _broadcast(
    operands: Sequence[np.ndarray], params: Mapping[str, Any], shape: tuple[int, ...]
) -> np.ndarray:
    dimensions = params["broadcast_dimensions"]
    expanded = [1] * len(shape)
    for axis, length in zip(dimensions, operands[0].shape, strict=True):
        expanded[axis] = length
    return np.broadcast_to(operands[0].reshape(expanded), shape)


def _slice(
    operands: Sequence[np.ndarray], params: Mapping[str, Any], shape: tuple[int, ...]
) -> np.ndarray:
    del shape
    strides = params["strides"] or (1,) * operands[0].ndim
    edges = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return operands[0][tuple(slice(*edge) for edge in edges)]


def _pad(
    operands: Sequence[np.ndarray], params: Mapping[str, Any], shape: tuple[int, ...]
) -> np.ndarray:
    values, padding = operands
    result = np.full(shape, padding.item())
    places, taken = [], []
    for axis, (low, high, interior) in enumerate(params["padding_config"]):
        del high
        targets = low + (interior + 1) * np.arange(values.shape[axis])
        inside = (targets >= 0) & (targets < shape[axis])
        places.append(targets[inside])
        taken.append(np.flatnonzero(inside))
    if values.ndim == 0:
        return values
    result[np.ix_(*places)] = values[np.ix_(*taken)]
    return result


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


ARRAYS: Mapping[str, Rule] = {
    "broadcast_in_dim": _moving(_broadcast),
    "reshape": _moving(lambda operands, _params, shape: operands[0].reshape(shape)),
    "squeeze": _moving(lambda operands, _params, shape: operands[0].reshape(shape)),
    "transpose": _moving(
        lambda operands, params, _shape: operands[0].transpose(params["permutation"])
    ),
    "slice": _moving(_slice),
    "rev": _moving(lambda operands, params, _shape: np.flip(operands[0], params["dimensions"])),
    "concatenate": _moving(
        lambda operands, params, _shape: np.concatenate(operands, params["dimension"])
    ),
    "stack": _moving(lambda operands, params, _shape: np.stack(operands, params["axis"])),
    "tile": _moving(lambda operands, params, _shape: np.tile(operands[0], params["reps"])),
    "pad": _moving(_pad),
    "iota": _iota,
    "split": _split,
}
