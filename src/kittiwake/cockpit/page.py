"""The controls of one browser: its pick of a vehicle, and the panels about that one."""

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import viser

from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.panels.flying import FlyingPanel
from kittiwake.cockpit.panels.gains import GainsPanel
from kittiwake.cockpit.panels.panel import Panel
from kittiwake.cockpit.panels.plots import PlotsPanel
from kittiwake.cockpit.panels.readings import ReadingsPanel
from kittiwake.cockpit.panels.view import Eye, ViewPanel
from kittiwake.cockpit.panels.world import FaultsPanel
from kittiwake.runtime.session import Session
from kittiwake.scene.frame import Frame


class Page:
    """Panels in the tabs that all browsers have, seen by one of them.

    Args:
        desk: what they share.
        scene: where that browser clicks.
        eye: its camera.
        tabs: by their titles.
        order: where among the other controls the vehicle is picked.
        picked: called when another vehicle is.
    """

    def __init__(
        self,
        context: PanelContext,
        scene: viser.SceneApi,
        eye: Eye,
        tabs: Mapping[str, viser.GuiTabHandle],
        order: float,
        picked: Callable[[], None] = lambda: None,
    ) -> None:
        self.context, self._told, self._picked = context, "", picked
        names = list(context.show.scenario.vehicles)
        whom = context.gui.add_dropdown("Vehicle", names, initial_value=context.picked, order=order)
        whom.on_update(context.by_hand(lambda event: self._pick(event.target.value)))
        self._panels: list[Panel] = []
        for title, make in _panels(context, context.session, scene):
            context.tab = tabs[title]
            with tabs[title]:
                self._panels.append(make())
        with tabs["View"]:
            self._view = ViewPanel(context, eye)

    def _pick(self, vehicle: str) -> None:
        self.context.pick(vehicle)
        self._picked()

    def follow(self, frame: Frame) -> None:
        """The camera goes along."""
        self._try(lambda: self._view.follow(frame))

    def update(self, frame: Frame) -> None:
        """Shows what is now."""

        def write() -> None:
            # a panel that is made anew meanwhile would take away what is written to
            with self.context.lock:
                for panel in self._panels:
                    panel.update(frame)

        self._try(write)

    def _try(self, do: Callable[[], None]) -> None:
        """What is wrong with one page ends no other, and is told once."""
        try:
            do()
        except Exception as error:
            if repr(error) != self._told:
                self._told = repr(error)
                logging.getLogger(__name__).exception("a page could not be drawn")


def _panels(
    context: PanelContext, session: Session | None, scene: viser.SceneApi
) -> Iterator[tuple[str, Callable[[], Any]]]:
    if session is not None:
        yield "Fly", lambda: FlyingPanel(context, session, scene)
        yield "World", lambda: FaultsPanel(context, session)
        yield "Gains", lambda: GainsPanel(context, session)
    yield "Readings", lambda: ReadingsPanel(context)
    yield "Plots", lambda: PlotsPanel(context)
