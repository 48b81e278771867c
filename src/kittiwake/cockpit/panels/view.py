"""Panels of the view: camera and screenshots of one browser, layers of all browsers."""

from collections.abc import Callable
from dataclasses import fields
from io import BytesIO

import viser
from PIL import Image

from kittiwake.cockpit.browser_camera import EVERYTHING, FREE, VIEWS, BrowserCamera
from kittiwake.cockpit.layer_options import Options
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.cockpit.theme import DARK, LIGHT, configure_controls, configure_sky
from kittiwake.scene.scene_state import SceneState

# browsers with software rendering are slow
TIMEOUT_S = 60.0
# below the controls of each browser, which are used more
LAST = 1e9


class LayersPanel:
    """Visibility of the scene layers."""

    def __init__(self, context: PanelContext, options: Options) -> None:
        with context.gui.add_folder("Layers", order=LAST):
            for layer in fields(options):
                shown = bool(getattr(options, layer.name))
                box = context.gui.add_checkbox(layer.name, initial_value=shown)
                box.on_update(context.user_action(self._toggle(options, layer.name)))

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""

    def _toggle(self, options: Options, layer: str) -> Callable[[ControlEvent], None]:
        return lambda event: setattr(options, layer, bool(event.target.value))


class ViewPanel:
    """Camera, theme and screenshots of a browser."""

    def __init__(self, context: PanelContext, camera: BrowserCamera, scene: viser.SceneApi) -> None:
        self._context, self._browser_camera, self._scene = context, camera, scene
        gui = context.gui
        self._camera = gui.add_dropdown("Camera", VIEWS, initial_value=camera.view)
        home = gui.add_button("Fit view", hint="Begin the view again; if free, show everything.")
        theme = gui.add_dropdown("Theme", (LIGHT, DARK))
        picture = gui.add_button("Save screenshot (PNG)")
        self._camera.on_update(context.user_action(lambda event: self._start(event.target.value)))
        home.on_click(context.user_action(self._fit))
        theme.on_update(context.user_action(lambda event: self._set_theme(event.target.value)))
        picture.on_click(context.user_action(self._screenshot))
        for number, view in enumerate(VIEWS, start=1):
            gui.add_command(f"Camera: {view}", hotkey=str(number)).on_trigger(  # pyright: ignore[reportArgumentType]
                lambda _, view=view: self._choose(view)
            )

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""

    def follow(self, scene_state: SceneState) -> None:
        """Move the camera with its target."""
        self._browser_camera.update(scene_state, self._context.selected)

    def _start(self, view: str) -> None:
        self._browser_camera.start(view, self._context.selected)

    def _choose(self, view: str) -> None:
        self._camera.value = view
        self._start(view)

    def _fit(self, event: ControlEvent) -> None:
        del event
        view = self._browser_camera.view
        self._start(EVERYTHING if view == FREE else view)
        self._browser_camera.view = view

    def _set_theme(self, theme: str) -> None:
        configure_controls(self._context.gui, theme)
        configure_sky(self._scene, self._context.flight, theme)

    def _screenshot(self, event: ControlEvent) -> None:
        height, width = event.client.camera.image_height, event.client.camera.image_width
        pixels = event.client.get_render(height, width, transport_format="png", timeout=TIMEOUT_S)
        png = BytesIO()
        Image.fromarray(pixels[:, :, :3]).save(png, format="PNG")
        name = f"{self._context.flight.scenario.name}.png"
        event.client.send_file_download(name, png.getvalue(), save_immediately=True)
