"""Flattening of a jaxpr: calls are replaced by their bodies, and equal and unused equations go.

Arrays of keys are arrays of words with a first axis of two, so that first words are neighbors.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jax.extend.core import Var as JaxVariable

# calls whose bodies take their place, with the name of the parameter that holds the body
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
# equations that return their operands
IDENTITIES = {
    "copy",
    "copy_p",
    "optimization_barrier",
    "random_clone",
    "stop_gradient",
}
# parameter of a loop: the number of passes that its body does at a time, which depend on each other
# in nothing
PASSES_AT_A_TIME = "passes_at_a_time"


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of a flat program; ``is_key`` is true for words of keys."""

    shape: tuple[int, ...]
    dtype: np.dtype
    is_key: bool = False


@dataclass(frozen=True, eq=False)
class Constant:
    """A known operand; ``is_key`` is true for words of keys."""

    elements: np.ndarray
    is_key: bool = False


Operand = Variable | Constant


@dataclass(frozen=True, eq=False)
class Equation:
    """An equation: results are a primitive of operands.

    Attributes:
        primitive: name of the primitive.
        params: its parameters, in which jaxprs are flat.
        operands: what it takes.
        results: what it returns.
        source: file and line of the program that it comes from.
    """

    primitive: str
    params: Mapping[str, Any]
    operands: tuple[Operand, ...]
    results: tuple[Variable, ...]
    source: str


@dataclass(frozen=True, eq=False)
class FlatProgram:
    """A program without calls."""

    inputs: tuple[Variable, ...]
    equations: tuple[Equation, ...]
    outputs: tuple[Operand, ...]

    def walk(self) -> Iterator[Equation]:
        """Yield all equations, those of inner programs included."""
        for equation in self.equations:
            yield equation
            for inner in inner_programs(equation.params):
                yield from inner.walk()


@dataclass
class _Flattening:
    equations: list[Equation] = field(default_factory=list)
    known: dict[Hashable, tuple[Variable, ...]] = field(default_factory=dict)

    def inline(
        self, jaxpr: Jaxpr, constants: Sequence[Any], operands: Sequence[Operand]
    ) -> list[Operand]:
        """Add the equations of a jaxpr, and return its results."""
        found: dict[JaxVariable, Operand] = {}
        found.update(zip(jaxpr.constvars, map(constant, constants), strict=True))
        found.update(zip(jaxpr.invars, operands, strict=True))

        def read(atom: JaxVariable | Literal) -> Operand:
            if isinstance(atom, Literal):
                return Constant(np.asarray(atom.val, form(atom.aval)[1]))
            return found[atom]

        for equation in jaxpr.eqns:
            results = self._results(equation, [read(atom) for atom in equation.invars])
            found.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _results(self, equation: Any, operands: list[Operand]) -> Sequence[Operand]:
        name = equation.primitive.name
        if name in CALLS:
            body = equation.params[CALLS[name]]
            inner, constants = (body.jaxpr, body.consts) if hasattr(body, "consts") else (body, ())
            return self.inline(inner, constants, operands)
        if name == "custom_linear_solve":
            return self._solution(equation.params, operands)
        if name in IDENTITIES:
            return operands
        params = {key: _flat_param(value) for key, value in equation.params.items()}
        key = _key(name, params, operands)
        if key is None or key not in self.known:
            results = tuple(Variable(*form(variable.aval)) for variable in equation.outvars)
            source = _source(equation)
            self.equations.append(Equation(name, params, tuple(operands), results, source))
            if key is None:
                return results
            self.known[key] = results
        return self.known[key]

    def _solution(self, params: Mapping[str, Any], operands: list[Operand]) -> Sequence[Operand]:
        """Add the equations that solve a linear system."""
        lengths, solve = params["const_lengths"], params["jaxprs"].solve
        start = lengths.matvec + lengths.vecmat
        end = start + lengths.solve
        right_hand_side = operands[end + lengths.transpose_solve :]
        given = [*operands[start:end], *right_hand_side]
        return self.inline(solve.jaxpr, solve.consts, given)


def flatten(closed: ClosedJaxpr) -> FlatProgram:
    """Return a program without calls, equal and unused equations."""
    inputs = tuple(Variable(*form(variable.aval)) for variable in closed.jaxpr.invars)
    flattening = _Flattening()
    outputs = tuple(flattening.inline(closed.jaxpr, closed.consts, inputs))
    return FlatProgram(inputs, tuple(used(flattening.equations, outputs)), outputs)


def form(aval: Any) -> tuple[tuple[int, ...], np.dtype, bool]:
    """Return shape and dtype of an array, whose keys are words, and whether it has keys."""
    if is_key(aval.dtype):
        return (2, *aval.shape), np.dtype(np.uint32), True
    return tuple(aval.shape), np.dtype(aval.dtype), False


def is_key(dtype: Any) -> bool:
    """Return True for the dtype of keys."""
    # those of NumPy are most of all, and quickly recognized
    return not isinstance(dtype, np.dtype) and jax.numpy.issubdtype(dtype, jax.dtypes.prng_key)


def constant(value: Any) -> Constant:
    """Return a known operand."""
    if hasattr(value, "dtype") and is_key(value.dtype):
        return Constant(np.moveaxis(np.asarray(jax.random.key_data(value)), -1, 0), is_key=True)
    return Constant(np.asarray(value))


def inner_programs(params: Mapping[str, Any]) -> Iterator[FlatProgram]:
    """Yield the flat programs among the parameters of an equation."""
    for value in params.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, FlatProgram):
                yield one


def _flat_param(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return flatten(value)
    if isinstance(value, tuple) and value and isinstance(value[0], ClosedJaxpr):
        return tuple(flatten(one) for one in value)
    return value


def _key(name: str, params: Mapping[str, Any], operands: Sequence[Operand]) -> Hashable | None:
    """Return a value that is the same for equal equations; None if they cannot be compared."""
    if any(True for _ in inner_programs(params)):
        return None
    known = tuple(
        (one.elements.dtype.str, one.elements.shape, one.elements.tobytes())
        if isinstance(one, Constant)
        else id(one)
        for one in operands
    )
    key = name, tuple(sorted(params.items(), key=lambda item: item[0])), known
    try:
        hash(key)
    except TypeError:
        return None
    return key


def used(equations: Sequence[Equation], outputs: Sequence[Operand]) -> list[Equation]:
    """Return the equations on which the outputs depend."""
    needed = {id(one) for one in outputs}
    used = []
    for equation in reversed(equations):
        if any(id(result) in needed for result in equation.results):
            used.append(equation)
            needed.update(id(one) for one in equation.operands)
    return used[::-1]


def _source(equation: Any) -> str:
    frame = next(iter(jax_frames(equation)), None)
    return "" if frame is None else frame


def jax_frames(equation: Any) -> Iterator[str]:
    """Yield file and line of the frames of the program from which an equation comes."""
    traceback = getattr(equation.source_info, "traceback", None)
    for frame in () if traceback is None else traceback.frames:
        if "/jax/" not in frame.file_name:
            yield f"{frame.file_name}:{frame.line_num}"
