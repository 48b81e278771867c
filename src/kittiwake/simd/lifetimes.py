"""Lifetimes of arrays in memory: what no later equation needs is released."""

from collections import Counter
from collections.abc import Mapping, Sequence

from kittiwake.simd.emitter import Emitter
from kittiwake.simd.flattening import Equation, FlatProgram, Operand
from kittiwake.simd.values import Stored, Value


class Lifetimes:
    """Lifetimes of the results of one program, while it is translated.

    Only memory that was reserved since its translation began is released; the rest is that of the
    programs around it.
    """

    def __init__(self, emit: Emitter, program: FlatProgram) -> None:
        self._emit, self._first = emit, len(emit.reservations)
        self._seen = self._first
        # outputs are needed to the end
        self._kept = {*program.outputs}
        self._uses = Counter(
            operand for equation in program.equations for operand in equation.operands
        )
        # numbers of reservations, by result, and how many results lie in each
        self._homes: dict[Operand, int] = {}
        self._tenants: Counter[int] = Counter()

    def follow(self, equations: Sequence[Equation], results: Mapping[Operand, Value]) -> None:
        """Release what is not needed after some equations that had these results."""
        self._settle(results)
        used = [operand for equation in equations for operand in equation.operands]
        for operand in used:
            self._uses[operand] -= 1
        for operand in {*used, *results}:
            if operand in self._homes and not self._uses[operand] and operand not in self._kept:
                number = self._homes.pop(operand)
                self._tenants[number] -= 1
                if not self._tenants[number]:
                    self._emit.release(number)

    def _settle(self, results: Mapping[Operand, Value]) -> None:
        """Note which reservations hold the results, and release new ones that hold none."""
        reservations = self._emit.reservations
        numbers = {
            id(reservation[0]): number
            for number, reservation in enumerate(reservations[self._first :], self._first)
            if reservation is not None
        }
        for result, value in results.items():
            number = numbers.get(id(value.memory)) if isinstance(value, Stored) else None
            if number is not None:
                self._homes[result] = number
                self._tenants[number] += 1
        for number in range(self._seen, len(reservations)):
            if not self._tenants[number]:
                self._emit.release(number)
        self._seen = len(reservations)
