"""What a panel is."""

from typing import Protocol, runtime_checkable

from kittiwake.scene.frame import Frame


@runtime_checkable
class Panel(Protocol):
    """Controls and read-outs on the page."""

    def update(self, frame: Frame) -> None:
        """Shows what is now."""
        ...
