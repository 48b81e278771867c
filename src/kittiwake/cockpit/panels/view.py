"""Panels of the view: camera and screenshots of one browser, layers of all browsers."""

from collections.abc import Callable
from dataclasses import fields
from io import BytesIO
from itertools import count

import numpy as np
import viser
from jaxtyping import Float
from PIL import Image

from kittiwake.cockpit.frame_buffer import FrameSource
from kittiwake.cockpit.layers import Options
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.scene_nodes import home_camera
from kittiwake.scene.scene_state import FlightInfo, SceneState

EMPTY_SCENE_STATE = SceneState(0.0, {}, {})
FREE, FOLLOW = "free", "follow selected vehicle"
# browsers with software rendering are slow
TIMEOUT_S = 60.0

Place = Float[np.ndarray, "3"]


class LayersPanel:
    """Visibility of the scene layers."""

    def __init__(self, context: PanelContext, options: Options) -> None:
        with context.gui.add_folder("Layers"):
            for layer in fields(options):
                shown = bool(getattr(options, layer.name))
                box = context.gui.add_checkbox(layer.name, initial_value=shown)
                box.on_update(context.user_action(self._toggle(options, layer.name)))

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""

    def _toggle(self, options: Options, layer: str) -> Callable[[ControlEvent], None]:
        return lambda event: setattr(options, layer, bool(event.target.value))


class BrowserCamera:
    """Camera of a browser.

    Attributes:
        flight: the flight that it shows.
    """

    def __init__(self, client: viser.ClientHandle, flight: FlightInfo, source: FrameSource) -> None:
        self._client, self.flight, self._source = client, flight, source
        # initial offset from the target, until the browser confirms it
        self._initial_offset: Place | None = None

    def set_initial_view(self) -> None:
        """Show all vehicles, and wait for the browser to confirm the view.

        A slow browser keeps reporting its default view for a while. The first update is skipped:
        it is triggered while the browser's first message is handled, and echoes the view set here.
        """
        position, target = self._home()
        offset = self._initial_offset = position - target
        updates = count()

        # a coroutine, so that viser awaits it before other camera updates
        async def on_update(camera: viser.CameraHandle) -> None:
            if next(updates) > 0 and np.allclose(
                _offset(camera), offset, atol=0.01 * float(np.linalg.norm(offset))
            ):
                self._initial_offset = None

        self._client.camera.on_update(on_update)
        self.fit()

    def fit(self) -> None:
        """Show all vehicles."""
        self._client.camera.position, self._client.camera.look_at = self._home()

    def follow(self, place: Place) -> None:
        """Look at a position, from the direction and distance that the user has chosen.

        The reported camera position is delayed, but its offset from the target is not.
        """
        camera, offset = self._client.camera, self._initial_offset
        offset = _offset(camera) if offset is None else offset
        with self._client.atomic():  # a partial update would accumulate to a drift
            camera.position, camera.look_at = place + offset, place

    def _home(self) -> tuple[Place, Place]:
        return home_camera(self.flight, self._source.scene_state() or EMPTY_SCENE_STATE)


class ViewPanel:
    """Camera and screenshot controls of a browser."""

    def __init__(self, context: PanelContext, camera: BrowserCamera) -> None:
        self._context, self._browser_camera = context, camera
        gui = context.gui
        self._camera = gui.add_dropdown("Camera", (FOLLOW, FREE))
        home = gui.add_button("Fit view", hint="Show all vehicles and switch to the free camera.")
        picture = gui.add_button("Save screenshot (PNG)")
        home.on_click(context.user_action(self._fit))
        picture.on_click(context.user_action(self._screenshot))

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""

    def follow(self, scene_state: SceneState) -> None:
        """Point a following camera at the selected vehicle."""
        row = self._context.row(scene_state)
        place = np.array([row[f"{axis}_m"] for axis in "xyz"])
        if self._camera.value == FOLLOW and np.isfinite(place).all():
            self._browser_camera.follow(place)

    def _fit(self, event: ControlEvent) -> None:
        del event
        self._camera.value = FREE
        self._browser_camera.fit()

    def _screenshot(self, event: ControlEvent) -> None:
        height, width = event.client.camera.image_height, event.client.camera.image_width
        pixels = event.client.get_render(height, width, transport_format="png", timeout=TIMEOUT_S)
        png = BytesIO()
        Image.fromarray(pixels[:, :, :3]).save(png, format="PNG")
        name = f"{self._context.flight.scenario.name}.png"
        event.client.send_file_download(name, png.getvalue(), save_immediately=True)


def _offset(camera: viser.CameraHandle) -> Place:
    return np.asarray(camera.position) - np.asarray(camera.look_at)
