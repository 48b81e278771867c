"""Report of unsupported programs: primitives without a rule, with the lines they come from."""

from collections.abc import Sequence
from typing import NamedTuple

from jax.extend.core import ClosedJaxpr

from kittiwake.simd.flattening import FlatProgram
from kittiwake.simd.loops import flat_program
from kittiwake.simd.moves import MOVES, OF_WORDS
from kittiwake.simd.rules import RULES


class Unsupported(NamedTuple):
    """A primitive without a rule, and file and line of the program that it comes from."""

    primitive: str
    source: str


class UnsupportedError(Exception):
    """Error of a program with primitives that have no rule.

    Attributes:
        unsupported: all of them.
    """

    def __init__(self, unsupported: Sequence[Unsupported]) -> None:
        super().__init__(", ".join(f"{one.primitive} at {one.source}" for one in unsupported))
        self.unsupported = [*unsupported]


def missing_rules(program: FlatProgram) -> list[Unsupported]:
    """Return the primitives of a flat program that have no rule, each place once."""
    found = {
        Unsupported(equation.primitive, equation.source): None
        for equation in program.walk()
        if equation.primitive not in RULES
        and equation.primitive not in MOVES
        and equation.primitive not in OF_WORDS
    }
    return [*found]


def unsupported(closed: ClosedJaxpr) -> list[Unsupported]:
    """Return the primitives of a program that have no rule, each place once."""
    return missing_rules(flat_program(closed))
