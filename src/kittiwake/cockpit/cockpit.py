"""The cockpit: a scene for all who look, and panels for each, drawn again from the newest frame."""

import asyncio
import logging
import threading
from time import monotonic
from types import TracebackType

import viser

from kittiwake.cockpit.frame_buffer import FrameBuffer, FrameSource
from kittiwake.cockpit.page import Page
from kittiwake.cockpit.panel_context import PanelContext
from kittiwake.cockpit.panels.clock import ClockPanel
from kittiwake.cockpit.panels.panel import Panel
from kittiwake.cockpit.panels.player import PlayerPanel
from kittiwake.cockpit.panels.view import Eye, LayersPanel
from kittiwake.cockpit.panels.world import WeatherPanel
from kittiwake.cockpit.replay import Replay
from kittiwake.cockpit.scene_nodes import SceneNodes
from kittiwake.runtime.session import Session
from kittiwake.scene.frame import Frame, Show
from kittiwake.scene.log_playback import LogPlayback

# how often the scene is drawn, and read-outs and plots written
SCENE_HZ, PANELS_HZ = 30.0, 8.0
WAITS_S = 0.2
BRAND_RGB = (36, 96, 140)
FLYING_TABS = ("Fly", "World", "Gains")
TABS = ("Readings", "Plots", "View")


class Cockpit:
    """Shows a flight on a page until it is closed; nothing waits for those who look at it.

    The scene, the clock, the weather and the layers are the same for all; each browser picks a
    vehicle of its own and has its own controls of it.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        show: Show,
        source: FrameSource,
        session: Session | None = None,
        ghost: LogPlayback | None = None,
    ) -> None:
        self._server, self._show, self._source, self._session = server, show, source, session
        self._pages: dict[int, Page] = {}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, name="cockpit", daemon=True)
        _dress(server, show)
        with server.atomic():
            self._scene = SceneNodes(server.scene, show)
            self._ghost = None if ghost is None else _Ghost(server, ghost)
            self._panels = self._furnish()
        server.on_client_connect(self._open)
        server.on_client_disconnect(self._leave)

    def __enter__(self) -> "Cockpit":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._thread.join()
        self._server.stop()

    def wait(self) -> None:
        """Returns when it is closed, or with Ctrl-C."""
        while not self._closed.wait(WAITS_S):
            pass

    def begun_anew(self) -> None:
        """The flight has been replaced by another one of the same vehicles."""
        for page in [*self._pages.values()]:
            page.context.renew()
        if self._session is not None:
            self.say("Begins anew", f"with seed {self._session.seed}")

    def say(self, title: str, words: str, *, wrong: bool = False) -> None:
        """Tells everybody who looks."""
        self._context.say(title, words, wrong=wrong)

    def _furnish(self) -> list[Panel]:
        gui, session = self._server.gui, self._session
        self._status = gui.add_markdown("")

        def everybody() -> list[viser.ClientHandle]:
            return [*self._server.get_clients().values()]

        context = self._context = PanelContext(gui, everybody, self._show, self._source, session)
        panels: list[Panel] = []
        if session is not None:
            panels.append(ClockPanel(context, session))
        elif isinstance(self._source, Replay):
            panels.append(PlayerPanel(context, self._source))
        group = gui.add_tab_group()
        titles = TABS if session is None else (*FLYING_TABS, *TABS)
        self._tabs = {title: group.add_tab(title) for title in titles}
        if session is not None:
            with self._tabs["World"]:
                panels.append(WeatherPanel(context, session))
        with self._tabs["View"]:
            panels.append(LayersPanel(context, self._scene))
        return panels

    async def _open(self, client: viser.ClientHandle) -> None:
        """Gives a browser that has come its own controls; others are served meanwhile."""
        eye = Eye(client, self._show, self._source)
        eye.greet()
        page = await asyncio.to_thread(self._page, client, eye)
        self._pages[client.client_id] = page
        self._watch()

    def _page(self, client: viser.ClientHandle, eye: Eye) -> Page:
        context = PanelContext(
            client.gui, lambda: [client], self._show, self._source, self._session
        )
        with client.atomic():
            # beside the status, which all have
            order = self._status.order + 0.5
            return Page(context, client.scene, eye, self._tabs, order, self._watch)

    def _leave(self, client: viser.ClientHandle) -> None:
        self._pages.pop(client.client_id, None)
        self._watch()

    def _watch(self) -> None:
        """Has everything kept of the vehicles that are picked anywhere."""
        picked = {page.context.picked for page in [*self._pages.values()]}
        if picked and isinstance(self._source, FrameBuffer):
            self._source.watch(picked)

    def _draw_on(self) -> None:
        written_s, told = -1.0, ""
        while not self._closed.is_set():
            began_s = monotonic()
            frame = self._source.frame()
            if frame is not None:
                try:
                    written_s = self._draw(frame, began_s, written_s)
                except Exception as error:
                    # of a page that is going; what flies goes on, and what is wrong is told, once
                    if repr(error) != told:
                        told = repr(error)
                        logging.getLogger(__name__).exception("the cockpit could not draw")
            self._closed.wait(max(1.0 / SCENE_HZ - (monotonic() - began_s), 0.0))

    def _draw(self, frame: Frame, now_s: float, written_s: float) -> float:
        pages = [*self._pages.values()]
        with self._server.atomic():
            self._scene.draw(frame)
            if self._ghost is not None:
                self._ghost.draw(frame.time_s)
        for page in pages:
            page.follow(frame)
        if now_s - written_s < 1.0 / PANELS_HZ:
            return written_s
        with self._server.atomic():
            self._write_status(frame)
            for panel in self._panels:
                panel.update(frame)
        for page in pages:
            page.update(frame)
        self._tell_problems()
        return now_s

    def _write_status(self, frame: Frame) -> None:
        session, name = self._session, self._show.scenario.name
        words = f"**{name}** · {frame.time_s:.2f} s"
        if session is not None:
            words += f" · seed {session.seed}" + (" · paused" if session.clock.paused else "")
            words += " · over" if session.executor.over else ""
        elif isinstance(self._source, Replay) and self._source.reel.early_end:
            words += f" · {self._source.reel.early_end}"
        self._status.content = words

    def _tell_problems(self) -> None:
        if self._session is not None:
            for problem in self._session.executor.take_problems():
                self.say("That cannot be done", problem, wrong=True)


class _Ghost:
    """Another log of the same or other vehicles, at the same time."""

    def __init__(self, server: viser.ViserServer, reel: LogPlayback) -> None:
        self._reel = reel
        self._scene = SceneNodes(server.scene, reel.show, ghost=True)

    def draw(self, time_s: float) -> None:
        """Where it was then."""
        self._scene.draw(self._reel.frame(time_s))


def _dress(server: viser.ViserServer, show: Show) -> None:
    server.gui.configure_theme(
        control_width="large",
        show_logo=False,
        # it would send the page through a server on the internet
        show_share_button=False,
        brand_color=BRAND_RGB,
    )
    server.gui.main_panel.dock_right()
    server.gui.set_panel_label(f"Kittiwake: {show.scenario.name}")
