"""Layers of the scene, and their visibility."""

from collections.abc import Callable
from dataclasses import dataclass

from kittiwake.scene.scene_state import SceneState

Layer = Callable[[SceneState], None]


@dataclass
class Options:
    """Visibility of the layers, applied at the next frame."""

    trails: bool = True
    labels: bool = True
    heights: bool = True
    reference: bool = True
    grid: bool = True
    area: bool = True
    field: bool = True
    beams: bool = True
    wind: bool = False
    links: bool = False
