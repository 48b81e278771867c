"""Nodes of a viser scene below a common name."""

from typing import Any, Literal

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.rotation import UPRIGHT
from kittiwake.rendering.shapes import Rgb, is_closed

# batches with more triangles get levels of detail
LARGE_TRIANGLES = 100_000
# larger meshes cast no shadow, which would blur all other shadows
MAX_SHADOW_M = 60.0

LineSegments = Float[np.ndarray, "pieces 2 3"]


class NodeFactory:
    """Factory of nodes with a common prefix."""

    def __init__(self, scene: viser.SceneApi, prefix: str) -> None:
        self.scene, self.prefix = scene, prefix

    def batch(
        self, name: str, mesh: ColoredMesh, instances: int, **more: Any
    ) -> viser.BatchedMeshHandle:
        """Add instances of a mesh, initially at the origin."""
        translucent = mesh.opacity < 1.0
        is_large = instances * len(mesh.faces) > LARGE_TRIANGLES
        return self.scene.add_batched_meshes_simple(
            f"{self.prefix}/{name}",
            mesh.vertices_m,
            mesh.faces,
            np.tile(UPRIGHT.astype(np.float32), (instances, 1)),
            np.zeros((instances, 3), np.float32),
            batched_colors=more.pop("rgb", mesh.rgb),
            opacity=more.pop("opacity", mesh.opacity if translucent else None),
            flat_shading=True,
            side=_side(mesh),
            lod="auto" if is_large else "off",  # codespell:ignore lod
            cast_shadow=not translucent,
            receive_shadow=not translucent,
            **more,
        )

    def mesh(self, name: str, mesh: ColoredMesh, *, shadow: bool = True) -> viser.MeshHandle:
        """Add a mesh in world axes, optionally with a shadow."""
        translucent = mesh.opacity < 1.0
        width_m = float(np.ptp(mesh.vertices_m, axis=0).max())
        return self.scene.add_mesh_simple(
            f"{self.prefix}/{name}",
            mesh.vertices_m,
            mesh.faces,
            color=mesh.rgb,
            opacity=mesh.opacity if translucent else None,
            flat_shading=True,
            side=_side(mesh),
            cast_shadow=shadow and not translucent and width_m < MAX_SHADOW_M,
            receive_shadow=not translucent,
        )

    def lines(
        self, name: str, points: LineSegments, rgb: Rgb | np.ndarray, width_pixels: float
    ) -> viser.LineSegmentsHandle:
        """Add line segments of constant width on the screen."""
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
        """Add line segments of zero length, to be moved later."""
        return self.lines(name, np.zeros((pieces, 2, 3)), rgb, width_pixels)

    def remove(self) -> None:
        """Remove all nodes below the prefix."""
        self.scene.remove_by_name(self.prefix)


def set_visible(handle: viser.SceneNodeHandle, *, visible: bool) -> None:
    """Show or hide a node; send nothing if nothing changes."""
    if handle.visible != visible:
        handle.visible = visible


def update_node(handle: viser.SceneNodeHandle, **values: np.ndarray) -> None:
    """Set arrays of a node; send only the changed ones.

    viser examines type hints at each assignment, which would take most of the time of a frame.
    """
    state = handle._impl  # pyright: ignore[reportPrivateUsage]
    if state.removed:
        return
    for name, value in values.items():
        now = getattr(state.props, name)
        # neither the caller nor viser may change what is still to be sent
        new = np.array(value, np.float32 if now is None else now.dtype)
        if now is None or not np.array_equal(now, new):
            setattr(state.props, name, new)
            handle._queue_update(name, new)  # pyright: ignore[reportPrivateUsage]


def _side(mesh: ColoredMesh) -> Literal["front", "double"]:
    """Return the drawn side; meshes drawn from outside only cast no shadow on themselves."""
    return "front" if mesh.opacity >= 1.0 and is_closed(mesh) else "double"
