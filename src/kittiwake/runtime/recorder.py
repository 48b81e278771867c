"""The flight recorder: blocks of rows into a log file that survives the process.

Each block ends a compressed chunk of the file and is handed to the operating system at once, so a
process that is killed loses the block it was about to write and no other.
"""

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log_format import Layout
from kittiwake.analysis.log_writer import LogWriter
from kittiwake.analysis.output_file import output_file, writing
from kittiwake.analysis.table import Event
from kittiwake.core.errors import LogError


class Recorder:
    """Records vehicles with their columns and validity quantities; used in a ``with`` statement.

    Attributes:
        path: path of the file.
        failure: the error after which nothing more can be written; None before.
    """

    def __init__(
        self,
        path: str | Path,
        vehicles: Mapping[str, tuple[str, ...]],
        quantities: Mapping[str, tuple[str, ...]],
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Begin a file; ``files`` holds the digests of the files that are written beside it.

        Raises:
            LogError: if it cannot be written.
        """
        self.path = Path(path)
        self.failure: LogError | None = None
        self._finished = False
        layouts = _layouts(vehicles, quantities)
        self._names = set(layouts)
        with writing(self.path):
            # readable too, since ``copy_to`` needs this handle when the folder has vanished
            self._stream = self.path.open("w+b")
            try:
                self._writer = LogWriter(self._stream, layouts, files)
            except BaseException:
                self.discard()
                raise

    def add_vehicles(
        self,
        vehicles: Mapping[str, tuple[str, ...]],
        quantities: Mapping[str, tuple[str, ...]],
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Declare those of the vehicles that were added in flight; ``files`` as at the beginning.

        Raises:
            LogError: if they cannot be written; earlier rows are kept.
        """
        layouts = _layouts(vehicles, quantities)
        added = {name: own for name, own in layouts.items() if name not in self._names}
        self._names |= set(added)
        try:
            with writing(self.path):
                self._writer.add_vehicles(added, files)
        except LogError as error:
            self.failure = error
            raise

    def write(self, block: Mapping[str, Float64[np.ndarray, "_rows _columns"]]) -> None:
        """Append rows of some vehicles; their first column is the time in seconds.

        Raises:
            LogError: if they cannot be written; earlier rows are kept.
        """
        try:
            with writing(self.path):
                self._writer.write(block)
        except LogError as error:
            self.failure = error
            raise

    def event(self, time_s: float, vehicle: str, event: str) -> None:
        """Append an event; it reaches the file with the next block, or at the end."""
        self._writer.event(Event(time_s, vehicle, event))

    def is_at_its_path(self) -> bool:
        """Return True if the file still exists where it was begun."""
        try:
            return os.path.samestat(self.path.stat(), os.fstat(self._stream.fileno()))
        except OSError:
            return False

    def move_to(self, path: Path) -> None:
        """Continue under another path, in place of the file there.

        Raises:
            LogError: if the file cannot be moved.
        """
        with writing(path):
            self.path.replace(path)
        self.path = path

    def copy_to(self, path: Path) -> None:
        """Complete the file and copy it, even if its folder is gone; nothing can be added then.

        Raises:
            LogError: if the copy cannot be written.
        """
        self._finish()
        self._stream.seek(0)
        with output_file(path) as unfinished, unfinished.open("wb") as copy:
            shutil.copyfileobj(self._stream, copy)

    def close(self) -> None:
        """Complete the file with its index; a second call does nothing.

        Raises:
            LogError: if the index cannot be written.
        """
        if self._stream.closed:
            return
        try:
            self._finish()
        except LogError as error:
            self.failure = error
            raise
        finally:
            with suppress(OSError):  # of a failed write, which was raised above
                self._stream.close()

    def _finish(self) -> None:
        if self._finished or self.failure is not None:
            return
        self._finished = True
        with writing(self.path):
            self._writer.finish()
            self._stream.flush()

    def discard(self) -> None:
        """Remove a file whose header could not be written."""
        with suppress(OSError):
            self._stream.close()
        with suppress(OSError):
            self.path.unlink()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _layouts(
    vehicles: Mapping[str, tuple[str, ...]], quantities: Mapping[str, tuple[str, ...]]
) -> dict[str, Layout]:
    return {name: (tuple(vehicles[name]), tuple(quantities.get(name, ()))) for name in vehicles}
