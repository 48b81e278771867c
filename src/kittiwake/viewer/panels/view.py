"""From where it is seen, what is drawn, and pictures of it."""

from dataclasses import fields
from io import BytesIO
from itertools import count
from typing import Any

import numpy as np
from jaxtyping import Float
from PIL import Image

from kittiwake.viewer.desk import Desk
from kittiwake.viewer.frame import Frame
from kittiwake.viewer.scene import Scene, home_camera

NOTHING_YET = Frame(0.0, {}, {})
FREE, FOLLOW = "free", "follow the picked vehicle"
# a browser that draws in software takes its time
PATIENCE_S = 60.0


class ViewPanel:
    """Camera, layers, picture; cameras belong to each browser by itself."""

    def __init__(self, desk: Desk, scene: Scene) -> None:
        self._desk, self._scene = desk, scene
        # browsers that were told where to look from
        self._greeted: set[int] = set()
        # by browser, until it says that it looks from there
        self._away_at_first: dict[int, np.ndarray] = {}
        gui = desk.server.gui
        self._camera = gui.add_dropdown("Camera", (FOLLOW, FREE))
        home = gui.add_button("See everything", hint="The camera then stays where it is.")
        picture = gui.add_button("Save a picture (PNG)")
        with gui.add_folder("Layers"):
            for layer in fields(scene.options):
                shown = bool(getattr(scene.options, layer.name))
                box = gui.add_checkbox(layer.name, initial_value=shown)
                box.on_update(desk.by_hand(self._toggle(layer.name)))
        home.on_click(desk.by_hand(self._see_all))
        picture.on_click(desk.by_hand(self._picture))
        desk.server.on_client_connect(self._greet)

    def update(self, frame: Frame) -> None:
        """Nothing of it changes by itself."""

    def follow(self, frame: Frame) -> None:
        """Cameras that follow look at the vehicle, from the side and distance that people choose.

        Where a browser's camera is comes late, how far it is from what it looks at does not.
        """
        row = self._desk.row(frame)
        place = np.array([row[f"{axis}_m"] for axis in "xyz"])
        if self._camera.value != FOLLOW or not np.isfinite(place).all():
            return
        for client in self._desk.server.get_clients().values():
            # before that it looks from where no vehicle is
            if client.client_id not in self._greeted:
                continue
            away = self._away_at_first.get(client.client_id, _away(client.camera))
            with client.atomic():  # half of it seen would add up to a drift
                client.camera.position, client.camera.look_at = place + away, place

    def _toggle(self, layer: str) -> Any:
        return lambda event: setattr(self._scene.options, layer, bool(event.target.value))

    def _see_all(self, event: Any) -> None:
        self._camera.value = FREE
        self._look(event.client)

    async def _greet(self, client: Any) -> None:
        """Shows everything; a slow browser tells of the view that it began with for a while.

        It is greeted while its first message is read, and that is then heard at once: with the
        camera that it was just told to take.
        """
        position, target = self._home()
        away = self._away_at_first[client.client_id] = position - target

        said = count()

        # awaited before anybody else sets the camera that a browser has told of
        async def heard(camera: Any) -> None:
            if next(said) > 0 and np.allclose(
                _away(camera), away, atol=0.01 * float(np.linalg.norm(away))
            ):
                self._away_at_first.pop(client.client_id, None)

        client.camera.on_update(heard)
        self._look(client)
        self._greeted.add(client.client_id)

    def _look(self, client: Any) -> None:
        client.camera.position, client.camera.look_at = self._home()

    def _home(self) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "3"]]:
        return home_camera(self._desk.show, self._desk.source.frame() or NOTHING_YET)

    def _picture(self, event: Any) -> None:
        height, width = event.client.camera.image_height, event.client.camera.image_width
        seen = event.client.get_render(height, width, transport_format="png", timeout=PATIENCE_S)
        kept = BytesIO()
        Image.fromarray(seen[:, :, :3]).save(kept, format="PNG")
        name = f"{self._desk.show.scenario.name}.png"
        event.client.send_file_download(name, kept.getvalue(), save_immediately=True)


def _away(camera: Any) -> Float[np.ndarray, "3"]:
    return np.asarray(camera.position) - np.asarray(camera.look_at)
