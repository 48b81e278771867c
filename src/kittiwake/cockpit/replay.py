"""Playback of a log in real time."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import Event
from kittiwake.cockpit.playback_clock import PlaybackClock
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.scene_state import SceneState


class Replay:
    """Source of scene states that plays a log from its start and stops at its end."""

    def __init__(self, playback: LogPlayback) -> None:
        self.playback = playback
        self.clock = PlaybackClock(lambda: playback.span_s)

    @property
    def span_s(self) -> tuple[float, float]:
        """First and last time of the log."""
        return self.playback.span_s

    @property
    def events(self) -> Sequence[Event]:
        """Events of the log."""
        return self.playback.events

    @property
    def live(self) -> bool:
        """False: a log is never live."""
        return False

    def seek(self, time_s: float) -> None:
        """Show a time of the log."""
        self.clock.time_s = time_s

    def log(self) -> Log:
        """Return the log."""
        return self.playback.log

    def scene_state(self) -> SceneState:
        """Return the scene state at the current time."""
        return self.playback.scene_state(self.clock.time_s)

    def history(
        self, vehicle: str, columns: Sequence[str], span_s: float
    ) -> Float64[np.ndarray, "rows columns"]:
        """Return the time and some columns of a vehicle over the last seconds."""
        track, now_s = self.playback.tracks[vehicle], self.clock.time_s
        indices = [
            self.playback.flight.columns[vehicle].index(name) for name in ("time_s", *columns)
        ]
        begin, end = np.searchsorted(track.times_s, [now_s - span_s, now_s + 1e-9])
        return track.values[begin : max(int(end), int(begin) + 1)][:, indices]
