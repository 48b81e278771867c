"""Equations that only move elements: a move of moved elements is one move.

Each is done by NumPy to the elements' indices, in the elements of all operands, one after another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from kittiwake.simd.flattening import Equation, FlatProgram, Operand, Variable, inner_programs, used

# name of the primitive, with the indices as parameter
MOVE = "move"
# larger arrays are moved once, if parts of them are needed often
MAX_REPEATED = 64

# from arrays of indices, parameters and the shape of the result to the indices of the result
Move = Callable[[Sequence[np.ndarray], Mapping[str, Any], tuple[int, ...]], np.ndarray]


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


MOVES: Mapping[str, Move] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda operands, _params, shape: operands[0].reshape(shape),
    "squeeze": lambda operands, _params, shape: operands[0].reshape(shape),
    "transpose": lambda operands, params, _shape: operands[0].transpose(params["permutation"]),
    "slice": _slice,
    "rev": lambda operands, params, _shape: np.flip(operands[0], params["dimensions"]),
    "concatenate": lambda operands, params, _shape: np.concatenate(operands, params["dimension"]),
    "stack": lambda operands, params, _shape: np.stack(operands, params["axis"]),
    "tile": lambda operands, params, _shape: np.tile(operands[0], params["reps"]),
    "pad": _pad,
}
# between keys, whose words are along the first axis, and words along the last one
OF_WORDS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "random_wrap": lambda words: np.moveaxis(words, -1, 0),
    "random_unwrap": lambda words: np.moveaxis(words, 0, -1),
}


def with_moves(program: FlatProgram) -> FlatProgram:
    """Return a program in which moves, and moves of moved elements, are single equations."""
    equations: list[Equation] = []
    made: dict[Operand, Equation] = {}
    for equation in program.equations:
        if equation.primitive in MOVES or equation.primitive in OF_WORDS:
            own = _joined(_move(equation), made)
            made[own.results[0]] = own
        elif any(True for _ in inner_programs(equation.params)):
            own = replace(equation, params=_with_inner_moves(equation.params))
        else:
            own = equation
        equations.append(own)
    return replace(program, equations=tuple(used(equations, program.outputs)))


def _with_inner_moves(params: Mapping[str, Any]) -> Mapping[str, Any]:
    def inner(value: Any) -> Any:
        if isinstance(value, FlatProgram):
            return with_moves(value)
        return tuple(map(inner, value)) if isinstance(value, tuple) else value

    return {name: inner(value) for name, value in params.items()}


def _move(equation: Equation) -> Equation:
    """Return a move with the indices of its elements."""
    (result,) = equation.results
    forms = [_shape(operand) for operand in equation.operands]
    if equation.primitive in OF_WORDS:
        numbers = np.arange(prod(forms[0])).reshape(forms[0])
        indices = OF_WORDS[equation.primitive](numbers)
    elif result.is_key:
        indices = _indices(equation, [form[1:] for form in forms], result.shape[1:])
        # of each operand all second words follow all first ones
        lengths = [prod(form[1:]) for form in forms]
        starts = np.cumsum([0, *lengths])
        first = np.arange(starts[-1]) + np.repeat(starts[:-1], lengths)
        indices = np.stack([first[indices], (first + np.repeat(lengths, lengths))[indices]])
    else:
        indices = _indices(equation, forms, result.shape)
    return replace(equation, primitive=MOVE, params={"indices": np.ravel(indices)})


def _indices(
    equation: Equation, shapes: Sequence[tuple[int, ...]], shape: tuple[int, ...]
) -> np.ndarray:
    edges = np.cumsum([0, *map(prod, shapes)])
    numbers = [
        np.arange(start, start + prod(own)).reshape(own)
        for start, own in zip(edges, shapes, strict=False)
    ]
    return np.asarray(MOVES[equation.primitive](numbers, equation.params, shape))


def _joined(equation: Equation, made: Mapping[Operand, Equation]) -> Equation:
    """Return a move from where its operands were moved from."""
    indices: np.ndarray = equation.params["indices"]
    sources: dict[Operand, int] = {}
    size = 0
    parts = []

    def start_of(operand: Operand) -> int:
        nonlocal size
        if operand not in sources:
            sources[operand] = size
            size += prod(_shape(operand))
        return sources[operand]

    for operand in equation.operands:
        count = prod(_shape(operand))
        before = made.get(operand)
        if before is None or count > max(MAX_REPEATED, 2 * len(indices)):
            parts.append(start_of(operand) + np.arange(count))
            continue
        lengths = [prod(_shape(one)) for one in before.operands]
        starts = [start_of(one) for one in before.operands]
        offsets = np.asarray(starts) - np.cumsum([0, *lengths[:-1]])
        own: np.ndarray = before.params["indices"]
        parts.append(own + np.repeat(offsets, lengths)[own] if len(own) else own)
    joined = np.concatenate([np.zeros(0, np.int64), *parts])[indices]
    return replace(equation, operands=tuple(sources), params={"indices": joined})


def _shape(operand: Operand) -> tuple[int, ...]:
    return operand.shape if isinstance(operand, Variable) else operand.elements.shape
