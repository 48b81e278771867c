"""Flights with the derivatives of what they record, by forward differentiation of each step.

A step is differentiated along several directions of the fleet's numbers at once. The flight itself
is computed once for all directions of a register; their derivatives stand side by side in it. What
an adjoint would have to keep of each step is not needed, and the code is about three times that of
a step (Griewank and Walther, Evaluating Derivatives, 2008, sections 3.1 and 4.2).
"""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from kittiwake import simd
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_key
from kittiwake.runtime.engine import missing_text
from kittiwake.runtime.fleet_functions import KEPT_STRUCTURES, FleetFunctions
from kittiwake.runtime.program import Program
from kittiwake.runtime.tiles import Tiles
from kittiwake.sim.packing import key_words
from kittiwake.sim.structure import Numbers

# for each vehicle group the indices of the columns of its rows
Columns: TypeAlias = tuple[tuple[int, ...], ...]


class FlownDerivatives(NamedTuple):
    """Recorded columns of each step, and their derivatives.

    Attributes:
        values: columns of all groups as ``[step, column]``; those of a group's vehicles follow each
            other.
        derivatives: the derivatives along each direction, as ``[direction, step, column]``.
    """

    values: Float[np.ndarray, "steps columns"]
    derivatives: Float[np.ndarray, "directions steps columns"]


def fly_with_derivatives(
    program: Program,
    directions: Float[np.ndarray, "directions numbers"],
    seed: int,
    steps: int,
    columns: Columns,
    numbers: Numbers | None = None,
) -> FlownDerivatives:
    """Fly from the start, and differentiate recorded columns along directions of the numbers.

    Args:
        program: program of the fleet, without commands.
        directions: changes of the fleet's packed numbers.
        seed: seed of the flight.
        steps: number of rows, one for each physics step, the first of which is the start.
        columns: indices of the columns in the rows of each group.
        numbers: other numbers than those of the program's fleet.

    Raises:
        ScenarioError: if the engine ``simd`` cannot differentiate the scenario.
    """
    functions = program.functions
    if program.on_host:
        message = "controllers in plain Python cannot be differentiated"
        raise ScenarioError(message)
    with program.precision_context():
        try:
            flown = program.numbers if numbers is None else numbers
            return _derivatives(functions, columns).fly(flown, directions, seed, steps)
        except simd.UnsupportedError as error:
            message = f"the flight cannot be differentiated: {missing_text(error.unsupported)}"
            raise ScenarioError(message) from None


class _Derivatives:
    """Compiled functions of a structure: start and step with their derivatives."""

    def __init__(self, functions: FleetFunctions, columns: Columns) -> None:
        self._functions, self._columns = functions, columns
        self._step = functions.step_example(partial(_selected, functions, columns))
        self._packing = functions.form.packing
        self._floats, self._words = self._packing.buffers()

    def fly(
        self,
        numbers: Numbers,
        directions: Float[np.ndarray, "directions numbers"],
        seed: int,
        steps: int,
    ) -> FlownDerivatives:
        tiles = Tiles(len(directions), single_precision=self._functions.single_precision)
        leaves = [np.ascontiguousarray(leaf) for leaf in jax.tree.leaves(numbers)]
        tangents = tiles.filled(np.ascontiguousarray(directions, leaves[0].dtype))
        words = np.ascontiguousarray(key_words(seed_key(seed)))
        start = [np.zeros((tiles.number, *like.shape), like.dtype) for like in self.start.outputs]
        tiles.run(self.start.bind_tiles([*leaves, tangents, words], start))
        constants, step = self.step
        computed = [np.zeros((tiles.number, *like.shape), like.dtype) for like in constants.outputs]
        tiles.run(constants.bind_tiles([*leaves, tangents], computed))
        values = [np.asarray(leaf) for leaf in jax.tree.leaves(self._step.values)]
        other = [np.zeros_like(each) for each in start]
        recorded = [
            np.empty((tiles.number, steps, *like.shape), like.dtype)
            for like in step.outputs[len(start) :]
        ]
        call = step.bind_tiles(
            [*computed, *leaves, tangents, *values, *start],
            [*other, *recorded],
            carried=len(start),
        )
        tiles.run(call, steps)
        rows, derivatives = recorded
        return FlownDerivatives(rows[0], tiles.by_world(derivatives))

    @cached_property
    def start(self) -> simd.Kernel:
        """Function of numbers, a direction and a key to the packed start and its derivative."""

        def start(packed: Array, *others: Array) -> tuple[Array, ...]:
            *large, tangent, key = others
            return self._differentiated(
                lambda own: self._packing.pack(
                    self._functions.init_once(self._numbers(own, large), key)
                ),
                (packed,),
                (tangent,),
            )

        def compiled() -> simd.Kernel:
            packed, *large = jax.tree.leaves(self._step.numbers)
            program = jax.make_jaxpr(start)(packed, *large, packed, seed_key(0))
            varies = [*[False] * (1 + len(large)), True, False]
            return simd.compile_jaxpr(
                simd.with_lanes(program, varies, [False, False, True], self._lanes)
            )

        return self._functions.cache.kernel(self._name("start"), compiled)

    @cached_property
    def step(self) -> simd.HoistedKernels:
        """Function of numbers, a direction, values and a state with its derivative to the next."""
        count = len(jax.tree.leaves(self._step.values))
        treedef = jax.tree.structure(self._step.values)

        def step(packed: Array, *others: Array) -> tuple[Array, ...]:
            *large, tangent = others[: -3 - count]
            values = jax.tree.unflatten(treedef, others[-3 - count : -3])
            floats, words, moved = others[-3:]

            def once(own: Array, present: Array) -> tuple[Array, Array, Array]:
                state = self._packing.unpack(present, words)
                later, outputs = self._step.function(self._numbers(own, large), values, state)
                return (*self._packing.pack(later), *outputs)

            later, words, rows, moved, slopes = self._differentiated(
                once, (packed, floats), (tangent, moved)
            )
            return later, words, moved, rows, slopes

        def compiled() -> simd.HoistedKernels:
            packed, *large = jax.tree.leaves(self._step.numbers)
            values = jax.tree.leaves(self._step.values)
            state = self._floats, self._words, self._floats
            program = jax.make_jaxpr(step)(packed, *large, packed, *values, *state)
            shared = [False] * (1 + len(large))
            varies = [*shared, True, *[False] * len(values), False, False, True]
            laned = simd.with_lanes(program, varies, [False, False, True, False, True], self._lanes)
            return simd.compile_hoisted(laned, len(shared) + 1)

        return self._functions.cache.hoisted(self._name("step"), compiled)

    def _numbers(self, packed: Array, large: Sequence[Array]) -> Numbers:
        return jax.tree.unflatten(jax.tree.structure(self._step.numbers), [packed, *large])

    @property
    def _lanes(self) -> int:
        return Tiles(1, single_precision=self._functions.single_precision).lanes

    def _name(self, function: str) -> str:
        return f"derivative of {function} {self._lanes} {self._columns}"

    @staticmethod
    def _differentiated(
        function: Callable[..., ArrayTree],
        primals: Sequence[Array],
        tangents: Sequence[Array],
    ) -> tuple[Array, ...]:
        """Return the results, and then the derivatives of those of floating point."""
        results, slopes = jax.jvp(function, primals, tangents)
        return (
            *results,
            *(
                slope
                for result, slope in zip(results, slopes, strict=True)
                if jnp.issubdtype(result.dtype, jnp.floating)
            ),
        )


_derivatives = lru_cache(KEPT_STRUCTURES)(_Derivatives)


def _selected(
    functions: FleetFunctions, columns: Columns, snapshots: ArrayTree
) -> tuple[Array, ...]:
    """Return columns of the rows of all groups as one array."""
    rows = functions.rows(snapshots)
    chosen = [
        jnp.ravel(group[:, jnp.asarray(own, int)])
        for group, own in zip(rows, columns, strict=True)
        if own
    ]
    return (jnp.concatenate(chosen),)
