"""Worlds of a batch that ``kittiwake.simd`` compiles, several of them in each register."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial

import jax
import numpy as np
from jaxtyping import Array, Key

from kittiwake import simd
from kittiwake.core.keys import seed_key
from kittiwake.runtime.engine import StepExample
from kittiwake.runtime.fleet_functions import KEPT_STRUCTURES, FleetFunctions
from kittiwake.runtime.tiles import TiledTree, Tiles, compile_tiles
from kittiwake.runtime.world_axes import joined_numbers, state_marks
from kittiwake.sim.packing import key_words
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers


class SimdWorlds:
    """Worlds that ``kittiwake.simd`` compiles: each tile of them flies all steps at once."""

    def __init__(
        self, functions: FleetFunctions, numbers: Sequence[Numbers], keys: Key[Array, " worlds"]
    ) -> None:
        self.engine = functions.chosen_engine
        self._tiles = tiles = Tiles(len(keys), single_precision=functions.single_precision)
        leaves, differ = joined_numbers(numbers)
        self._programs = programs = _tile_programs(functions, differ)
        arrays = [
            tiles.filled(leaf) if differs else np.ascontiguousarray(leaf)
            for leaf, differs in zip(leaves, differ, strict=True)
        ]
        values = [np.asarray(leaf) for leaf in jax.tree.leaves(functions.inputs.zeros())]
        self._arrays, self._values = arrays, values
        self._form = TiledTree(functions.shape, programs.varies, tiles)
        self._sides = self._form.buffers(), self._form.buffers()
        self._side = 0
        words = tiles.filled(key_words(keys))
        tiles.run(programs.init.bind_tiles([*arrays, words], self._sides[0]))

    @property
    def code_bytes(self) -> int | None:
        """Size of the compiled code of a step."""
        return self._programs.step.rest.code_bytes

    @property
    def state(self) -> FleetState:
        """State of all worlds, with a leading world axis in all but the clock."""
        return self._form.tree(self._sides[self._side])

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        if steps:
            self._tiles.run(self._steps[self._side], steps)
        self._side = (self._side + steps) % 2

    def recorder(self, steps: int) -> Callable[[], list[np.ndarray]]:
        """Return a function that advances all worlds by so many steps and returns their rows."""
        kernel = self._programs.recorded_step.rest
        carried = len(self._sides[0])
        rows = [
            np.empty((self._tiles.number, steps, *form.shape), form.dtype)
            for form in kernel.outputs[carried:]
        ]

        @cache
        def call_from(side: int) -> simd.BoundTiles:
            before, after = self._sides[side], self._sides[1 - side]
            return kernel.bind_tiles(
                [*self._recorded_arguments, *before], [*after, *rows], carried=carried
            )

        def record() -> list[np.ndarray]:
            self._tiles.run(call_from(self._side), steps)
            self._side = (self._side + steps) % 2
            return [self._tiles.by_world(each) for each in rows]

        return record

    def snapshot(self) -> Callable[[int], FleetState]:
        """Return the present state, as a function of the number of a world."""
        buffers = [each.copy() for each in self._sides[self._side]]
        return partial(self._form.of_world, buffers)

    @cached_property
    def _recorded_arguments(self) -> list[np.ndarray]:
        return self._arguments(self._programs.recorded_step.constants)

    @cached_property
    def _steps(self) -> list[simd.BoundTiles]:
        """A step without rows, in both directions."""
        constants, kernel = self._programs.step
        given = self._arguments(constants)
        return [
            kernel.bind_tiles([*given, *one], other, carried=len(one))
            for one, other in (self._sides, self._sides[::-1])
        ]

    def _arguments(self, constants: simd.Kernel) -> list[np.ndarray]:
        """Return the arguments of a step before its state."""
        computed = [
            np.zeros((self._tiles.number, *like.shape), like.dtype) for like in constants.outputs
        ]
        self._tiles.run(constants.bind_tiles(self._arrays, computed))
        return [*computed, *self._arrays, *self._values]


class _TilePrograms:
    """Compiled functions of a tile; ``varies`` is True for leaves that differ among worlds."""

    def __init__(self, functions: FleetFunctions, differ: tuple[bool, ...]) -> None:
        self._functions, self._differ = functions, differ
        self._lanes = Tiles(1, single_precision=functions.single_precision).lanes
        self._example = functions.step_example(lambda _snapshots: ())
        self.varies = tuple(
            jax.tree.leaves(state_marks(self._example.form.shape, own=True, shared=False))
        )

    @cached_property
    def init(self) -> simd.Kernel:
        """Function of numbers and a key."""

        def compiled() -> simd.Kernel:
            program = jax.make_jaxpr(self._functions.init_once)(self._example.numbers, seed_key(0))
            return compile_tiles(program, [*self._differ, True], self.varies, self._lanes)

        return self._functions.cache.kernel(self._name("init"), compiled)

    @cached_property
    def step(self) -> simd.HoistedKernels:
        """Step without outputs."""
        return self._hoisted("step", self._example)

    @cached_property
    def recorded_step(self) -> simd.HoistedKernels:
        """Step whose outputs are each group's rows."""
        return self._hoisted("recorded step", self._functions.step_example(self._functions.rows))

    def _name(self, function: str) -> str:
        differ = "".join(map(str, map(int, self._differ)))
        return f"{function} {self._lanes} {differ}"

    def _hoisted(self, name: str, step: StepExample) -> simd.HoistedKernels:
        def compiled() -> simd.HoistedKernels:
            values = [False] * len(jax.tree.leaves(step.values))
            program = jax.make_jaxpr(step.function)(step.numbers, step.values, step.form.shape)
            returned = [True] * (len(program.out_avals) - len(self.varies))
            laned = simd.with_lanes(
                program,
                [*self._differ, *values, *self.varies],
                [*self.varies, *returned],
                self._lanes,
            )
            return simd.compile_hoisted(laned, len(self._differ))

        return self._functions.cache.hoisted(self._name(name), compiled)


_tile_programs = lru_cache(KEPT_STRUCTURES)(_TilePrograms)
