"""Rules: for each primitive of JAX, how it is translated."""

from collections.abc import Mapping

from kittiwake.simd.rules.arithmetic import ARITHMETIC
from kittiwake.simd.rules.arrays import ARRAYS
from kittiwake.simd.rules.control_flow import CONTROL_FLOW
from kittiwake.simd.rules.conversions import CONVERSIONS
from kittiwake.simd.rules.indexing import INDEXING
from kittiwake.simd.rules.linear_algebra import LINEAR_ALGEBRA
from kittiwake.simd.rules.random import RANDOM
from kittiwake.simd.rules.reductions import REDUCTIONS
from kittiwake.simd.rules.sorting import SORTING
from kittiwake.simd.translator import Rule

RULES: Mapping[str, Rule] = {
    **ARITHMETIC,
    **CONVERSIONS,
    **ARRAYS,
    **REDUCTIONS,
    **INDEXING,
    **SORTING,
    **LINEAR_ALGEBRA,
    **RANDOM,
    **CONTROL_FLOW,
}

# primitives that work element by element, and may share a loop
ELEMENTWISE = frozenset(ARITHMETIC) | {"convert_element_type"}
