"""Panel of the vehicles of a flight: adds one, and removes the selected one."""

import viser

from kittiwake.cockpit.ground_click import ground_point
from kittiwake.cockpit.panel_context import ControlEvent, PanelContext
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import SceneState
from kittiwake.vehicles import VEHICLES

HEIGHT_M = 2.0
AXES = ("east [m]", "north [m]", "up [m]")


class VehiclesPanel:
    """Vehicles that are added with their defaults at a place, and removed."""

    def __init__(self, context: PanelContext, session: Session, scene: viser.SceneApi) -> None:
        self._context, self._session = context, session
        self._awaiting_click = False
        gui, action = context.gui, context.user_action
        ground_m = float(context.scenario.world.ground_z_m)
        models = VEHICLES.names()
        flown = context.vehicle.model
        with gui.add_folder("Vehicles", expand_by_default=False):
            self._model = gui.add_dropdown(
                "Model", models, initial_value=flown if flown in models else models[0]
            )
            self._name = gui.add_text("Name", self._free_name())
            self._place = [
                gui.add_number(axis, 0.0 if axis != AXES[2] else ground_m + HEIGHT_M, step=0.1)
                for axis in AXES
            ]
            pick = gui.add_button("Pick place", hint="Click a point on the ground or the water.")
            add = gui.add_button("Add vehicle")
            remove = gui.add_button("Remove selected vehicle")
        pick.on_click(action(self._await_click))
        add.on_click(action(self._add))
        remove.on_click(action(self._confirm_removal))
        scene.on_click()(self._on_click)

    def update(self, scene_state: SceneState) -> None:
        """Do nothing: the controls change only by user input."""

    def _free_name(self) -> str:
        taken = self._session.executor.flown.document.data["vehicles"]
        return next(name for name in map("vehicle-{}".format, range(1, 10**6)) if name not in taken)

    def _await_click(self, event: ControlEvent) -> None:
        del event
        self._awaiting_click = True
        self._context.notify("Place", "Click a point on the ground or the water.")

    def _on_click(self, event: viser.SceneClickEvent) -> None:
        if not self._awaiting_click:
            return
        point = ground_point(event, float(self._context.scenario.world.ground_z_m))
        if point is None:
            self._context.notify("Place", "The click is not on the ground.", error=True)
            return
        self._awaiting_click = False
        self._place[0].value, self._place[1].value = (round(number, 2) for number in point)

    def _add(self, event: ControlEvent) -> None:
        del event
        name = self._name.value.strip()
        place = [float(number.value) for number in self._place]
        entry = {"model": self._model.value, "start": {"position_world_m": place}}
        self._session.executor.add_vehicle(name, entry)
        self._context.notify("Vehicles", f"Compiling; {name} begins when ready.")

    def _confirm_removal(self, event: ControlEvent) -> None:
        del event
        gui, entry = self._context.gui, self._context.entry
        with gui.add_modal("Remove vehicle") as modal:
            gui.add_markdown(f"Remove **{entry}** from the flight? Its log ends there.")
            remove = gui.add_button("Remove", color="red")
            cancel = gui.add_button("Cancel")
        cancel.on_click(self._context.user_action(lambda _: modal.close()))

        @remove.on_click
        @self._context.user_action
        def _(_: ControlEvent) -> None:
            modal.close()
            self._session.executor.remove_vehicle(entry)
            self._context.notify("Vehicles", f"Compiling; {entry} leaves when ready.")
