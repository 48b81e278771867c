"""Sonar cones as three meshes: with an echo, without an echo, and waiting.

Each mesh contains all cones, so that its triangles are constant; cones in another state are
collapsed to points.
"""

import numpy as np
from jaxtyping import Float

from kittiwake.rendering.colored_mesh import ColoredMesh
from kittiwake.rendering.rotation import rotated
from kittiwake.scene.scene_state import SceneState
from kittiwake.scene.sensor_beams import (
    ECHO_OPACITY,
    ECHO_RGB,
    SILENT_OPACITY,
    SILENT_RGB,
    WAITING_OPACITY,
    WAITING_RGB,
    SensorBeams,
    cone_mesh,
)

KINDS = (
    (ECHO_RGB, ECHO_OPACITY),
    (SILENT_RGB, SILENT_OPACITY),
    (WAITING_RGB, WAITING_OPACITY),
)

Vertices = Float[np.ndarray, "vertices 3"]


class SoundCones:
    """Meshes of the sonar cones of a flight."""

    def __init__(self, beams: SensorBeams) -> None:
        self._beams = beams
        cone = cone_mesh()
        count, corners = beams.cones, len(cone.vertices_m)
        self._cone_m = cone.vertices_m.astype(float)
        faces = cone.faces + corners * np.arange(count, dtype=np.int32)[:, None, None]
        vertices = np.tile(cone.vertices_m, (count, 1))
        self.meshes = [
            ColoredMesh(vertices, faces.reshape(-1, 3).astype(np.int32), rgb, opacity)
            for rgb, opacity in (KINDS if count else ())
        ]

    def shapes(self, scene_state: SceneState) -> list[Vertices]:
        """Return the vertices of each mesh in world axes."""
        if not self.meshes:
            return []
        cones = self._beams.cones_at(scene_state)
        place, q = cones.poses
        count, corners = len(place), len(self._cone_m)
        own = (cones.scales[:, None] * self._cone_m).reshape(-1, 3)
        turned = rotated(np.repeat(q, corners, axis=0), own).reshape(count, corners, 3)
        return [
            (
                place[:, None] + turned * (cones.rgb == np.array(rgb)).all(axis=1)[:, None, None]
            ).reshape(-1, 3)
            for rgb, _ in KINDS
        ]
