"""Live flights with the cockpit page or a gamepad, for several commands."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.analysis.run_outcome import LEFT
from kittiwake.cli.page import PageOptions, announced, open_site
from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import import_optional

if TYPE_CHECKING:
    from pathlib import Path

    from kittiwake.analysis.log import Log
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.server import PageServer
    from kittiwake.cockpit.site import CockpitSite
    from kittiwake.runtime.loop import Follow
    from kittiwake.runtime.session import Session
    from kittiwake.scenario.scenario import Scenario

FASTEST = "max"

Speed = Annotated[
    str | None, typer.Option(metavar="X", help=f"Ratio to real time, or {FASTEST}; default 1.")
]
Gamepad = Annotated[
    bool, typer.Option("--joystick", help="Fly the first vehicle with this machine's gamepad.")
]


def parse_speed(written: str | None) -> float:
    """Return the ratio of simulated to real time; infinity for unlimited.

    Raises:
        ScenarioError: if it is not a positive number.
    """
    if written is None:
        return 1.0
    if written == FASTEST:
        return inf
    try:
        speed = float(written)
    except ValueError:
        speed = -1.0
    if not 0.0 < speed < inf:
        message = f"`--speed`: got {written}; must be a number above 0, or {FASTEST}"
        raise ScenarioError(message)
    return speed


@contextmanager
def live(
    scenario: "Scenario", speed: float, site: "CockpitSite", *, joystick: bool, note: str = ""
) -> "Generator[tuple[Session, Cockpit]]":
    """Open a session of flights, and show it."""
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.frame_buffer import FrameBuffer
    from kittiwake.cockpit.live_source import LiveSource
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session
    from kittiwake.scene.scene_state import FlightInfo

    if joystick:
        import_optional("pygame", "gamepad")
    buffers: list[FrameBuffer] = []
    session = Session(scenario, RealTimeClock(speed), lambda block: buffers[0].post(block))
    columns = session.executor.layout.columns
    # the vehicles at their starts, until the program is compiled
    buffers.append(FrameBuffer(columns, session.executor.start_rows()))
    flight = FlightInfo(scenario, scenario.seed, columns)

    def build(server: "PageServer") -> Cockpit:
        source = LiveSource(buffers[0], session)
        return Cockpit(
            server, flight, source, session, has_start_page=site.has_start_page, note=note
        )

    with (
        site.show(build, lambda: session.close(LEFT)) as cockpit,
        _gamepad_control(session, cockpit.notify, enabled=joystick),
    ):
        yield session, cockpit


def fly_live(
    scenario: "Scenario",
    speed: float,
    page: PageOptions,
    folder: "Path",
    follow: "Follow",
    *,
    joystick: bool,
) -> "Log":
    """Fly into a folder, again after each restart from the page."""
    with (
        open_site(page) as site,
        live(scenario, speed, site, joystick=joystick) as (session, cockpit),
        announced(site.address, page),
    ):
        while True:
            log = session.fly(folder, follow)
            if not session.restart_requested:
                return log
            session.prepare_restart()
            cockpit.on_restart()


def fly_by_gamepad(
    scenario: "Scenario",
    speed: float,
    folder: "Path",
    progress: "AbstractContextManager[Follow]",
) -> "Log":
    """Fly into a folder without a page, again after each restart."""
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session

    session = Session(scenario, RealTimeClock(speed), lambda _: print_problems())

    def print_problems() -> None:
        for problem in session.executor.take_problems():
            typer.echo(problem, err=True)

    def show_message(_: str, text: str) -> None:
        typer.echo(text, err=True)

    with progress as follow, _gamepad_control(session, show_message, enabled=True):
        while True:
            log = session.fly(folder, follow)
            if not session.restart_requested:
                return log
            session.prepare_restart()


@contextmanager
def _gamepad_control(
    session: "Session", show_message: Callable[[str, str], None], *, enabled: bool
) -> Generator[None]:
    if not enabled:
        yield
        return
    from kittiwake.cockpit.gamepad import Gamepad
    from kittiwake.cockpit.gamepad_commands import GamepadCommands

    commands = GamepadCommands(session)
    with Gamepad(commands.read, lambda text: show_message("Gamepad", text)):
        yield
