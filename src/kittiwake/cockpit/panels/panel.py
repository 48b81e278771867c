"""Panel interface."""

from typing import Protocol, runtime_checkable

from kittiwake.scene.scene_state import SceneState


@runtime_checkable
class Panel(Protocol):
    """Controls and displays on the page."""

    def update(self, scene_state: SceneState) -> None:
        """Update the panel to a scene state."""
        ...
