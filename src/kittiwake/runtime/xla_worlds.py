"""Worlds of a batch that XLA compiles, on all devices of the host."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jax.stages import Compiled
from jaxtyping import Array, Key

from kittiwake.core.arrays import ArrayTree
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.fleet_functions import KEPT_STRUCTURES, FleetFunctions
from kittiwake.runtime.world_axes import joined_numbers, state_marks
from kittiwake.runtime.xla_engine import XlaEngine
from kittiwake.sim.fleet import scan_steps
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers

# a device computes a multiple of so many worlds, as the rest of a vector may be rounded otherwise
MULTIPLE = 16
Result = TypeVar("Result")


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
        leaves, differ = joined_numbers(numbers)
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

        return jax.tree.map(
            joined, state_marks(self.states[0], own=True, shared=False), *self.states
        )

    def advance(self, steps: int) -> None:
        """Advance all worlds."""
        advance = partial(self._functions.advance, steps)
        self.states = self._on_each(advance, self._numbers, self.states)

    def recorder(self, steps: int) -> Callable[[], list[np.ndarray]]:
        """Return a function that advances all worlds by so many steps and returns their rows."""

        def record() -> list[np.ndarray]:
            kept = [self._recorded_step() for _ in range(steps)]
            return [np.stack(each, axis=1) for each in zip(*kept, strict=True)]

        return record

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
        axes = state_marks(step.form.shape, own=0, shared=None)
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
