"""A flight in a viser scene: nodes are created once and updated at each frame."""

from collections.abc import Callable
from typing import Any

import numpy as np
import viser
from viser import SceneNodeDragEvent

from kittiwake.cockpit.browser_camera import far_m
from kittiwake.cockpit.field_layer import field_layer
from kittiwake.cockpit.ground_layers import add_ground, area_layer, grid_layer, height_layer
from kittiwake.cockpit.layer_options import Layer, Options
from kittiwake.cockpit.layers import Layers
from kittiwake.cockpit.node_factory import NodeFactory, update_node
from kittiwake.rendering.shapes import Rgb
from kittiwake.scene.extent import extent_of
from kittiwake.scene.lines import POSITION, color_of, mark_segments
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import Selection
from kittiwake.scene.static_objects import objects_on_ground, region_arrows
from kittiwake.scene.water import Sea, has_waves

GHOST_RGB, GHOST_OPACITY = (70, 120, 200), 0.35
# in pixels
EDGE_WIDTH, MARK_WIDTH = 1.0, 6.0
GAMMA = 2.2
# static objects without a shadow
SHADOWLESS = ("terrain", "land")


class SceneNodes:
    """Scene of a flight.

    A ghost consists of translucent vehicles and trails in one color, shown beside another flight.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        flight: FlightInfo,
        *,
        ghost: bool = False,
        name: str = "",
        options: Options | None = None,
    ) -> None:
        self.options = options or Options()
        self._flight = flight
        self._nodes = NodeFactory(scene, f"/{name or ('ghost' if ghost else 'flight')}")
        self._bodies = MovingBodies(flight)
        vehicles = flight.scenario.vehicles.values()
        self._lengths_m = np.array([float(one.dynamics.size_body_m.x) for one in vehicles])
        meshes = [part.mesh for part in self._bodies.parts]
        if ghost:
            meshes = [
                mesh._replace(rgb=GHOST_RGB, opacity=GHOST_OPACITY * mesh.opacity)
                for mesh in meshes
            ]
        self._parts = [
            self._nodes.batch(f"bodies/{part.name}", mesh, part.instances)
            for part, mesh in zip(self._bodies.parts, meshes, strict=True)
        ]
        self._marks = self._add_marks(GHOST_RGB if ghost else None)
        layers = Layers(self._nodes, flight, self.options)
        self._layers = [layers.trails(GHOST_RGB if ghost else None)]
        if not ghost:
            self._layers += [*self._add_static(), *self._ground_layers(), *layers.all()]

    def draw(self, scene_state: SceneState) -> None:
        """Update all nodes to a scene state."""
        for handle, poses in zip(self._parts, self._bodies.poses(scene_state), strict=True):
            update_node(
                handle,
                batched_positions=poses.positions_world_m,
                batched_wxyzs=poses.q_world_from_part,
            )
        marks = mark_segments(self._bodies.positions_world_m, self._lengths_m)
        update_node(self._marks, points=marks)
        for layer in self._layers:
            layer(scene_state)

    def on_push(self, push: Callable[[str, SceneNodeDragEvent[Any]], None]) -> None:
        """Call a function with the vehicle and the event when a body has been dragged with Ctrl."""
        for part, handle in zip(self._bodies.parts, self._parts, strict=True):
            if part.vehicles:
                handle.on_drag("left", modifier="cmd/ctrl")(_on_drag_end(part.vehicles, push))

    def remove(self) -> None:
        """Remove all nodes."""
        self._nodes.remove()

    def _add_marks(self, rgb: Rgb | None) -> viser.LineSegmentsHandle:
        """Add dots in the vehicles' colors, which are seen where the bodies are too far away."""
        numbers = range(len(self._lengths_m))
        shares = np.array([rgb or color_of(number) for number in numbers]) / 255.0
        # viser takes colors of vertices as linear
        colors = np.repeat(255.0 * shares[:, None] ** GAMMA, 2, axis=1).astype(np.uint8)
        return self._nodes.empty_lines("bodies/marks", len(colors), colors, MARK_WIDTH)

    def _add_static(self) -> list[Layer]:
        """Add the static objects; return the layer of waves, if any."""
        add_ground(self._nodes, self._flight, far_m(self._flight))
        for name, mesh in objects_on_ground(self._flight, far_m(self._flight)):
            self._nodes.mesh(f"static/{name}", mesh, shadow=not name.startswith(SHADOWLESS))
        for name, lines in region_arrows(self._flight):
            self._nodes.lines(f"static/{name}", lines.points_world_m, lines.rgb, EDGE_WIDTH)
        return [self._waves()] if has_waves(self._flight) else []

    def _ground_layers(self) -> list[Layer]:
        nodes, flight, options = self._nodes, self._flight, self.options
        return [
            grid_layer(nodes, flight, options),
            area_layer(nodes, flight, options),
            *height_layer(nodes, flight, options, lambda: self._bodies.positions_world_m),
            *field_layer(nodes, flight, options),
        ]

    def _waves(self) -> Layer:
        sea, names = Sea(self._flight), list(self._flight.scenario.vehicles)
        selection = Selection(self._flight, names, POSITION)
        center = extent_of(self._flight).center_world_m[:2]
        handle = self._nodes.mesh("static/waves", sea.mesh(0.0, center), shadow=False)

        def draw(scene_state: SceneState) -> None:
            places = selection.of(scene_state)[:, :2]
            finite = places[np.isfinite(places).all(axis=1)]
            around = finite.mean(axis=0) if len(finite) else center
            update_node(handle, vertices=sea.vertices_world_m(scene_state.time_s, around))

        return draw


def _on_drag_end(
    vehicles: tuple[str, ...], push: Callable[[str, SceneNodeDragEvent[Any]], None]
) -> Callable[[SceneNodeDragEvent[Any]], None]:
    """Return a drag callback for the instances of a part, which belong to these vehicles."""

    def on_drag(event: SceneNodeDragEvent[Any]) -> None:
        index = event.instance_index
        if event.phase == "end" and index is not None and 0 <= index < len(vehicles):
            push(vehicles[index], event)

    return on_drag
