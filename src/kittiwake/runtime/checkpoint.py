"""Checkpoints of a run, from which another process continues it bit for bit."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite
from pathlib import Path

import numpy as np

from kittiwake.analysis.log import COMPLETED, SCENARIO_FILE, Log
from kittiwake.analysis.output_file import digest
from kittiwake.analysis.portable_scenario import PortableScenario
from kittiwake.analysis.run_folder import refuse_foreign_file
from kittiwake.core.errors import ScenarioError, StateError
from kittiwake.runtime.engine import EngineName, require_engine
from kittiwake.runtime.loop import Flight
from kittiwake.runtime.row_layout import RowBlock
from kittiwake.runtime.saved_state import read_header, read_state, write_state
from kittiwake.scenario.size import MAX_STEPS
from kittiwake.sim.fleet import Fleet
from kittiwake.sim.plain_python.hosts import (
    host_states,
    require_host_states,
    restore_host_states,
)

CHECKPOINT_FILE = "checkpoint.npz"
KIND = "checkpoint"
# of the steps of an interval
ROUNDING = 1e-6


class CheckpointWriter:
    """Writer of a flight's checkpoints, each in place of the one before."""

    def __init__(
        self, folder: Path, fleet: Fleet, every_s: float, *, continues: bool = False
    ) -> None:
        """Prepare to write into a run folder, every so many simulated seconds.

        Args:
            folder: the run folder.
            fleet: the fleet that flies.
            every_s: simulated time between checkpoints.
            continues: True if the flight continues from the checkpoint in the folder.

        Raises:
            LogError: if there is a file in its place that no run has written.
            OwnComponentError: if a component in plain Python has no ``state()``.
        """
        require_host_states(fleet)
        if not continues:
            refuse_foreign_file(folder / CHECKPOINT_FILE)
        self._folder, self._fleet, self._every_s = folder, fleet, every_s
        self._next_tick: int | None = None

    def __call__(self, flight: Flight) -> None:
        """Write a checkpoint after a block if one is due.

        Raises:
            LogError: if it cannot be written.
        """
        # the state is that after the last recorded step
        tick, every = flight.record.tick, checkpoint_steps(self._every_s, flight.rate_hz)
        if self._next_tick is None:
            began_s = 0.0 if flight.resumed_at_s is None else flight.resumed_at_s
            self._next_tick = round(began_s * flight.rate_hz) + every
        if tick < self._next_tick:
            return
        self._next_tick = tick + every
        header = {
            "kind": KIND,
            "scenario": digest(self._folder / SCENARIO_FILE),
            "seed": flight.seed,
            "every_s": self._every_s,
            "engine": flight.engine.engine.name,
            "record": flight.record.memory(),
            "components": host_states(self._fleet),
        }
        write_state(self._folder / CHECKPOINT_FILE, flight.state, header)


def checkpoint_steps(every_s: float, rate_hz: float) -> int:
    """Return the physics steps between two checkpoints, which no block should exceed."""
    return max(1, ceil(min(every_s * rate_hz, MAX_STEPS) - ROUNDING))


@dataclass(frozen=True)
class FlownPart:
    """The part of a run that was flown before its checkpoint.

    Attributes:
        rows: the rows of its log, by vehicle.
        every_s: simulated time between checkpoints.
    """

    rows: RowBlock
    every_s: float


@dataclass(frozen=True)
class UnfinishedRun:
    """A run that can be continued, as the scenario in its folder describes it.

    Attributes:
        seed: seed of all random streams.
        duration_s: simulated time of the whole flight.
        every_s: simulated time between its checkpoints; None if its checkpoint is damaged.
        engine: engine that flies it; None if its checkpoint is damaged.
    """

    seed: int
    duration_s: float
    every_s: float | None
    engine: EngineName | None


def require_unfinished(folder: Path) -> UnfinishedRun:
    """Return a run that has a checkpoint and has not ended by itself.

    Raises:
        LogError: if there is no run in the folder.
        StateError: if the run is complete, has no checkpoint, or its scenario was changed.
    """
    log = Log.read(folder)
    if not (folder / CHECKPOINT_FILE).is_file():
        message = (
            f"'{folder}' has no {CHECKPOINT_FILE}; a run writes one with --checkpoint-every S "
            "(in Python: run(out=..., checkpoint_every_s=S))"
        )
        raise StateError(message)
    if (log.summary or {}).get("status") == COMPLETED:
        message = f"the run in '{folder}' is complete; there is nothing to resume"
        raise StateError(message)
    try:
        duration_s = float(log.scenario["time"]["duration_s"])
        seed = int(log.scenario["seed"])
    except (LookupError, TypeError, ValueError) as error:
        message = (
            f"'{folder / SCENARIO_FILE}' was changed after the checkpoint; restore it, or fly it "
            "from the start"
        )
        raise StateError(message) from error
    return UnfinishedRun(seed, duration_s, _interval_s(folder), _engine(folder))


def _engine(folder: Path) -> EngineName | None:
    """Return the engine of the run in a folder; None if it cannot be read."""
    try:
        return require_engine(read_header(folder / CHECKPOINT_FILE)["engine"])
    except (StateError, ScenarioError, LookupError):
        return None


def _interval_s(folder: Path) -> float | None:
    """Return the interval of the checkpoint in a run folder; None if it cannot be read.

    That it is damaged is reported when its state is read.
    """
    try:
        every_s = float(read_header(folder / CHECKPOINT_FILE)["every_s"])
    except (StateError, LookupError, TypeError, ValueError):
        return None
    return every_s if isfinite(every_s) and every_s > 0.0 else None


def require_scenario(folder: Path, scenario: PortableScenario) -> None:
    """Check that the run in a folder is one of this scenario.

    Raises:
        StateError: if it is not.
    """
    if (folder / SCENARIO_FILE).read_text(encoding="utf-8") != scenario.text:
        message = (
            f"'{folder / SCENARIO_FILE}' is not the scenario of this simulation, or was changed; "
            "kw.resume continues a run with the scenario in its folder"
        )
        raise StateError(message)


def resume_flight(flight: Flight, fleet: Fleet, folder: Path) -> FlownPart:
    """Continue a flight from the checkpoint in its run folder, and return what was flown before.

    Raises:
        StateError: if the checkpoint does not fit the flight, or the scenario or the log beside it
            have been changed.
        OwnComponentError: if a component in plain Python cannot continue.
    """
    path = folder / CHECKPOINT_FILE
    state, header = read_state(path, flight.state)
    if header.get("kind") != KIND:
        message = f"'{path}' is no checkpoint of a run; sim.restore reads what sim.save has written"
        raise StateError(message)
    if header.get("scenario") != digest(folder / SCENARIO_FILE):
        message = (
            f"'{folder / SCENARIO_FILE}' was changed after the checkpoint; restore it, or fly it "
            "from the start"
        )
        raise StateError(message)
    own = flight.engine.engine.name
    if header.get("engine") != own:
        message = (
            f"'{folder}' is flown by the engine {header.get('engine')!r}, this simulation by "
            f"{own!r}, whose results differ in the last digits; kw.resume takes the run's engine"
        )
        raise StateError(message)
    try:
        components, every_s = dict(header["components"]), float(header["every_s"])
        if not every_s > 0.0:
            raise ValueError
        flight.resume(state, header["record"])
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        message = f"'{path}' is damaged: its record of the flight is invalid"
        raise StateError(message) from error
    restore_host_states(fleet, components)
    rows = _rows_before(Log.read(folder), flight.record.kept, folder)
    return FlownPart(rows, every_s)


def _rows_before(log: Log, kept: Mapping[str, int], folder: Path) -> RowBlock:
    """Return the rows that a log had at the checkpoint.

    Raises:
        StateError: if it has fewer.
    """
    rows: dict[str, np.ndarray] = {}
    for name, count in kept.items():
        if name not in log.tables or len(log.values(name)) < count:
            message = f"the log in '{folder}' lacks rows of '{name}' from before the checkpoint"
            raise StateError(message)
        rows[name] = log.values(name)[:count]
    return rows
