"""Source of scene states with a time line: a live flight that can be pulled back, or a log."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from kittiwake.analysis.log import Log
from kittiwake.analysis.table import Event
from kittiwake.cockpit.frame_buffer import FrameSource
from kittiwake.cockpit.playback_clock import PlaybackClock
from kittiwake.runtime.clock import RealTimeClock

# clock that can be paused and has a speed: that of a flight, or of a playback
TimedClock: TypeAlias = RealTimeClock | PlaybackClock


@runtime_checkable
class TimeSource(FrameSource, Protocol):
    """Source of scene states over a span of time."""

    @property
    def span_s(self) -> tuple[float, float]:
        """First time and last time so far."""
        ...

    @property
    def events(self) -> Sequence[Event]:
        """Events so far."""
        ...

    @property
    def clock(self) -> TimedClock:
        """Clock of what is shown."""
        ...

    @property
    def live(self) -> bool:
        """True while the newest state of a flight is shown."""
        ...

    def seek(self, time_s: float) -> None:
        """Show a time, and what follows it."""
        ...

    def log(self) -> Log:
        """Return the log so far.

        Raises:
            LogError: if there is none.
        """
        ...
