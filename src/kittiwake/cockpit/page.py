"""Controls of one browser: vehicle selection, and the panels of the selected vehicle."""

import logging
from collections.abc import Callable, Iterator, Mapping

import viser

from kittiwake.cockpit.browser_camera import BrowserCamera
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.panels.charts import ChartsPanel
from kittiwake.cockpit.panels.command import CommandPanel
from kittiwake.cockpit.panels.export import ExportPanel
from kittiwake.cockpit.panels.glance import GlancePanel
from kittiwake.cockpit.panels.panel import Panel
from kittiwake.cockpit.panels.parameters import ParametersPanel
from kittiwake.cockpit.panels.readings import ReadingsPanel
from kittiwake.cockpit.panels.vehicles import VehiclesPanel
from kittiwake.cockpit.panels.view import ViewPanel
from kittiwake.cockpit.panels.world import FaultsPanel
from kittiwake.cockpit.time_source import TimeSource
from kittiwake.runtime.session import Session
from kittiwake.scene.scene_state import FlightInfo, SceneState


class Page:
    """Panels of one browser in the tabs that all browsers share.

    Args:
        context: data shared by the panels.
        scene: scene of the browser, which receives its clicks.
        camera: camera of the browser.
        tabs: tabs by title.
        order: position of the vehicle selection among the other controls.
        on_select: called when another vehicle is selected or charted.
        is_open: returns False once the browser has left.
    """

    def __init__(
        self,
        context: PanelContext,
        scene: viser.SceneApi,
        camera: BrowserCamera,
        tabs: Mapping[str, viser.GuiTabHandle],
        order: float,
        on_select: Callable[[], None] = lambda: None,
        is_open: Callable[[], bool] = lambda: True,
    ) -> None:
        self.context, self._logged_error, self._on_select = context, "", on_select
        self._is_open = is_open
        names = list(context.flight.scenario.vehicles)
        self._camera = camera
        self._vehicle = context.gui.add_dropdown(
            "Vehicle", names, initial_value=context.selected, order=order
        )
        self._vehicle.on_update(context.user_action(lambda event: self._select(event.target.value)))
        self._panels: list[Panel] = []
        for title, make in _panels(context, context.session, scene):
            context.tab = tabs[title]
            with tabs[title]:
                self._panels.append(make())
        self._panels += [GlancePanel(context), ChartsPanel(context, on_select)]
        with tabs["View"]:
            self._view = ViewPanel(context, camera, scene)

    def _select(self, vehicle: str) -> None:
        self.context.select(vehicle)
        self._on_select()

    def change_flight(self, flight: FlightInfo) -> None:
        """Show the vehicles of a flight; the selected one stays selected if it is one of them."""
        context, names = self.context, list(flight.scenario.vehicles)
        with context.lock:
            context.flight = self._camera.flight = flight
            if context.selected not in names:
                context.selected = names[0]
            self._vehicle.options = names
            self._vehicle.value = context.selected
            context.rebuild()

    def follow(self, scene_state: SceneState) -> None:
        """Move a following camera with its vehicle."""
        self._try(lambda: self._view.follow(scene_state))

    def update(self, scene_state: SceneState) -> None:
        """Update all panels to a scene state."""

        def update_panels() -> None:
            # a panel that is rebuilt meanwhile would remove the controls written to
            with self.context.lock:
                for panel in self._panels:
                    panel.update(scene_state)
                self.context.discarded.remove_old()

        self._try(update_panels)

    def _try(self, action: Callable[[], None]) -> None:
        """Run an action; log an error once, so that it does not affect other pages."""
        try:
            action()
        except Exception as error:
            # controls of a browser that has left are removed while they are written
            if self._is_open() and repr(error) != self._logged_error:
                self._logged_error = repr(error)
                logging.getLogger(__name__).exception("could not draw a page")


def _panels(
    context: PanelContext, session: Session | None, scene: viser.SceneApi
) -> Iterator[tuple[str, Callable[[], Panel]]]:
    if session is not None:
        yield "Command", lambda: CommandPanel(context, session, scene)
        yield "World", lambda: VehiclesPanel(context, session, scene)
        yield "World", lambda: FaultsPanel(context, session)
        yield "Parameters", lambda: ParametersPanel(context, session)
    yield "Readings", lambda: ReadingsPanel(context)
    source = context.source
    if isinstance(source, TimeSource):
        yield "View", lambda: ExportPanel(context, source)
