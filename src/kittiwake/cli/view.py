"""``kittiwake view``: the cockpit, for a flight that begins now or for one that was recorded."""

import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import Overrides, show_remarks
from kittiwake.cli.live import Gamepad, Speed, live, pace_of
from kittiwake.cli.options import Duration, Quiet, Seed, note_early_end, refuse
from kittiwake.cli.page import (
    LOOPBACK,
    Host,
    NoBrowser,
    PageOptions,
    Port,
    TokenFile,
    open_page,
    require_cockpit,
)
from kittiwake.cli.run import as_overrides, keep_compiled, show_progress
from kittiwake.core.errors import CockpitError


def view(
    what: Annotated[
        str,
        typer.Argument(metavar="DIR_OR_SCENARIO", help="A run's folder, or what to fly live."),
    ],
    overrides: Overrides = None,
    *,
    ghost: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A second run, shown beside as a ghost.")
    ] = None,
    port: Port = None,
    host: Host = LOOPBACK,
    token_file: TokenFile = None,
    no_browser: NoBrowser = False,
    joystick: Gamepad = False,
    speed: Speed = None,
    duration: Duration = None,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Show a run, or fly a scenario, on a page in the browser until Ctrl-C.

    A run's folder is replayed. A scenario is flown in real time, from the page: each flight is
    written into a folder of its own, runs/NAME-TIME, as 'kittiwake run' does.
    """
    from kittiwake.runtime.interrupt import ended_by

    require_cockpit()
    page = PageOptions(port, host, token_file, browser=not no_browser, quiet=quiet)
    if Path(what).is_dir():
        given = {"--set": overrides, "--speed": speed, "--duration": duration, "--seed": seed}
        refuse({**given, "--joystick": joystick}, "a run that is replayed")
        _replay(Path(what), ghost, page)
    else:
        refuse({"--ghost": ghost}, "a scenario that is flown")
        _refuse_log(Path(what))
        items = [*(overrides or []), *as_overrides(duration, seed)]
        _fly(what, items, speed, page, joystick=joystick)
    if ended_by(signal.SIGTERM):  # Ctrl-C is how one leaves the page
        raise typer.Exit(RUN_FAILED)


def _refuse_log(path: Path) -> None:
    if path.suffix == ".mcap":
        message = f"'{path}' is a log; give the folder that it is in, '{path.parent}'"
        raise CockpitError(message)


def _replay(folder: Path, ghost: Path | None, page: PageOptions) -> None:
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.recorded import recorded
    from kittiwake.cockpit.replay import Replay

    reel = recorded(folder)
    note_early_end(reel.early_end, folder)
    beside = None
    if ghost is not None:
        beside = recorded(ghost)
        note_early_end(beside.early_end, ghost)

    def build(server: Any) -> Cockpit:
        return Cockpit(server, reel.show, Replay(reel), ghost=beside)

    with open_page(build, page) as cockpit, suppress(KeyboardInterrupt):
        cockpit.wait()


def _fly(
    scenario: str,
    items: list[str],
    speed: str | None,
    page: PageOptions,
    *,
    joystick: bool,
) -> None:
    from kittiwake.analysis.overview import save_overview
    from kittiwake.runtime.loop import STOPPED
    from kittiwake.runtime.run_folder import PICTURE_FILE, run_folder, usual_folder
    from kittiwake.scenario.load import load_scenario
    from kittiwake.tasks.task_commander import check_task

    keep_compiled()
    loaded = load_scenario(scenario, items, logged=True)
    loaded.check_flight()
    check_task(loaded)
    pace = pace_of(speed)
    if not page.quiet:
        show_remarks(loaded)
    usual = usual_folder(loaded.name)
    with (
        show_progress(shown=not page.quiet) as progress,
        live(loaded, pace, page, joystick=joystick) as (session, cockpit),
        suppress(KeyboardInterrupt),
    ):
        while True:
            with run_folder(None, loaded, usual) as folder:
                log = session.fly(folder, progress)
                save_overview(log, folder / PICTURE_FILE)
            if not session.wanted_again:
                reason = (log.summary or {}).get("reason") or ""
                if reason.startswith(STOPPED):
                    return
                said = "The flight is over" + (f": {reason}" if reason else "")
                if not page.quiet:
                    typer.echo(f"{said}. It is in {folder}.", err=True)
                cockpit.say(said, f"It is in {folder}. Begin anew, or end this with Ctrl-C.")
                if not session.wait():
                    return
            session.begin_again()
            cockpit.begun_anew()
