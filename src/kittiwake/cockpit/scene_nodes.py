"""A show in viser's scene: nodes that are made once, and changed in place at each frame."""

import numpy as np
import viser
from jaxtyping import Float

from kittiwake.cockpit.layers import Layer, Layers, Options, largest_m
from kittiwake.cockpit.nodes import Nodes
from kittiwake.scene.extent import extent_of
from kittiwake.scene.frame import Frame, Show
from kittiwake.scene.lines import PLACE
from kittiwake.scene.moving_bodies import MovingBodies
from kittiwake.scene.selection import Selection
from kittiwake.scene.static_objects import is_water, static_lines, static_looks
from kittiwake.scene.water import Sea, has_waves

SKY_RGB, HORIZON_RGB = (168, 203, 232), (232, 240, 246)
SKY_PIXELS = (360, 640)
# of a picture's height from above, where the sky is as pale as it gets
HORIZON_SHARE = 0.4
AMBIENT, GROUND_LIGHT_RGB = 1.9, (150, 150, 140)
# of the widest side of what is looked at, from where on all is paler, and nothing is seen
FOG = (1.5, 6.0)
GHOST_RGB, GHOST_OPACITY = (70, 120, 200), 0.35
EDGE_WIDTH = 1.0
# pieces of the stage that throw no shadow
LOW = ("ground", "water", "terrain", "land")
# from what is looked at to the camera: behind, to the right and above; of unit length
HOME_DIRECTION = np.array([-0.621, -0.661, 0.421])


class SceneNodes:
    """What a show looks like at a frame.

    As a ghost it is the cast and its trails alone, translucent and in one color, beside another.
    """

    def __init__(
        self, scene: viser.SceneApi, show: Show, *, ghost: bool = False, name: str = ""
    ) -> None:
        self.options = Options()
        self._show = show
        self._nodes = Nodes(scene, f"/{name or ('ghost' if ghost else 'show')}")
        self._cast = MovingBodies(show)
        looks = [part.look for part in self._cast.parts]
        if ghost:
            looks = [
                look._replace(rgb=GHOST_RGB, opacity=GHOST_OPACITY * look.opacity) for look in looks
            ]
        self._parts = [
            self._nodes.batch(f"cast/{part.name}", look, part.instances)
            for part, look in zip(self._cast.parts, looks, strict=True)
        ]
        layers = Layers(self._nodes, show, self.options)
        self._layers = [layers.trails(GHOST_RGB if ghost else None)]
        if not ghost:
            self._layers += [*self._stand(), *layers.all()]
            self._light()

    def draw(self, frame: Frame) -> None:
        """Everything as it is at a frame."""
        for handle, poses in zip(self._parts, self._cast.poses(frame), strict=True):
            handle.batched_positions = poses.positions_world_m.astype(np.float32)
            handle.batched_wxyzs = poses.q_world_from_part.astype(np.float32)
        for layer in self._layers:
            layer(frame)

    def remove(self) -> None:
        """Takes all of it away, but for the sky."""
        self._nodes.remove()

    def _stand(self) -> list[Layer]:
        """The stage; of it, only waves move."""
        wet = has_waves(self._show)
        for name, look in static_looks(self._show):
            if not (wet and is_water(name)):
                self._nodes.mesh(f"stage/{name}", look, shadow=not name.startswith(LOW))
        for name, lines in static_lines(self._show):
            self._nodes.lines(f"stage/{name}", lines.points_world_m, lines.rgb, EDGE_WIDTH)
        return [self._waves()] if wet else []

    def _waves(self) -> Layer:
        sea, names = Sea(self._show), list(self._show.scenario.vehicles)
        selection = Selection(self._show, names, PLACE)
        center = extent_of(self._show).center_world_m[:2]
        handle = self._nodes.mesh("stage/waves", sea.look(0.0, center), shadow=False)

        def draw(frame: Frame) -> None:
            places = selection.of(frame)[:, :2]
            known = places[np.isfinite(places).all(axis=1)]
            around = known.mean(axis=0) if len(known) else center
            handle.vertices = sea.vertices_world_m(frame.time_s, around).astype(np.float32)

        return draw

    def _light(self) -> None:
        """A pale sky, light from it and from the ground, and haze where the country ends."""
        scene, (rows, columns) = self._nodes.scene, SKY_PIXELS
        share = np.minimum(np.linspace(0.0, 1.0 / HORIZON_SHARE, rows), 1.0)[:, None, None]
        sky = np.array(SKY_RGB) * (1.0 - share) + np.array(HORIZON_RGB) * share
        picture = np.broadcast_to(sky, (rows, columns, 3)).astype(np.uint8)
        scene.set_background_image(np.ascontiguousarray(picture))
        # the light of a room, which viser has by itself, would make everything pale
        scene.configure_environment_map(None)
        scene.add_light_hemisphere(
            f"{self._nodes.prefix}/light",
            sky_color=(255, 255, 255),
            ground_color=GROUND_LIGHT_RGB,
            intensity=AMBIENT,
        )
        wide = extent_of(self._show).widest_m
        scene.configure_fog(FOG[0] * wide, FOG[1] * wide, color=HORIZON_RGB)


def home_camera(show: Show, frame: Frame) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
    """From where everything that is flown is seen, and where to look: obliquely from behind."""
    places = Selection(show, list(show.scenario.vehicles), PLACE).of(frame)
    trails = [trail for trail in frame.trails.values() if len(trail)]
    every = np.concatenate([places, *trails])
    every = every[np.isfinite(every).all(axis=1)]
    if len(every) == 0:
        every = extent_of(show).center_world_m[None]
    low, high = every.min(axis=0), every.max(axis=0)
    reach = max(0.7 * float(np.linalg.norm(high - low)), 1.8 * largest_m(show))
    center = 0.5 * (low + high)
    return center + 1.3 * reach * HOME_DIRECTION, center
