"""State of a fleet that is stepped from Python, with its seed and time, in a file."""

from pathlib import Path
from typing import NamedTuple

from kittiwake.core.errors import StateError
from kittiwake.runtime.program import Program
from kittiwake.runtime.saved_state import read_state, write_state
from kittiwake.scenario.size import MAX_STEPS
from kittiwake.sim.plain_python.hosts import host_states, restore_host_states
from kittiwake.sim.state import FleetState

# of these files, beside that of checkpoints
KIND = "state"


class SteppedState(NamedTuple):
    """State of a fleet at a tick, with the seed of its random streams."""

    state: FleetState
    seed: int
    tick: int

    def write(self, path: Path, program: Program, scenario: str) -> None:
        """Write a file, with the states of components in plain Python.

        Raises:
            LogError: if the file cannot be written.
            OwnComponentError: if a component in plain Python has no ``state()``.
        """
        header = {
            "kind": KIND,
            "scenario": scenario,
            "vehicles": [*program.vehicles],
            "seed": self.seed,
            "tick": self.tick,
            "rate_hz": program.fleet.rate_hz,
            "components": host_states(program.fleet),
        }
        write_state(path, self.state, header)

    @classmethod
    def read(cls, path: Path, program: Program) -> "SteppedState":
        """Return the state in a file, from which components in plain Python continue.

        Raises:
            StateError: if the file is no such file, or holds another fleet's state.
            OwnComponentError: if a component in plain Python cannot continue.
        """
        state, header = read_state(path, program.shape)
        if header.get("kind") != KIND:
            message = f"'{path}' is a checkpoint of a run, which kw.resume continues"
            raise StateError(message)
        try:
            names, components = [str(name) for name in header["vehicles"]], header["components"]
            seed, tick = int(header["seed"]), int(header["tick"])
            rate_hz = float(header["rate_hz"])
            if not (isinstance(components, dict) and 0 <= tick < MAX_STEPS):
                raise TypeError
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            message = f"'{path}' is damaged: its header is invalid"
            raise StateError(message) from error
        if rate_hz != program.fleet.rate_hz:
            message = (
                f"'{path}' holds a state at {rate_hz:g} Hz; this simulation steps at "
                f"{program.fleet.rate_hz:g} Hz"
            )
            raise StateError(message)
        if names != [*program.vehicles]:
            message = f"'{path}' holds the state of other vehicles: {', '.join(names)}"
            raise StateError(message)
        restore_host_states(program.fleet, components)
        return cls(state, seed, tick)
