"""Live flight that can be pulled back to a time before now, while it goes on."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import Event
from kittiwake.cockpit.frame_buffer import FrameBuffer
from kittiwake.cockpit.playback_clock import PlaybackClock
from kittiwake.cockpit.time_source import TimedClock
from kittiwake.core.errors import LogError
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import SceneState


class LiveSource:
    """Source of scene states of a live session: the newest one, or past ones."""

    def __init__(self, buffer: FrameBuffer, session: Session) -> None:
        self.buffer, self._session = buffer, session
        self._past: PlaybackClock | None = None

    @property
    def span_s(self) -> tuple[float, float]:
        """Start of the flight and its newest time."""
        return self.buffer.span_s

    @property
    def events(self) -> Sequence[Event]:
        """Events of the flight so far."""
        return self._session.events

    @property
    def clock(self) -> TimedClock:
        """Clock of the flight, or that of the playback of its past."""
        return self._past or self._session.clock

    @property
    def live(self) -> bool:
        """True while the newest state is shown."""
        return self._past is None

    def seek(self, time_s: float) -> None:
        """Show a past time, and what follows it; the newest one is the live flight."""
        begin_s, end_s = self.span_s
        if time_s >= end_s or end_s <= begin_s:
            self.go_live()
        elif self._past is None:
            self._past = PlaybackClock(lambda: self.buffer.span_s, time_s)
        else:
            self._past.time_s = time_s

    def go_live(self) -> None:
        """Show the newest state."""
        self._past = None

    def log(self) -> Log:
        """Return the log that is being written.

        Raises:
            LogError: if the flight has not begun.
        """
        if self._session.folder is None:
            message = "the flight has not begun; wait until the program is built"
            raise LogError(message)
        return Log.read(self._session.folder)

    def scene_state(self) -> SceneState | None:
        """Return the scene state at the time that is shown; the past ends live."""
        past = self._past
        if past is None:
            return self.buffer.scene_state()
        time_s = past.time_s
        if not past.paused and time_s >= self.span_s[1]:
            self.go_live()
            return self.buffer.scene_state()
        return self.buffer.past_scene_state(time_s)

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a vehicle over the last seconds."""
        past = self._past
        if past is None:
            return self.buffer.history(vehicle, columns, span_s)
        return self.buffer.past_history(vehicle, columns, past.time_s - span_s, past.time_s)
