"""The flight recorder: blocks of rows into a log file that survives the process.

Each block ends a compressed chunk of the file and is handed to the operating system at once, so a
process that is killed loses the block it was about to write and no other.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log_writer import LogWriter
from kittiwake.analysis.table import Event


class Recorder:
    """Records vehicles with their columns and validity quantities; used in a ``with`` statement."""

    def __init__(
        self,
        path: str | Path,
        vehicles: Mapping[str, tuple[str, ...]],
        quantities: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._closing = ExitStack()
        with ExitStack() as opening:
            stream = opening.enter_context(Path(path).open("wb"))
            layouts = {
                name: (tuple(vehicles[name]), tuple(quantities.get(name, ()))) for name in vehicles
            }
            self._writer = LogWriter(stream, layouts)
            opening.callback(self._writer.finish)
            self._closing = opening.pop_all()

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Append rows of some vehicles; their first column is the time in seconds."""
        self._writer.write(block)

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        """Append an event; it reaches the file with the next block, or at the end."""
        self._writer.event(Event(time_s, vehicle, event))

    def close(self) -> None:
        """Complete the file with its index; a second call does nothing."""
        self._closing.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
