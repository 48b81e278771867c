"""Scheduling of equations: those that work on long arrays element by element share one loop."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from kittiwake.simd.flattening import Equation, FlatProgram, Operand, Variable


@dataclass(eq=False)
class LoopGroup:
    """Equations with results of one shape, which are computed in one loop.

    Attributes:
        shape: the shape.
        equations: the equations, in order.
        results: those of their results that are needed after the loop.
    """

    shape: tuple[int, ...]
    equations: list[Equation] = field(default_factory=list)
    results: list[Variable] = field(default_factory=list)


def scheduled(
    program: FlatProgram, elementwise: frozenset[str], max_elements: int
) -> Iterator[Equation | LoopGroup]:
    """Yield equations and groups of equations, each after all that it depends on.

    Args:
        program: the program.
        elementwise: names of the primitives that work element by element.
        max_elements: number of elements of the longest arrays that need no loop.
    """
    users = _users(program)
    pending: dict[tuple[int, ...], LoopGroup] = {}
    homes: dict[Operand, LoopGroup] = {}

    def flushed(groups: Sequence[LoopGroup]) -> Iterator[LoopGroup]:
        for group in groups:
            own = {*group.equations}
            for equation in group.equations:
                for result in equation.results:
                    del homes[result]
                    if not users[result] <= own:
                        group.results.append(result)
            del pending[group.shape]
            yield group

    for equation in program.equations:
        shape = _long_shape(equation, elementwise, max_elements)
        needed = {homes[one]: None for one in equation.operands if one in homes}
        yield from flushed([group for group in needed if group.shape != shape])
        if shape is None:
            yield equation
            continue
        group = pending.setdefault(shape, LoopGroup(shape))
        group.equations.append(equation)
        homes.update(dict.fromkeys(equation.results, group))
    yield from flushed([*pending.values()])


def _long_shape(
    equation: Equation, elementwise: frozenset[str], max_elements: int
) -> tuple[int, ...] | None:
    """Return the shape of an equation that may join a loop; None for others."""
    if equation.primitive not in elementwise or equation.results[0].is_key:
        return None
    shape = equation.results[0].shape
    return shape if prod(shape) > max_elements else None


def _users(program: FlatProgram) -> Mapping[Operand, set[Equation | None]]:
    """Return the equations that need each result; None for the end of the program."""
    users: dict[Operand, set[Equation | None]] = {
        result: set() for equation in program.equations for result in equation.results
    }
    for equation in program.equations:
        for operand in equation.operands:
            if operand in users:
                users[operand].add(equation)
    for output in program.outputs:
        if output in users:
            users[output].add(None)
    return users
