"""Panel interface."""

from typing import Protocol, runtime_checkable

from kittiwake.scene.frame import Frame


@runtime_checkable
class Panel(Protocol):
    """Controls and displays on the page."""

    def update(self, frame: Frame) -> None:
        """Update the panel to a frame."""
        ...
