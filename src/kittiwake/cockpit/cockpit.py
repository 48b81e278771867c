"""Cockpit page: a shared scene and panels for each browser, updated from the newest scene state."""

import asyncio
import logging
import threading
from time import monotonic
from types import TracebackType
from typing import Any

import viser

from kittiwake.cockpit.browser_camera import BrowserCamera
from kittiwake.cockpit.live_source import LiveSource
from kittiwake.cockpit.page import Page
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.panels.area_warning import AreaWarning
from kittiwake.cockpit.panels.panel import Panel
from kittiwake.cockpit.panels.timeline import TimelinePanel
from kittiwake.cockpit.panels.view import LayersPanel
from kittiwake.cockpit.panels.world import WindPanel
from kittiwake.cockpit.push import push
from kittiwake.cockpit.replay import Replay
from kittiwake.cockpit.scene_nodes import SceneNodes
from kittiwake.cockpit.start_server import END_PATH
from kittiwake.cockpit.theme import LIGHT, configure_controls, configure_sky
from kittiwake.cockpit.time_source import TimeSource
from kittiwake.cockpit.values import enable_controls
from kittiwake.runtime.session import Session
from kittiwake.scene.log_playback import LogPlayback
from kittiwake.scene.scene_state import FlightInfo, SceneState

# update rates of the scene, and of readings and plots
SCENE_HZ, PANELS_HZ = 30.0, 8.0
POLL_S = 0.2
LIVE_TABS = ("Command", "World", "Parameters")
TABS = ("Readings", "View")
# a form, so that only this page can end the flight
BACK = (
    f'<form method="post" action="{END_PATH}" style="padding: 0 1em 6px">'
    '<button style="width: 100%; padding: 3px; border: 1px solid #8aa; border-radius: 6px; '
    'background: none; color: inherit; font: inherit; cursor: pointer">Back to the start page'
    "</button></form>"
)


class Cockpit:
    """Page of a flight, open until it is closed; browsers never block the flight.

    All browsers share the scene, the clock, the wind and the layers; each browser selects its own
    vehicle and has its own controls for it.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        flight: FlightInfo,
        source: TimeSource,
        session: Session | None = None,
        ghost: LogPlayback | None = None,
        *,
        has_start_page: bool = False,
        note: str = "",
    ) -> None:
        """Build the page.

        Args:
            server: server of the page.
            flight: the flight.
            source: what is shown.
            session: live session; None for a log.
            ghost: second log, shown beside.
            has_start_page: whether the page has a way back to the start page.
            note: remark about how the scenario is flown.
        """
        self._has_start_page, self._note = has_start_page, note
        self._server, self._flight, self._source, self._session = server, flight, source, session
        self._pages: dict[int, Page] = {}
        # browsers whose controls are being created
        self._opening: set[int] = set()
        # number of times that the scene was built again
        self._scenes = 0
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._draw_loop, name="cockpit", daemon=True)
        _configure_page(server, flight)
        with server.atomic():
            self._scene = SceneNodes(server.scene, flight)
            self._ghost = None if ghost is None else _Ghost(server, ghost)
            self._panels = self._build_panels()
        self._allow_pushes()
        server.on_client_connect(self._open)
        server.on_client_disconnect(self._close)

    def __enter__(self) -> "Cockpit":
        self._thread.start()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._thread.join()
        self._server.stop()

    def wait(self) -> None:
        """Wait until the page is closed, or for Ctrl-C."""
        while not self._closed.wait(POLL_S):
            pass

    def on_restart(self) -> None:
        """Rebuild all panels for a restarted flight of the same vehicles."""
        for page in [*self._pages.values()]:
            page.context.rebuild()
        if self._session is not None:
            self.notify("Flight restarted", f"Seed {self._session.seed}")

    def _follow_vehicles(self) -> None:
        """Show the vehicles that fly if some have been added or removed."""
        if self._session is None:
            return
        executor = self._session.executor
        columns, scenario = executor.layout.columns, executor.scenario
        known = self._flight.columns.keys() == columns.keys()
        # a scenario that is not flown yet may already have others
        if known or scenario.vehicles.keys() != columns.keys():
            return
        flight = self._flight = FlightInfo(scenario, self._session.seed, columns)
        if isinstance(self._source, LiveSource):
            self._source.buffer.add_columns(columns)
        self._scenes += 1
        former = self._scene
        with self._server.atomic():
            self._scene = SceneNodes(
                self._server.scene, flight, name=f"flight-{self._scenes}", options=former.options
            )
            former.remove()
        self._allow_pushes()
        self._context.flight = flight
        if self._context.selected not in columns:
            self._context.selected = next(iter(columns))
        for page in [*self._pages.values()]:
            page.change_flight(flight)
        self._watch_selected()

    def notify(self, title: str, text: str, *, error: bool = False) -> None:
        """Show a notification in all browsers."""
        self._context.notify(title, text, error=error)

    def _allow_pushes(self) -> None:
        """Push vehicles of a live flight that a user drags."""
        if self._session is None:
            return
        executor = self._session.executor

        def on_push(vehicle: str, drag: viser.SceneNodeDragEvent[Any]) -> None:
            if error := push(executor, vehicle, drag):
                self.notify("Action failed", error, error=True)

        self._scene.on_push(on_push)

    def _build_panels(self) -> list[Panel]:
        gui, session = self._server.gui, self._session
        if self._has_start_page:
            gui.add_html(BACK)
        self._status = gui.add_markdown("")

        def clients() -> list[viser.ClientHandle]:
            return [*self._server.get_clients().values()]

        context = self._context = PanelContext(gui, clients, self._flight, self._source, session)
        panels: list[Panel] = [TimelinePanel(context, self._source, session)]
        if session is not None:
            panels.append(AreaWarning(context))
        group = gui.add_tab_group()
        titles = TABS if session is None else (*LIVE_TABS, *TABS)
        self._tabs = {title: group.add_tab(title) for title in titles}
        if session is not None:
            with self._tabs["World"]:
                panels.append(WindPanel(context, session))
        with self._tabs["View"]:
            panels.append(LayersPanel(context, self._scene.options))
        return panels

    async def _open(self, client: viser.ClientHandle) -> None:
        """Create the controls of a new browser, without blocking other browsers."""
        camera = BrowserCamera(client, self._flight, self._source)
        camera.set_initial_view()
        self._opening.add(client.client_id)
        page = await asyncio.to_thread(self._page, client, camera)
        # the browser may have left while its controls were created
        if client.client_id in self._opening:
            self._opening.remove(client.client_id)
            self._pages[client.client_id] = page
            self._watch_selected()

    def _page(self, client: viser.ClientHandle, camera: BrowserCamera) -> Page:
        context = PanelContext(
            client.gui, lambda: [client], self._flight, self._source, self._session
        )
        with client.atomic():
            # next to the status, which all browsers share
            order = self._status.order + 0.5
            return Page(
                context,
                client.scene,
                camera,
                self._tabs,
                order,
                self._watch_selected,
                lambda: client.client_id in self._server.get_clients(),
            )

    def _close(self, client: viser.ClientHandle) -> None:
        self._opening.discard(client.client_id)
        self._pages.pop(client.client_id, None)
        self._watch_selected()

    def _watch_selected(self) -> None:
        """Keep complete rows of all vehicles selected or charted in any browser."""
        contexts = [page.context for page in [*self._pages.values()]]
        selected = {name for one in contexts for name in (one.selected, *one.charted)}
        if selected and isinstance(self._source, LiveSource):
            self._source.buffer.select_vehicles(selected)

    def _draw_loop(self) -> None:
        written_s, logged, due_s = -1.0, "", monotonic()
        while not self._closed.is_set():
            start_s = monotonic()
            scene_state = self._source.scene_state()
            if scene_state is not None:
                try:
                    written_s = self._draw(scene_state, start_s, written_s)
                except Exception as error:
                    # for example a page that is closing; the flight continues
                    if repr(error) != logged:
                        logged = repr(error)
                        logging.getLogger(__name__).exception("could not draw the cockpit")
            # late frames do not lower the rate of the others
            due_s = max(due_s + 1.0 / SCENE_HZ, monotonic())
            self._closed.wait(due_s - monotonic())

    def _draw(self, scene_state: SceneState, now_s: float, written_s: float) -> float:
        self._follow_vehicles()
        pages = [*self._pages.values()]
        with self._server.atomic():
            self._scene.draw(scene_state)
            if self._ghost is not None:
                self._ghost.draw(scene_state.time_s)
        for page in pages:
            page.follow(scene_state)
        if now_s - written_s < 1.0 / PANELS_HZ:
            return written_s
        with self._server.atomic():
            self._write_status(scene_state)
            for panel in self._panels:
                panel.update(scene_state)
        for page in pages:
            page.update(scene_state)
        self._report_problems()
        return now_s

    def _write_status(self, scene_state: SceneState) -> None:
        session, name = self._session, self._flight.scenario.name
        parts = [f"**{name}**", f"{scene_state.time_s:.2f} s"]
        if session is not None:
            parts.append(f"seed {session.seed}")
            parts += _session_status(session, live=self._source.live, end_s=self._source.span_s[1])
        elif isinstance(self._source, Replay) and self._source.playback.early_end:
            parts.append(self._source.playback.early_end)
        text = " · ".join(parts) + (f"  \n*{self._note}*" if self._note else "")
        self._status.content = text
        if session is not None:
            enable_controls(self._tabs["Command"], enabled=not session.executor.ended)

    def _report_problems(self) -> None:
        if self._session is not None:
            for problem in self._session.executor.take_problems():
                self.notify("Action failed", problem, error=True)


def _session_status(session: Session, *, live: bool, end_s: float) -> list[str]:
    """Return what a live session does, in words."""
    executor = session.executor
    found = [] if live else [f"the past; the flight is at {end_s:.1f} s"]
    if executor.ended:
        return [*found, "ended: restart, or look back"]
    if not executor.ready:
        return [*found, "building the program: the flight begins when it is compiled"]
    return found


class _Ghost:
    """Second log, drawn translucent at the same time."""

    def __init__(self, server: viser.ViserServer, playback: LogPlayback) -> None:
        self._playback = playback
        self._scene = SceneNodes(server.scene, playback.flight, ghost=True)

    def draw(self, time_s: float) -> None:
        """Draw the ghost at a time."""
        self._scene.draw(self._playback.scene_state(time_s))


def _configure_page(server: viser.ViserServer, flight: FlightInfo) -> None:
    configure_controls(server.gui, LIGHT)
    configure_sky(server.scene, flight, LIGHT)
    server.gui.main_panel.dock_right()
    server.gui.set_panel_label(f"Kittiwake: {flight.scenario.name}")
