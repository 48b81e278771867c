"""Controls that are hidden at once and removed later.

A browser applies removals before the updates that arrived in the same drawn frame, and reports an
error for each update of a removed control. A slow browser draws less than one frame per second.
"""

from collections import deque
from time import monotonic
from typing import Protocol, runtime_checkable

# longer than a slow browser needs to draw a frame
DELAY_S = 5.0


@runtime_checkable
class RemovableControl(Protocol):
    """Control that can be hidden and removed."""

    visible: bool

    def remove(self) -> None:
        """Remove the control from the page."""
        ...


class DiscardedControls:
    """Controls that are no longer updated, oldest first."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[float, RemovableControl]] = deque()

    def add(self, *controls: RemovableControl) -> None:
        """Hide controls, which are removed after ``DELAY_S``."""
        for control in controls:
            control.visible = False
            self._waiting.append((monotonic(), control))

    def remove_old(self) -> None:
        """Remove the controls that have been hidden for long enough."""
        while self._waiting and monotonic() - self._waiting[0][0] >= DELAY_S:
            self._waiting.popleft()[1].remove()
