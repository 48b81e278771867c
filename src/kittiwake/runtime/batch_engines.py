"""Engines of batches: worlds of one structure that share their numbers, flown side by side."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Protocol, runtime_checkable

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from kittiwake import simd
from kittiwake.core.keys import seed_key
from kittiwake.runtime.engine import ChosenEngine, EngineName, missing_text
from kittiwake.runtime.fleet_functions import FleetFunctions
from kittiwake.runtime.tiles import TiledTree, Tiles, compile_tiles, tiled_words
from kittiwake.runtime.xla_engine import XlaEngine
from kittiwake.sim.fleet import scan_steps
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers
from kittiwake.simd import UnsupportedError


@runtime_checkable
class Worlds(Protocol):
    """Worlds that are stepped together, in the floating-point mode of their fleet."""

    @property
    def engine(self) -> ChosenEngine:
        """What compiles their steps."""
        ...

    @property
    def state(self) -> FleetState:
        """State of all worlds, with a leading world axis in all but the clock."""
        ...

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        ...


def worlds_of(functions: FleetFunctions, numbers: Numbers, keys: PRNGKeyArray) -> Worlds:
    """Return worlds at their start, one for each key."""
    chosen = functions.chosen_engine
    if chosen.engine.name == "xla":
        return XlaWorlds(functions, numbers, keys, chosen.reason)
    try:
        return SimdWorlds(functions, numbers, keys)
    except UnsupportedError as error:
        return XlaWorlds(functions, numbers, keys, missing_text(error.unsupported))


class SimdWorlds:
    """Worlds that ``kittiwake.simd`` compiles: each tile of them flies all steps at once."""

    def __init__(self, functions: FleetFunctions, numbers: Numbers, keys: PRNGKeyArray) -> None:
        self.engine = functions.chosen_engine
        self._tiles = tiles = Tiles(len(keys), single_precision=functions.single_precision)
        programs = _tile_programs(functions)
        self._form = TiledTree(functions.shape, programs.varies, tiles)
        self._sides = self._form.buffers(), self._form.buffers()
        self._side = 0
        leaves = [np.ascontiguousarray(leaf) for leaf in jax.tree.leaves(numbers)]
        values = [np.asarray(leaf) for leaf in jax.tree.leaves(functions.inputs.zeros())]
        begin = programs.init.bind_tiles([*leaves, tiled_words(keys, tiles)], self._sides[0])
        tiles.run(begin)
        self._steps = [
            programs.step.bind_tiles([*leaves, *values, *one], other, carried=len(one))
            for one, other in (self._sides, self._sides[::-1])
        ]

    @property
    def state(self) -> FleetState:
        """State of all worlds, with a leading world axis in all but the clock."""
        return self._form.tree(self._sides[self._side])

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        if steps:
            self._tiles.run(self._steps[self._side], steps)
        self._side = (self._side + steps) % 2


@dataclass(frozen=True)
class _TilePrograms:
    """Compiled functions of a tile; ``varies`` is True for leaves that differ among worlds."""

    varies: tuple[bool, ...]
    init: simd.Kernel
    step: simd.Kernel


@lru_cache(16)
def _tile_programs(functions: FleetFunctions) -> _TilePrograms:
    lanes = Tiles(1, single_precision=functions.single_precision).lanes
    step = functions.step_example(lambda _snapshots: ())
    varies = tuple(jax.tree.leaves(_with_clock(jax.tree.map(lambda _: True, step.state), False)))
    shared = [False] * len(jax.tree.leaves(step.numbers))
    init = jax.make_jaxpr(functions.init_once)(step.numbers, seed_key(0))
    values = [False] * len(jax.tree.leaves(step.values))
    advance = jax.make_jaxpr(step.function)(step.numbers, step.values, step.state)
    return _TilePrograms(
        varies,
        compile_tiles(init, [*shared, True], varies, lanes),
        compile_tiles(advance, [*shared, *values, *varies], varies, lanes),
    )


class XlaWorlds:
    """Worlds that XLA compiles, as ``jax.vmap`` of one."""

    def __init__(
        self, functions: FleetFunctions, numbers: Numbers, keys: PRNGKeyArray, reason: str
    ) -> None:
        self.engine = ChosenEngine(XlaEngine(), reason)
        self._numbers = numbers
        init, self._advance = _mapped_functions(functions)
        self.state: FleetState = init(numbers, keys)

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        self.state = self._advance(self._numbers, self.state, steps)


@lru_cache(16)
def _mapped_functions(functions: FleetFunctions) -> tuple[Callable, Callable]:
    step = functions.step_example(lambda _snapshots: ())
    axes = _with_clock(jax.tree.map(lambda _: 0, step.state), None)

    def once(numbers: Numbers, state: FleetState) -> FleetState:
        return step.function(numbers, step.values, state)[0]

    mapped = jax.vmap(once, in_axes=(None, axes), out_axes=axes)

    def advance(numbers: Numbers, state: FleetState, steps: int) -> FleetState:
        return scan_steps(
            lambda present: (mapped(numbers, present), None), state, steps, lambda _: None
        )[0]

    init = jax.vmap(functions.init_once, in_axes=(None, 0), out_axes=axes)
    return jax.jit(init), jax.jit(advance, static_argnums=2)


def _with_clock(state: FleetState, mark: bool | None) -> FleetState:
    """Return marks of a state's leaves, with another one for its clock, which worlds share."""
    additions = dict.fromkeys(state.additions, mark)
    return replace(state, tick=mark, began=mark, additions=additions)
