"""From where it is seen, and pictures of it, on one page; what is drawn, on all."""

from dataclasses import fields
from io import BytesIO
from itertools import count
from typing import Any

import numpy as np
import viser
from jaxtyping import Float
from PIL import Image

from kittiwake.cockpit.frame_buffer import FrameSource
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.scene_nodes import SceneNodes, home_camera
from kittiwake.scene.frame import Frame, Show

NOTHING_YET = Frame(0.0, {}, {})
FREE, FOLLOW = "free", "follow the picked vehicle"
# a browser that draws in software takes its time
PATIENCE_S = 60.0

Place = Float[np.ndarray, "3"]


class LayersPanel:
    """What is drawn."""

    def __init__(self, context: PanelContext, scene: SceneNodes) -> None:
        with context.gui.add_folder("Layers"):
            for layer in fields(scene.options):
                shown = bool(getattr(scene.options, layer.name))
                box = context.gui.add_checkbox(layer.name, initial_value=shown)
                box.on_update(context.by_hand(self._toggle(scene, layer.name)))

    def update(self, frame: Frame) -> None:
        """Nothing of it changes by itself."""

    def _toggle(self, scene: SceneNodes, layer: str) -> Any:
        return lambda event: setattr(scene.options, layer, bool(event.target.value))


class Eye:
    """The camera of a browser."""

    def __init__(self, client: viser.ClientHandle, show: Show, source: FrameSource) -> None:
        self._client, self._show, self._source = client, show, source
        # until the browser says that it looks from there
        self._away_at_first: Place | None = None

    def greet(self) -> None:
        """Shows everything; a slow browser tells of the view that it began with for a while.

        It is greeted while its first message is read, and that is then heard at once: with the
        camera that it was just told to take.
        """
        position, target = self._home()
        away = self._away_at_first = position - target
        said = count()

        # awaited before anybody else sets the camera that a browser has told of
        async def heard(camera: Any) -> None:
            if next(said) > 0 and np.allclose(
                _away(camera), away, atol=0.01 * float(np.linalg.norm(away))
            ):
                self._away_at_first = None

        self._client.camera.on_update(heard)
        self.see_all()

    def see_all(self) -> None:
        """Looks at everything."""
        self._client.camera.position, self._client.camera.look_at = self._home()

    def follow(self, place: Place) -> None:
        """Looks at a place, from the side and distance that people choose.

        Where a browser's camera is comes late, how far it is from what it looks at does not.
        """
        camera, away = self._client.camera, self._away_at_first
        away = _away(camera) if away is None else away
        with self._client.atomic():  # half of it seen would add up to a drift
            camera.position, camera.look_at = place + away, place

    def _home(self) -> tuple[Place, Place]:
        return home_camera(self._show, self._source.frame() or NOTHING_YET)


class ViewPanel:
    """Camera and picture of a browser."""

    def __init__(self, context: PanelContext, eye: Eye) -> None:
        self._context, self._eye = context, eye
        gui = context.gui
        self._camera = gui.add_dropdown("Camera", (FOLLOW, FREE))
        home = gui.add_button("See everything", hint="The camera then stays where it is.")
        picture = gui.add_button("Save a picture (PNG)")
        home.on_click(context.by_hand(self._see_all))
        picture.on_click(context.by_hand(self._picture))

    def update(self, frame: Frame) -> None:
        """Nothing of it changes by itself."""

    def follow(self, frame: Frame) -> None:
        """A camera that follows looks at the picked vehicle."""
        row = self._context.row(frame)
        place = np.array([row[f"{axis}_m"] for axis in "xyz"])
        if self._camera.value == FOLLOW and np.isfinite(place).all():
            self._eye.follow(place)

    def _see_all(self, event: Any) -> None:
        del event
        self._camera.value = FREE
        self._eye.see_all()

    def _picture(self, event: Any) -> None:
        height, width = event.client.camera.image_height, event.client.camera.image_width
        seen = event.client.get_render(height, width, transport_format="png", timeout=PATIENCE_S)
        kept = BytesIO()
        Image.fromarray(seen[:, :, :3]).save(kept, format="PNG")
        name = f"{self._context.show.scenario.name}.png"
        event.client.send_file_download(name, kept.getvalue(), save_immediately=True)


def _away(camera: Any) -> Place:
    return np.asarray(camera.position) - np.asarray(camera.look_at)
