"""Batch: worlds of one scenario with different seeds, stepped together."""

from collections.abc import Sequence

import numpy as np

from kittiwake.core.errors import ScenarioError
from kittiwake.core.keys import seed_keys
from kittiwake.runtime.batch_engines import worlds_of
from kittiwake.runtime.engine import EngineName
from kittiwake.runtime.program import Program
from kittiwake.sim.state import FleetState
from kittiwake.sim.structure import Numbers


class Batch:
    """Worlds of one scenario, each with a seed of its own, that are stepped together.

    With the engine ``simd`` each flies bit for bit as it does alone with its seed.

    Attributes:
        seeds: the seed of each world.
    """

    def __init__(self, program: Program, seeds: Sequence[int], numbers: Sequence[Numbers]) -> None:
        """Begin all worlds at their start.

        Args:
            program: program of a fleet of their structure.
            seeds: seed of each world.
            numbers: numbers of each world, or those of all.

        Raises:
            ScenarioError: if a component in plain Python flies.
        """
        if program.on_host:
            message = (
                "components in plain Python cannot fly in a batch, since they are called for one "
                "world; fly one flight after another, as kw.compare does"
            )
            raise ScenarioError(message)
        self.seeds = tuple(seeds)
        self._program = program
        with program.precision_context():
            keys = seed_keys(self.seeds)
            self._worlds = worlds_of(program.functions, numbers, keys)
        self._ticks = 0

    @property
    def engine(self) -> EngineName:
        """Name of the engine that compiles their steps."""
        return self._worlds.engine.engine.name

    @property
    def engine_reason(self) -> str:
        """Reason for another engine than the usual one; empty for none."""
        return self._worlds.engine.reason

    @property
    def code_bytes(self) -> int | None:
        """Size of the compiled code of a step; None if it is unknown."""
        return self._worlds.code_bytes

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
        _require_at_least(0, steps=steps)
        with self._program.precision_context():
            self._worlds.advance(steps)
        self._ticks += steps

    def record(self, steps: int, log_every: int = 1) -> dict[str, dict[str, np.ndarray]]:
        """Advance all worlds by some physics steps, and return what their logs would hold.

        Args:
            steps: number of physics steps.
            log_every: number of steps per row, of which the first is that of the present state.

        Returns:
            By vehicle and column of its log, an array of ``[world, row]``.

        Raises:
            ValueError: for a negative number of steps, or less than one per row.
        """
        _require_at_least(0, steps=steps)
        _require_at_least(1, log_every=log_every)
        kept = []
        together = max(steps, 1) if log_every == 1 else 1
        with self._program.precision_context():
            record = self._worlds.recorder(together)
            for start in range(0, steps, together * log_every):
                kept.append(record())
                self._worlds.advance(min(log_every, steps - start) - 1)
        times_s = (
            np.arange(self._ticks, self._ticks + steps, log_every) / self._program.fleet.rate_hz
        )
        self._ticks += steps
        found = {}
        for name, (_, *columns) in self._program.columns.items():
            group, index = self._program.indices[name]
            rows = [groups[group][:, :, index] for groups in kept]
            values = np.concatenate([np.zeros((len(self), 0, len(columns))), *rows], axis=1)
            shared = {"time_s": np.broadcast_to(times_s, values.shape[:2])}
            found[name] = shared | {one: values[..., at] for at, one in enumerate(columns)}
        return found


def _require_at_least(least: int, **given: int) -> None:
    for name, number in given.items():
        if number < least:
            message = f"`{name}`: got {number}; must be at least {least}"
            raise ValueError(message)
