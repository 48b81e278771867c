"""Flights of a scenario that people watch and steer, for commands that fly so."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kittiwake.cli.page import PageOptions, open_page
from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import optional

if TYPE_CHECKING:
    from pathlib import Path

    from kittiwake.analysis.log import Log
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.runtime.loop import Follow
    from kittiwake.runtime.session import Session
    from kittiwake.scenario.scenario import Scenario

FASTEST = "max"

Speed = Annotated[
    str | None, typer.Option(metavar="X", help=f"Times real time, or {FASTEST}; 1 unless given.")
]
Gamepad = Annotated[
    bool, typer.Option("--joystick", help="Fly the first vehicle by this machine's gamepad.")
]


def pace_of(written: str | None) -> float:
    """How many times real time; infinity for as fast as it goes.

    Raises:
        ScenarioError: for what is no speed.
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
        message = f"--speed {written} is not allowed; must be a number above 0, or {FASTEST}"
        raise ScenarioError(message)
    return speed


@contextmanager
def live(
    scenario: "Scenario", speed: float, page: PageOptions, *, joystick: bool
) -> "Generator[tuple[Session, Cockpit]]":
    """A session of flights and its page."""
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.frame_buffer import FrameBuffer
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session
    from kittiwake.scene.frame import Show

    if joystick:
        optional("pygame", "gamepad")
    boards: list[FrameBuffer] = []
    session = Session(scenario, RealTimeClock(speed), lambda block: boards[0].post(block))
    columns = session.simulation.program.layout.columns
    boards.append(FrameBuffer(columns))
    show = Show(scenario, scenario.seed, columns)

    def build(server: Any) -> Cockpit:
        return Cockpit(server, show, boards[0], session)

    with (
        open_page(build, page) as cockpit,
        _by_gamepad(session, cockpit.say, wanted=joystick),
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
    """One flight into a folder; one that is begun anew from the page takes its place."""
    with live(scenario, speed, page, joystick=joystick) as (session, cockpit):
        while True:
            log = session.fly(folder, follow)
            if not session.wanted_again:
                return log
            session.begin_again()
            cockpit.begun_anew()


def fly_by_gamepad(
    scenario: "Scenario",
    speed: float,
    folder: "Path",
    progress: "AbstractContextManager[Follow]",
) -> "Log":
    """One flight into a folder without a page; one that is begun anew takes its place."""
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session

    session = Session(scenario, RealTimeClock(speed), lambda _: tell())

    def tell() -> None:
        for problem in session.executor.take_problems():
            typer.echo(problem, err=True)

    def say(_: str, words: str) -> None:
        typer.echo(words, err=True)

    with progress as follow, _by_gamepad(session, say, wanted=True):
        while True:
            log = session.fly(folder, follow)
            if not session.wanted_again:
                return log
            session.begin_again()


@contextmanager
def _by_gamepad(
    session: "Session", say: Callable[[str, str], None], *, wanted: bool
) -> Generator[None]:
    if not wanted:
        yield
        return
    from kittiwake.cockpit.gamepad import Gamepad
    from kittiwake.cockpit.gamepad_commands import GamepadCommands

    stick = GamepadCommands(session)
    with Gamepad(stick.read, lambda words: say("Gamepad", words)):
        yield
