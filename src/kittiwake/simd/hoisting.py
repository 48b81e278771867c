"""Split of a program into what depends only on its first arguments, and the rest.

What a loop of calls computes anew each time, though its arguments stay the same, is computed once.
"""

from typing import NamedTuple

from kittiwake.simd.flattening import Equation, FlatProgram, Variable, used
from kittiwake.simd.moves import MOVE


class Hoisted(NamedTuple):
    """Two programs that do the same as one.

    Attributes:
        constants: from the first arguments to what the other one needs of them.
        rest: from the results of the first one, and all arguments, to the results.
    """

    constants: FlatProgram
    rest: FlatProgram


def hoisted(program: FlatProgram, count: int) -> Hoisted:
    """Return a program in two parts, of which the first one depends on so many first arguments.

    Moves and constants are in the part that needs them, since they cost no more than reading.
    """
    known: set[Variable] = {*program.inputs[:count]}
    before: list[Equation] = []
    rest: list[Equation] = []
    computed: set[Variable] = set()
    for equation in program.equations:
        variables = [one for one in equation.operands if isinstance(one, Variable)]
        is_known = known.issuperset(variables)
        in_both = equation.primitive == MOVE or not variables
        if is_known:
            known.update(equation.results)
            before.append(equation)
            if not in_both:
                computed.update(equation.results)
        if not is_known or in_both:
            rest.append(equation)
    rest = [*used(rest, program.outputs)]
    read = [*(operand for equation in rest for operand in equation.operands), *program.outputs]
    needed = dict.fromkeys(one for one in read if isinstance(one, Variable) and one in computed)
    results = tuple(needed)
    constants = FlatProgram(program.inputs[:count], tuple(used(before, results)), results)
    return Hoisted(
        constants, FlatProgram((*results, *program.inputs), tuple(rest), program.outputs)
    )
