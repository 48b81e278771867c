"""Nodes of a scene of viser's, all below one name."""

from typing import Any

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.rendering.look import Look
from kittiwake.rendering.rotation import UPRIGHT
from kittiwake.rendering.shapes import Rgb, is_closed

# batches of more triangles are drawn coarser where they are small
MANY = 100_000
# what is larger throws no shadow, which would blur all others
LARGEST_SHADOW_M = 60.0

Pieces = Float[np.ndarray, "pieces 2 3"]


class Nodes:
    """Makes them."""

    def __init__(self, scene: viser.SceneApi, prefix: str) -> None:
        self.scene, self.prefix = scene, prefix

    def batch(self, name: str, look: Look, instances: int, **more: Any) -> viser.BatchedMeshHandle:
        """Equal looks, which have no place yet."""
        clear = look.opacity < 1.0
        return self.scene.add_batched_meshes_simple(
            f"{self.prefix}/{name}",
            look.vertices_m,
            look.faces,
            np.tile(UPRIGHT.astype(np.float32), (instances, 1)),
            np.zeros((instances, 3), np.float32),
            batched_colors=more.pop("rgb", look.rgb),
            opacity=more.pop("opacity", look.opacity if clear else None),
            flat_shading=True,
            side=_side(look),
            lod="auto" if instances * len(look.faces) > MANY else "off",  # codespell:ignore lod
            cast_shadow=not clear,
            receive_shadow=not clear,
            **more,
        )

    def mesh(self, name: str, look: Look, *, shadow: bool = True) -> viser.MeshHandle:
        """One look in the world's axes, which may throw a shadow."""
        clear = look.opacity < 1.0
        wide = float(np.ptp(look.vertices_m, axis=0).max())
        return self.scene.add_mesh_simple(
            f"{self.prefix}/{name}",
            look.vertices_m,
            look.faces,
            color=look.rgb,
            opacity=look.opacity if clear else None,
            flat_shading=True,
            side=_side(look),
            cast_shadow=shadow and not clear and wide < LARGEST_SHADOW_M,
            receive_shadow=not clear,
        )

    def lines(
        self, name: str, points: Pieces, rgb: Rgb | np.ndarray, width_pixels: float
    ) -> viser.LineSegmentsHandle:
        """Pieces of lines, as wide from near as from afar."""
        return self.scene.add_line_segments(
            f"{self.prefix}/{name}",
            points.astype(np.float32),
            rgb,
            thickness=width_pixels,
            thickness_units="screen",
        )

    def empty_lines(
        self, name: str, pieces: int, rgb: Rgb | np.ndarray, width_pixels: float
    ) -> viser.LineSegmentsHandle:
        """So many pieces that have no place yet."""
        return self.lines(name, np.zeros((pieces, 2, 3)), rgb, width_pixels)

    def remove(self) -> None:
        """Takes all of them away."""
        self.scene.remove_by_name(self.prefix)


def show(handle: Any, *, shown: bool) -> None:
    """Shows or hides a node; nothing is sent where nothing changes."""
    if handle.visible != shown:
        handle.visible = shown


def change(handle: Any, **values: np.ndarray) -> None:
    """Sends only what differs from what is shown."""
    for name, value in values.items():
        if not np.array_equal(getattr(handle, name), value):
            setattr(handle, name, value)


def _side(look: Look) -> Any:
    """What is seen from outside only throws its shadow with its far side, not onto itself."""
    return "front" if look.opacity >= 1.0 and is_closed(look) else "double"
