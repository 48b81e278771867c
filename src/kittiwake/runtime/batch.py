"""Batch: worlds of one scenario with different seeds, stepped together."""

from collections.abc import Sequence

import jax
import numpy as np

from kittiwake.core.keys import seed_keys
from kittiwake.core.kinematics import Kinematics
from kittiwake.runtime.batch_engines import worlds_of
from kittiwake.runtime.engine import ChosenEngine
from kittiwake.runtime.program import Program
from kittiwake.sim.state import FleetState


class Batch:
    """Worlds of one scenario, each with a seed of its own, that are stepped together.

    A world flies as it does alone with its seed: with ``engine="simd"`` to the bit where the
    processor is of the same kind.

    Attributes:
        seeds: the seed of each world.
    """

    def __init__(self, program: Program, seeds: Sequence[int]) -> None:
        """Begin all worlds at the start of the scenario."""
        self.seeds = tuple(seeds)
        self._program = program
        with program.precision_context():
            keys = seed_keys(self.seeds)
            self._worlds = worlds_of(program.functions, program.numbers, keys)
        self._ticks = 0

    @property
    def engine(self) -> ChosenEngine:
        """What compiles their steps, and why if it is not the usual one."""
        return self._worlds.engine

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def time_s(self) -> float:
        """Simulated time of all worlds."""
        return self._ticks / self._program.fleet.rate_hz

    @property
    def state(self) -> FleetState:
        """State of all worlds, with a leading world axis in all but the clock."""
        with self._program.precision_context():
            return self._worlds.state

    def advance(self, steps: int) -> None:
        """Advance all worlds by some physics steps.

        Raises:
            ValueError: for a negative number of steps.
        """
        if steps < 0:
            message = f"`steps`: got {steps}; must not be negative"
            raise ValueError(message)
        with self._program.precision_context():
            self._worlds.advance(steps)
        self._ticks += steps

    def truth(self, name: str) -> Kinematics:
        """Return the true motion of a vehicle, in arrays with a leading world axis.

        Raises:
            CommandError: if there is no such vehicle.
        """
        fleet = self._program.fleet
        group, index = fleet.locate(name)
        own = fleet.groups[group].member(index)
        with self._program.precision_context():
            dynamics = jax.tree.map(
                lambda leaf: leaf[:, index], self._worlds.state.groups[group].dynamics
            )
            found = jax.vmap(own.dynamics.kinematics)(dynamics)
        return jax.tree.map(np.asarray, found)
