"""Panel of the controller parameters of the selected vehicle."""

from dataclasses import fields

import viser

from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.control import CONTROLLERS
from kittiwake.geometry.vec3 import Vec3
from kittiwake.interfaces.controller import AbstractController
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import SceneState


class ParametersPanel:
    """Folder for each controller with a field for each number."""

    def __init__(self, context: PanelContext, session: Session) -> None:
        self._context, self._session = context, session
        self._folders: list[viser.GuiFolderHandle] = []
        context.build(self._build)

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""

    def _build(self) -> None:
        self._context.discarded.add(*self._folders)
        self._folders = []
        vehicle = self._session.executor.scenario.vehicles[self._context.selected]
        for level in vehicle.cascade:
            gains = _gains(level.component)
            # those of a controller of one's own cannot be changed by the name of its type
            name = CONTROLLERS.registered_name(type(level.component))
            if gains and name is not None:
                self._controller(name, gains)

    def _controller(self, name: str, gains: dict[str, float | tuple[float, ...]]) -> None:
        gui = self._context.gui
        folder = gui.add_folder(name, expand_by_default=False)
        self._folders.append(folder)
        with folder:
            fields = {gain: self._field(gain, value) for gain, value in gains.items()}
            apply = gui.add_button(f"Apply to {name}")

        @apply.on_click
        @self._context.user_action
        def _(_: ControlEvent) -> None:
            now = {gain: field.value for gain, field in fields.items()}
            changed = {gain: value for gain, value in now.items() if value != gains[gain]}
            given = {g: list(v) if isinstance(v, tuple) else v for g, v in changed.items()}
            if given:
                self._session.executor.set_gains(self._context.entry, name, **given)
                gains.update(changed)

    def _field(
        self, gain: str, value: float | tuple[float, ...]
    ) -> viser.GuiInputHandle[float] | viser.GuiVector3Handle:
        """Add an input field for a number or a vector."""
        gui = self._context.gui
        if isinstance(value, tuple):
            x, y, z = value
            return gui.add_vector3(gain, (x, y, z))
        return gui.add_number(gain, value)


def _gains(controller: AbstractController) -> dict[str, float | tuple[float, ...]]:
    """Return the scalar and vector parameters of a controller by name."""
    found: dict[str, float | tuple[float, ...]] = {}
    for one in fields(controller):
        value = getattr(controller, one.name)
        if isinstance(value, Vec3):
            found[one.name] = (float(value.x), float(value.y), float(value.z))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[one.name] = float(value)
    return found
