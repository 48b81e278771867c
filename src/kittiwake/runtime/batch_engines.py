"""Engines of batches: worlds of one structure, flown side by side."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from typing import Protocol, TypeVar, runtime_checkable

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Compiled
from jaxtyping import Array, Key

from kittiwake import simd
from kittiwake.core.arrays import ArrayTree
from kittiwake.core.keys import seed_key
from kittiwake.runtime.engine import (
    ChosenEngine,
    StepExample,
    accelerator_reason,
    missing_text,
    require_not_requested,
)
from kittiwake.runtime.fleet_functions import KEPT_STRUCTURES, FleetFunctions
from kittiwake.runtime.tiles import TiledTree, Tiles, compile_tiles
from kittiwake.runtime.xla_engine import XlaEngine
from kittiwake.sim.fleet import scan_steps
from kittiwake.sim.packing import key_words
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers
from kittiwake.simd import UnsupportedError

# fields of a state that all worlds share
CLOCK = ("tick", "began", "additions")
# a device computes a multiple of so many worlds, as the rest of a vector may be rounded otherwise
MULTIPLE = 16
Result = TypeVar("Result")


@runtime_checkable
class Worlds(Protocol):
    """Worlds that are stepped together, in the floating-point mode of their fleet."""

    @property
    def engine(self) -> ChosenEngine:
        """Engine that compiles their steps, with the reason for it."""
        ...

    @property
    def code_bytes(self) -> int | None:
        """Size of the compiled code of a step; None if it is unknown."""
        ...

    @property
    def state(self) -> FleetState:
        """State of all worlds, with a leading world axis in all but the clock."""
        ...

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        ...

    def record(self, steps: int) -> list[np.ndarray]:
        """Advance all worlds; return each group's rows as ``[world, step, vehicle, column]``."""
        ...


def worlds_of(
    functions: FleetFunctions, numbers: Sequence[Numbers], keys: Key[Array, " worlds"]
) -> Worlds:
    """Return worlds at their start, one for each key.

    Args:
        functions: functions of the fleets of all worlds.
        numbers: numbers of each world, or those of all.
        keys: the key of each world.

    Raises:
        ScenarioError: if the engine that was requested cannot compile them.
    """
    if functions.requested is None and (reason := accelerator_reason()):
        return XlaWorlds(functions.by_xla(), numbers, keys, reason)
    chosen = functions.chosen_engine
    if chosen.engine.name == "xla":
        return XlaWorlds(functions, numbers, keys, chosen.reason)
    try:
        return SimdWorlds(functions, numbers, keys)
    except UnsupportedError as error:
        reason = missing_text(error.unsupported)
        require_not_requested(functions.requested, "scenario in a batch", reason)
        return XlaWorlds(functions, numbers, keys, reason)


class SimdWorlds:
    """Worlds that ``kittiwake.simd`` compiles: each tile of them flies all steps at once."""

    def __init__(
        self, functions: FleetFunctions, numbers: Sequence[Numbers], keys: Key[Array, " worlds"]
    ) -> None:
        self.engine = functions.chosen_engine
        self._tiles = tiles = Tiles(len(keys), single_precision=functions.single_precision)
        leaves, differ = _joined(numbers)
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
        self._steps = self._bound(*programs.step)
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

    def record(self, steps: int) -> list[np.ndarray]:
        """Advance all worlds; return each group's rows as ``[world, step, vehicle, column]``."""
        kernel = self._programs.recorded_step.rest
        before, after = self._sides[self._side], self._sides[1 - self._side]
        rows = [
            np.empty((self._tiles.number, steps, *form.shape), form.dtype)
            for form in kernel.outputs[len(after) :]
        ]
        call = kernel.bind_tiles(
            [*self._recorded_arguments, *before], [*after, *rows], carried=len(before)
        )
        self._tiles.run(call, steps)
        self._side = (self._side + steps) % 2
        return [self._tiles.by_world(each) for each in rows]

    def snapshot(self) -> Callable[[int], FleetState]:
        """Return the present state, as a function of the number of a world."""
        buffers = [each.copy() for each in self._sides[self._side]]
        return partial(self._form.of_world, buffers)

    @cached_property
    def _recorded_arguments(self) -> list[np.ndarray]:
        return self._arguments(self._programs.recorded_step.constants)

    def _bound(self, constants: simd.Kernel, kernel: simd.Kernel) -> list[simd.BoundTiles]:
        """Return a step in both directions."""
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
        self.varies = tuple(jax.tree.leaves(_marks(self._example.state, own=True, shared=False)))

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
            program = jax.make_jaxpr(step.function)(step.numbers, step.values, step.state)
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


class XlaWorlds:
    """Worlds that XLA compiles, as ``jax.vmap`` of one, in equal parts on all devices of the host.

    Each device has a program of its own, since one program for several is rounded otherwise than
    one for a single device. The last worlds, with which the parts become equal, are like the last
    one, and nobody sees them.

    Attributes:
        code_bytes: None, since XLA does not give the size of its code.
        states: the state of the part on each device, with the worlds that nobody sees.
    """

    code_bytes: int | None = None

    def __init__(
        self,
        functions: FleetFunctions,
        numbers: Sequence[Numbers],
        keys: Key[Array, " worlds"],
        reason: str,
    ) -> None:
        self.engine = ChosenEngine(XlaEngine(), reason)
        self._precision_context = functions.precision_context
        self._count, self._devices = len(keys), jax.local_devices()
        self._pool = ThreadPoolExecutor(len(self._devices))
        leaves, differ = _joined(numbers)
        self._functions = _mapped_functions(functions, differ)
        worlds = -(-len(keys) // (len(self._devices) * MULTIPLE)) * MULTIPLE
        seen = np.minimum(np.arange(worlds * len(self._devices)), len(keys) - 1)
        parts = seen.reshape(len(self._devices), worlds)
        treedef = jax.tree.structure(numbers[0])
        self._numbers: list[Numbers] = []
        own_keys: list[Key[Array, " worlds"]] = []
        for part, device in zip(parts, self._devices, strict=True):
            own = [leaf[part] if each else leaf for leaf, each in zip(leaves, differ, strict=True)]
            self._numbers.append(jax.device_put(jax.tree.unflatten(treedef, own), device))
            own_keys.append(jax.device_put(keys[part], device))
        self.states: list[FleetState] = self._on_each(self._functions.init, self._numbers, own_keys)

    @property
    def state(self) -> FleetState:
        """State of all worlds, with a leading world axis in all but the clock."""
        sharding = NamedSharding(
            Mesh(np.array(self._devices), ("worlds",)), PartitionSpec("worlds")
        )

        def joined(mark: bool | int, *parts: Array) -> Array:  # noqa: FBT001  a leaf of a tree
            if not mark:
                return parts[0]
            shape = len(parts) * len(parts[0]), *parts[0].shape[1:]
            whole = jax.make_array_from_single_device_arrays(shape, sharding, [*parts])
            return whole[: self._count]

        return jax.tree.map(joined, _marks(self.states[0], own=True, shared=False), *self.states)

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        advance = partial(self._functions.advance, steps)
        self.states = self._on_each(advance, self._numbers, self.states)

    def record(self, steps: int) -> list[np.ndarray]:
        """Advance all worlds; return each group's rows as ``[world, step, vehicle, column]``."""
        kept = [self._recorded_step() for _ in range(steps)]
        return [np.stack(each, axis=1) for each in zip(*kept, strict=True)]

    def _recorded_step(self) -> list[np.ndarray]:
        stepped = self._on_each(self._functions.recorded_step, self._numbers, self.states)
        self.states = [state for state, _ in stepped]
        rows = [[np.asarray(each) for each in own] for _, own in stepped]
        return [np.concatenate(parts)[: self._count] for parts in zip(*rows, strict=True)]

    def compiled(self, steps: int) -> Compiled:
        """Return the program of ``advance`` of one device, whose cost and memory XLA knows."""
        lowered = self._functions.advance.lower(steps, self._numbers[0], self.states[0])
        return lowered.compile()

    def _on_each(
        self, function: Callable[..., Result], *parts: Sequence[ArrayTree]
    ) -> list[Result]:
        """Return the results of a function on each device.

        The first call traces the function, and the others, in threads, compile the same program.
        """

        def call(*own: ArrayTree) -> Result:
            with self._precision_context():
                return function(*own)

        first, *others = zip(*parts, strict=True)
        return [call(*first), *self._pool.map(call, *zip(*others, strict=True))]


class _MappedFunctions:
    """Functions of all worlds of a part; ``differ`` is True for leaves of numbers of each."""

    def __init__(self, functions: FleetFunctions, differ: tuple[bool, ...]) -> None:
        step = functions.step_example(functions.rows)
        treedef = jax.tree.structure(step.numbers)
        of_numbers = jax.tree.unflatten(treedef, [0 if each else None for each in differ])
        axes = _marks(step.state, own=0, shared=None)
        self.init = jax.jit(jax.vmap(functions.init_once, in_axes=(of_numbers, 0), out_axes=axes))
        self._step = jax.vmap(
            lambda numbers, state: step.function(numbers, step.values, state),
            in_axes=(of_numbers, axes),
            out_axes=(axes, 0),
        )
        self.recorded_step = jax.jit(self._step)
        self.advance = jax.jit(self._many, static_argnums=0)

    def _many(self, steps: int, numbers: Numbers, state: FleetState) -> FleetState:
        return scan_steps(
            lambda present: self._step(numbers, present), state, steps, lambda _: None
        )[0]


_mapped_functions = lru_cache(KEPT_STRUCTURES)(_MappedFunctions)


def _marks(state: FleetState, *, own: bool | int, shared: bool | None) -> ArrayTree:
    """Return marks of a state's leaves: those of each world, and the clock that worlds share."""
    return jax.tree_util.tree_map_with_path(
        lambda path, _: shared if path[0].name in CLOCK else own, state
    )


def _joined(numbers: Sequence[Numbers]) -> tuple[list[np.ndarray], tuple[bool, ...]]:
    """Return the leaves of all worlds' numbers, with True for those that differ among these."""
    columns = [*zip(*map(jax.tree.leaves, numbers), strict=True)]
    # packed numbers of several worlds always count as differing, so that these compile once
    differ = len(numbers) > 1, *map(_differ, columns[1:])
    leaves = [
        np.stack(own) if differs else np.asarray(own[0])
        for own, differs in zip(columns, differ, strict=True)
    ]
    return leaves, differ


def _differ(leaves: Sequence[np.ndarray]) -> bool:
    first, *others = leaves
    return any(leaf is not first and not np.array_equal(leaf, first) for leaf in others)
