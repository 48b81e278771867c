"""The page: a scene and panels beside it, drawn again and again from the newest frame."""

import logging
import threading
from collections.abc import Callable, Sequence
from time import monotonic
from types import TracebackType

import viser

from kittiwake.runtime.session import Session
from kittiwake.viewer.board import Board, Source
from kittiwake.viewer.desk import Desk
from kittiwake.viewer.frame import Frame, Show
from kittiwake.viewer.panels.clock import ClockPanel
from kittiwake.viewer.panels.flying import FlyingPanel
from kittiwake.viewer.panels.gains import GainsPanel
from kittiwake.viewer.panels.panel import Panel
from kittiwake.viewer.panels.player import PlayerPanel
from kittiwake.viewer.panels.plots import PlotsPanel
from kittiwake.viewer.panels.readings import ReadingsPanel
from kittiwake.viewer.panels.view import ViewPanel
from kittiwake.viewer.panels.world import WorldPanel
from kittiwake.viewer.reel import Reel
from kittiwake.viewer.replay import Replay
from kittiwake.viewer.scene import Scene

# how often the scene is drawn, and read-outs and plots written
SCENE_HZ, PANELS_HZ = 30.0, 8.0
WAITS_S = 0.2
BRAND_RGB = (36, 96, 140)


class Cockpit:
    """Shows a flight on a page until it is closed; nothing waits for those who look at it."""

    def __init__(
        self,
        server: viser.ViserServer,
        show: Show,
        source: Source,
        session: Session | None = None,
        ghost: Reel | None = None,
    ) -> None:
        self._desk = Desk(server, show, source, session)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, name="cockpit", daemon=True)
        _dress(server, show)
        with server.atomic():
            self._scene = Scene(server.scene, show)
            self._ghost = None if ghost is None else _Ghost(server, ghost)
            self._panels = self._furnish()

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
        self._desk.server.stop()

    def wait(self) -> None:
        """Returns when it is closed, or with Ctrl-C."""
        while not self._closed.wait(WAITS_S):
            pass

    def begun_anew(self) -> None:
        """The flight has been replaced by another one of the same vehicles."""
        self._desk.renew()

    def say(self, title: str, words: str) -> None:
        """Tells everybody who looks."""
        self._desk.say(title, words)

    def _furnish(self) -> list[Panel]:
        desk, gui = self._desk, self._desk.server.gui
        self._status = gui.add_markdown("")
        names = list(desk.show.scenario.vehicles)
        whom = gui.add_dropdown("Vehicle", names, initial_value=desk.picked)
        whom.on_update(desk.by_hand(lambda event: self._pick(event.target.value)))
        panels: list[Panel] = []
        if desk.session is not None:
            panels.append(ClockPanel(desk, desk.session))
        elif isinstance(desk.source, Replay):
            panels.append(PlayerPanel(desk, desk.source))
        tabs = gui.add_tab_group()
        for title, make in self._tabs():
            desk.tab = tabs.add_tab(title)
            with desk.tab:
                panels.append(make())
        with tabs.add_tab("View"):
            self._view = ViewPanel(desk, self._scene)
        return panels

    def _tabs(self) -> Sequence[tuple[str, Callable[[], Panel]]]:
        desk, session = self._desk, self._desk.session
        seen: list[tuple[str, Callable[[], Panel]]] = [
            ("Readings", lambda: ReadingsPanel(desk)),
            ("Plots", lambda: PlotsPanel(desk)),
        ]
        if session is None:
            return seen
        return [
            ("Fly", lambda: FlyingPanel(desk, session)),
            ("World", lambda: WorldPanel(desk, session)),
            ("Gains", lambda: GainsPanel(desk, session)),
            *seen,
        ]

    def _pick(self, vehicle: str) -> None:
        self._desk.pick(vehicle)
        if isinstance(self._desk.source, Board):
            self._desk.source.watch(vehicle)

    def _draw_on(self) -> None:
        written_s, told = -1.0, ""
        while not self._closed.is_set():
            began_s = monotonic()
            frame = self._desk.source.frame()
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
        with self._desk.server.atomic():
            self._scene.draw(frame)
            if self._ghost is not None:
                self._ghost.draw(frame.time_s)
            self._view.follow(frame)
        if now_s - written_s < 1.0 / PANELS_HZ:
            return written_s
        with self._desk.server.atomic():
            self._write_status(frame)
            for panel in self._panels:
                panel.update(frame)
        self._tell_problems()
        return now_s

    def _write_status(self, frame: Frame) -> None:
        session, name = self._desk.session, self._desk.show.scenario.name
        words = f"**{name}** · {frame.time_s:.2f} s"
        if session is not None:
            words += f" · seed {session.seed}" + (" · paused" if session.clock.paused else "")
            words += " · over" if session.course.over else ""
        elif isinstance(self._desk.source, Replay) and self._desk.source.reel.early_end:
            words += f" · {self._desk.source.reel.early_end}"
        self._status.content = words

    def _tell_problems(self) -> None:
        session = self._desk.session
        if session is not None:
            for problem in session.course.take_problems():
                self._desk.say("That cannot be done", problem, wrong=True)


class _Ghost:
    """Another log of the same or other vehicles, at the same time."""

    def __init__(self, server: viser.ViserServer, reel: Reel) -> None:
        self._reel = reel
        self._scene = Scene(server.scene, reel.show, ghost=True)

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
