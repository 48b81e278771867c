"""A flight in a viser scene: nodes are created once and updated at each frame."""

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.cockpit.layers import Layer, Layers, Options, largest_m
from kittiwake.cockpit.node_factory import NodeFactory
from kittiwake.scene.extent import extent_of
from kittiwake.scene.lines import POSITION
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.scene_state import FlightInfo, SceneState
from kittiwake.scene.selection import Selection
from kittiwake.scene.static_objects import is_water, static_lines, static_meshes
from kittiwake.scene.water import Sea, has_waves

SKY_RGB, HORIZON_RGB = (168, 203, 232), (232, 240, 246)
SKY_PIXELS = (360, 640)
# share of the picture's height from the top at which the sky is palest
HORIZON_SHARE = 0.4
AMBIENT, GROUND_LIGHT_RGB = 1.9, (150, 150, 140)
# start and end of the fog relative to the widest side of the extent
FOG = (1.5, 6.0)
GHOST_RGB, GHOST_OPACITY = (70, 120, 200), 0.35
EDGE_WIDTH = 1.0
# static objects without a shadow
SHADOWLESS = ("ground", "water", "terrain", "land")
# unit vector from the target to the camera: behind, to the right and above
HOME_DIRECTION = np.array([-0.621, -0.661, 0.421])


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
        layers = Layers(self._nodes, flight, self.options)
        self._layers = [layers.trails(GHOST_RGB if ghost else None)]
        if not ghost:
            self._layers += [*self._add_static(), *layers.all()]
            self._add_light()

    def draw(self, scene_state: SceneState) -> None:
        """Update all nodes to a scene state."""
        for handle, poses in zip(self._parts, self._bodies.poses(scene_state), strict=True):
            handle.batched_positions = poses.positions_world_m.astype(np.float32)
            handle.batched_wxyzs = poses.q_world_from_part.astype(np.float32)
        for layer in self._layers:
            layer(scene_state)

    def remove(self) -> None:
        """Remove all nodes except the sky."""
        self._nodes.remove()

    def _add_static(self) -> list[Layer]:
        """Add the static objects; return the layer of waves, if any."""
        has_moving_water = has_waves(self._flight)
        for name, mesh in static_meshes(self._flight):
            if not (has_moving_water and is_water(name)):
                self._nodes.mesh(f"static/{name}", mesh, shadow=not name.startswith(SHADOWLESS))
        for name, lines in static_lines(self._flight):
            self._nodes.lines(f"static/{name}", lines.points_world_m, lines.rgb, EDGE_WIDTH)
        return [self._waves()] if has_moving_water else []

    def _waves(self) -> Layer:
        sea, names = Sea(self._flight), list(self._flight.scenario.vehicles)
        selection = Selection(self._flight, names, POSITION)
        center = extent_of(self._flight).center_world_m[:2]
        handle = self._nodes.mesh("static/waves", sea.mesh(0.0, center), shadow=False)

        def draw(scene_state: SceneState) -> None:
            places = selection.of(scene_state)[:, :2]
            finite = places[np.isfinite(places).all(axis=1)]
            around = finite.mean(axis=0) if len(finite) else center
            handle.vertices = sea.vertices_world_m(scene_state.time_s, around).astype(np.float32)

        return draw

    def _add_light(self) -> None:
        """Set the sky, the ambient light and the fog at the horizon."""
        scene, (rows, columns) = self._nodes.scene, SKY_PIXELS
        share = np.minimum(np.linspace(0.0, 1.0 / HORIZON_SHARE, rows), 1.0)[:, None, None]
        sky = np.array(SKY_RGB) * (1.0 - share) + np.array(HORIZON_RGB) * share
        picture = np.broadcast_to(sky, (rows, columns, 3)).astype(np.uint8)
        scene.set_background_image(np.ascontiguousarray(picture))
        # viser's default indoor environment map would brighten everything
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            f"{self._nodes.prefix}/light",
            sky_color=(255, 255, 255),
            ground_color=GROUND_LIGHT_RGB,
            intensity=AMBIENT,
        )
        width_m = extent_of(self._flight).widest_m
        scene.configure_fog(FOG[0] * width_m, FOG[1] * width_m, color=HORIZON_RGB)


def home_camera(
    flight: FlightInfo, scene_state: SceneState
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """Return the position and target of a camera that shows all vehicles, from behind and above."""
    places = Selection(flight, list(flight.scenario.vehicles), POSITION).of(scene_state)
    trails = [trail for trail in scene_state.trails.values() if len(trail)]
    positions = np.concatenate([places, *trails])
    positions = positions[np.isfinite(positions).all(axis=1)]
    if len(positions) == 0:
        positions = extent_of(flight).center_world_m[None]
    low, high = positions.min(axis=0), positions.max(axis=0)
    distance_m = max(0.7 * float(np.linalg.norm(high - low)), 1.8 * largest_m(flight))
    center = 0.5 * (low + high)
    return center + 1.3 * distance_m * HOME_DIRECTION, center
