"""``kittiwake view``: cockpit of a live flight or of a recorded run."""

import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import AllowCode, Overrides, show_scenario_warnings
from kittiwake.cli.live import Gamepad, Speed, live, parse_speed
from kittiwake.cli.options import Duration, Quiet, Seed, refuse, warn_of_early_end
from kittiwake.cli.page import (
    LOOPBACK,
    Host,
    NoBrowser,
    PageOptions,
    Port,
    TokenFile,
    open_page,
)
from kittiwake.cli.run import as_overrides, keep_compiled, show_progress
from kittiwake.core.errors import CockpitError
from kittiwake.core.extras import require_cockpit

if TYPE_CHECKING:
    from kittiwake.cockpit.server import PageServer


def view(
    what: Annotated[
        str,
        typer.Argument(metavar="DIR_OR_SCENARIO", help="A run's folder, or a scenario to fly."),
    ],
    overrides: Overrides = None,
    *,
    ghost: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A second run, shown as a ghost.")
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
    allow_code: AllowCode = None,
) -> None:
    """Show a run, or fly a scenario, on a page in the browser until Ctrl-C.

    A run's folder is replayed. A scenario is flown in real time from the page: each flight is
    written into its own folder, runs/NAME-TIME, as by 'kittiwake run'.
    """
    from kittiwake.runtime.interrupt import ended_by

    require_cockpit()
    page = PageOptions(port, host, token_file, browser=not no_browser, quiet=quiet)
    if Path(what).is_dir():
        live_only = {"--set": overrides, "--speed": speed, "--duration": duration, "--seed": seed}
        others = {"--joystick": joystick, "--allow-code": allow_code}
        refuse({**live_only, **others}, "a recorded run")
        _replay(Path(what), ghost, page)
    else:
        refuse({"--ghost": ghost}, "a scenario")
        _refuse_log(Path(what))
        items = [*(overrides or []), *as_overrides(duration, seed)]
        _fly(what, items, speed, page, joystick=joystick, allow_code=allow_code)
    if ended_by(signal.SIGTERM):  # Ctrl-C is the normal end
        raise typer.Exit(RUN_FAILED)


def _refuse_log(path: Path) -> None:
    if path.suffix == ".mcap":
        message = f"'{path}' is a log; give its folder, '{path.parent}'"
        raise CockpitError(message)


def _replay(folder: Path, ghost: Path | None, page: PageOptions) -> None:
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.recorded import recorded
    from kittiwake.cockpit.replay import Replay

    playback = recorded(folder)
    warn_of_early_end(playback.early_end, folder)
    ghost_playback = None
    if ghost is not None:
        ghost_playback = recorded(ghost)
        warn_of_early_end(ghost_playback.early_end, ghost)

    def build(server: "PageServer") -> Cockpit:
        return Cockpit(server, playback.flight, Replay(playback), ghost=ghost_playback)

    with suppress(KeyboardInterrupt), open_page(build, page) as cockpit:
        cockpit.wait()


def _fly(
    scenario: str,
    items: list[str],
    speed: str | None,
    page: PageOptions,
    *,
    joystick: bool,
    allow_code: list[Path] | None,
) -> None:
    from kittiwake.analysis.run_folder import default_folder, run_folder, save_picture
    from kittiwake.runtime.loop import STOPPED
    from kittiwake.scenario.load import load_scenario
    from kittiwake.tasks.task_commander import check_task

    keep_compiled()
    loaded = load_scenario(scenario, items, logged=True, allow_code=allow_code)
    loaded.check_flight()
    check_task(loaded)
    ratio = parse_speed(speed)
    if not page.quiet:
        show_scenario_warnings(loaded)
    default = default_folder(loaded.name)
    with (
        suppress(KeyboardInterrupt),
        show_progress(shown=not page.quiet) as progress,
        live(loaded, ratio, page, joystick=joystick) as (session, cockpit),
    ):
        while True:
            with run_folder(None, loaded, default) as folder:
                log = session.fly(folder, progress)
                save_picture(log, folder)
            if not session.restart_requested:
                reason = (log.summary or {}).get("reason") or ""
                if reason.startswith(STOPPED):
                    return
                message = "The flight has ended" + (f": {reason}" if reason else "")
                if not page.quiet:
                    typer.echo(f"{message}. Its results are in {folder}.", err=True)
                cockpit.notify(message, f"It is in {folder}. Restart the flight, or press Ctrl-C.")
                if not session.wait():
                    return
            session.prepare_restart()
            cockpit.on_restart()
