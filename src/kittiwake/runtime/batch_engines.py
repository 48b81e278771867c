"""Choice of the engine of a batch: worlds of one structure, flown side by side."""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Key

from kittiwake.runtime.engine import (
    ChosenEngine,
    accelerator_reason,
    missing_text,
    require_not_requested,
)
from kittiwake.runtime.fleet_functions import FleetFunctions
from kittiwake.runtime.simd_worlds import SimdWorlds
from kittiwake.runtime.xla_worlds import XlaWorlds
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers
from kittiwake.simd import UnsupportedError


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

    def recorder(self, steps: int) -> Callable[[], list[np.ndarray]]:
        """Return a function that advances all worlds by so many steps and returns their rows.

        Those of each group are ``[world, step, vehicle, column]``. The function keeps the memory
        that it needs from call to call.
        """
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
