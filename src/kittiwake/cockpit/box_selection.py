"""Vehicles that a user has selected in the scene by a box, with a ring around each."""

from collections.abc import Callable

import numpy as np
import viser
from jaxtyping import Bool, Float

from kittiwake.cockpit.browser_camera import size_m
from kittiwake.cockpit.node_factory import NodeFactory, update_node
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.rendering.rotation import UPRIGHT, rotated
from kittiwake.rendering.shapes import ring
from kittiwake.scene.lines import POSITION
from kittiwake.scene.scene_state import SceneState
from kittiwake.scene.selection import Selection

RING_RGB = (250, 180, 30)
# inner radius of a ring, with an outer one of 1, and outer radius relative to the vehicle
INNER, RING_SHARE = 0.85, 0.9
# modifier key of the mouse
MODIFIER = "shift"

Positions = Float[np.ndarray, "vehicles 3"]


class BoxSelection:
    """Vehicles in the box that a user has last drawn with the mouse.

    Attributes:
        vehicles: their names, empty without a box.
    """

    def __init__(
        self, context: PanelContext, scene: viser.SceneApi, on_change: Callable[[], None]
    ) -> None:
        self._context, self._on_change = context, on_change
        self._nodes = NodeFactory(scene, "/selected")
        self._rings: viser.BatchedMeshHandle | None = None
        self.vehicles: tuple[str, ...] = ()
        scene.on_rect_select(modifier=MODIFIER)(self._on_box)

    def set(self, vehicles: tuple[str, ...]) -> None:
        """Select these vehicles and no others."""
        self.vehicles = vehicles
        if self._rings is not None:
            self._rings.remove()
            self._rings = None
        if vehicles:
            self._add_rings(vehicles)
        self._on_change()

    def update(self, scene_state: SceneState) -> None:
        """Move the rings with their vehicles."""
        there = tuple(name for name in self.vehicles if name in self._context.flight.columns)
        if there != self.vehicles:  # some have been removed
            self.set(there)
        if self._rings is not None:
            positions = self._positions.of(scene_state)
            update_node(self._rings, batched_positions=np.nan_to_num(positions))

    def _add_rings(self, vehicles: tuple[str, ...]) -> None:
        flight = self._context.flight
        self._positions = Selection(flight, vehicles, POSITION)
        sizes = [size_m(flight.scenario.vehicles[name]) for name in vehicles]
        self._rings = self._nodes.batch(
            "rings",
            ring(INNER, 1.0).colored(RING_RGB, 0.9),
            len(vehicles),
            batched_scales=np.array(sizes, np.float32) * RING_SHARE,
        )

    def _on_box(self, event: viser.SceneRectSelectEvent) -> None:
        scene_state = self._context.source.scene_state()
        if scene_state is None:
            return
        names = list(self._context.flight.columns)
        positions = Selection(self._context.flight, names, POSITION).of(scene_state)
        inside = in_box(event.client.camera, positions, event.screen_min, event.screen_max)
        self.set(tuple(name for name, one in zip(names, inside, strict=True) if one))


def in_box(
    camera: viser.CameraHandle,
    positions_world_m: Positions,
    low: tuple[float, float],
    high: tuple[float, float],
) -> Bool[np.ndarray, " vehicles"]:
    """Return which positions are in a box of the image, whose sides reach from 0 to 1."""
    q = np.asarray(camera.wxyz, float) * np.where(UPRIGHT > 0.0, 1.0, -1.0)
    offsets = positions_world_m - np.asarray(camera.position)
    right, down, ahead = rotated(np.broadcast_to(q, (len(offsets), 4)), offsets).T
    half_height = np.tan(0.5 * camera.fov) * np.where(ahead > 0.0, ahead, np.nan)
    x, y = 0.5 + 0.5 * right / (half_height * camera.aspect), 0.5 + 0.5 * down / half_height
    return (low[0] <= x) & (x <= high[0]) & (low[1] <= y) & (y <= high[1])
