"""``kittiwake view``: cockpit of live flights and recorded runs, with a start page."""

import gc
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import AllowCode, Overrides, show_scenario_warnings
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.flight_report import show_progress
from kittiwake.cli.live import Gamepad, Speed, live, parse_speed
from kittiwake.cli.options import Duration, Quiet, Seed, as_overrides, refuse, warn_of_early_end
from kittiwake.cli.page import (
    LOOPBACK,
    Host,
    NoBrowser,
    PageOptions,
    Port,
    TokenFile,
    announced,
    open_site,
)
from kittiwake.core.errors import CockpitError, KittiwakeError
from kittiwake.core.extras import require_cockpit

if TYPE_CHECKING:
    from kittiwake.cockpit.site import CockpitSite
    from kittiwake.cockpit.start_choices import Choice
    from kittiwake.scenario.scenario import Scenario
    from kittiwake.scene.log_playback import LogPlayback

PLAYGROUND = "Playground: no end after {written_s:g} s; a lost vehicle does not end the flight"

PREPARING = "Preparing the flight"


class _Recording(NamedTuple):
    """Run to replay, and a second one shown as a ghost."""

    playback: "LogPlayback"
    ghost: "LogPlayback | None" = None

    @property
    def title(self) -> str:
        """Name of the recorded scenario."""
        return self.playback.flight.scenario.name


class _Options(NamedTuple):
    """Changes to a scenario, code it may load, and whether it is flown as a playground."""

    items: tuple[str, ...] = ()
    allow_code: list[Path] | None = None
    as_written: bool = False
    endless: bool = True


class _Flight(NamedTuple):
    """Scenario to fly at a speed, and a note on how it is flown."""

    scenario: "Scenario"
    speed: float = 1.0
    note: str = ""
    joystick: bool = False

    @property
    def title(self) -> str:
        """Name of the scenario."""
        return self.scenario.name


def view(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="DIR_OR_SCENARIO",
            help="A run's folder, or a scenario to fly; the start page by default.",
        ),
    ] = None,
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
    as_written: Annotated[
        bool,
        typer.Option(
            "--as-written", help="End the flight as the scenario says, not as a playground."
        ),
    ] = False,
    quiet: Quiet = False,
    allow_code: AllowCode = None,
) -> None:
    """Show a run, or fly a scenario, on a page in the browser until Ctrl-C.

    Without an argument, a start page offers the library, the runs in runs/ and files of your own.
    A run's folder is replayed. A scenario is flown in real time from the page: each flight is
    written into its own folder, runs/NAME-TIME, as by 'kittiwake run'. It goes on after its
    duration and when a vehicle is lost, unless its file, --duration or --as-written says otherwise.
    """
    from kittiwake.cockpit.start_choices import remember_file
    from kittiwake.runtime.interrupt import ended_by

    require_cockpit()
    page = PageOptions(port, host, token_file, browser=not no_browser, quiet=quiet)
    live_only = {"--set": overrides, "--speed": speed, "--duration": duration, "--seed": seed}
    live_only |= {"--joystick": joystick, "--allow-code": allow_code, "--as-written": as_written}
    # taken out when it is shown, so that its memory is free after it
    flights: list[_Recording | _Flight] = []
    if what is None:
        refuse({**live_only, "--ghost": ghost}, "the start page; name a scenario or a run's folder")
    elif Path(what).is_dir():
        refuse(live_only, "a recorded run")
        flights.append(_recording(Path(what), ghost))
    else:
        refuse({"--ghost": ghost}, "a scenario")
        _refuse_log(Path(what))
        options = _Options(
            (*(overrides or []), *as_overrides(duration, seed)),
            allow_code,
            as_written,
            endless=duration is None,
        )
        flight = _flight(what, options)
        remember_file(what)
        if not quiet:
            show_scenario_warnings(flight.scenario)
        flights.append(flight._replace(speed=parse_speed(speed), joystick=joystick))
        del flight
    keep_compiled()
    with (
        suppress(KeyboardInterrupt),
        open_site(page, has_start_page=True) as site,
    ):
        if flights:
            site.open(flights[0].title, PREPARING)
        with announced(site.address, page):
            _show_flights(site, flights, quiet=quiet)
    if ended_by(signal.SIGTERM):  # Ctrl-C is the normal end
        raise typer.Exit(RUN_FAILED)


def _refuse_log(path: Path) -> None:
    if path.suffix == ".mcap":
        message = f"'{path}' is a log; give its folder, '{path.parent}'"
        raise CockpitError(message)


def _recording(folder: Path, ghost: Path | None = None) -> _Recording:
    from kittiwake.cockpit.recorded import recorded

    folders = [folder] if ghost is None else [folder, ghost]
    playbacks: list[LogPlayback] = []
    for each in folders:
        playbacks.append(recorded(each))
        warn_of_early_end(playbacks[-1].early_end, each)
    return _Recording(*playbacks)


def _flight(name: str, options: _Options) -> _Flight:
    """Return the flight of a scenario, with a note on how it is flown."""
    from kittiwake.scenario.load import load_scenario
    from kittiwake.scenario.playground import as_playground
    from kittiwake.tasks.task_commander import check_task

    written = load_scenario(name, options.items, logged=True, allow_code=options.allow_code)
    written.check_flight()
    check_task(written)
    if options.as_written:
        return _Flight(written)
    flown = as_playground(written, endless=options.endless)
    changed = flown.duration_s > written.duration_s
    return _Flight(flown, note=PLAYGROUND.format(written_s=written.duration_s) if changed else "")


def _show_flights(site: "CockpitSite", flights: list[_Recording | _Flight], *, quiet: bool) -> None:
    """Show one flight after another, as they are chosen, until Ctrl-C.

    Raises:
        KittiwakeError: if the first one fails; a chosen one is refused on the page instead.
    """
    chosen = False
    while True:
        if flights:
            try:
                if not _show(site, flights.pop(), quiet=quiet):
                    return
            except KittiwakeError as error:
                if not chosen:
                    raise
                site.refuse(str(error))
            _free_memory()
        choice, chosen = site.next_choice(), True
        if choice is not None:
            flights += _chosen(site, choice)


def _show(site: "CockpitSite", shown: _Recording | _Flight, *, quiet: bool) -> bool:
    """Show a flight until another choice is made; return False if Ctrl-C ends it instead."""
    if isinstance(shown, _Flight):
        return _fly(site, shown, quiet=quiet)
    _replay(site, shown)
    return True


def _chosen(site: "CockpitSite", choice: "Choice") -> list[_Recording | _Flight]:
    """Return what was chosen; nothing if it is refused."""
    from kittiwake.cockpit.start_choices import RunChoice

    try:
        if isinstance(choice, RunChoice):
            site.open(choice.title, "Reading the log")
            return [_recording(choice.folder)]
        site.open(choice.title, "Reading the scenario")
        flight = _flight(choice.scenario, _Options())
    except (KittiwakeError, OSError) as error:
        site.refuse("\n".join(map(str, (error, *getattr(error, "__notes__", ())))))
        return []
    site.open(choice.title, PREPARING)
    return [flight]


def _free_memory() -> None:
    """Free what the last flight has built and compiled."""
    from kittiwake.runtime.fleet_functions import forget_functions
    from kittiwake.runtime.heap import trim_heap

    forget_functions()
    gc.collect()
    trim_heap()


def _replay(site: "CockpitSite", shown: _Recording) -> None:
    """Show a run until another choice is made."""
    from kittiwake.cockpit.cockpit import Cockpit
    from kittiwake.cockpit.replay import Replay

    with site.show(
        lambda server: Cockpit(
            server,
            shown.playback.flight,
            Replay(shown.playback),
            ghost=shown.ghost,
            has_start_page=True,
        )
    ):
        site.await_choice()


def _fly(site: "CockpitSite", shown: _Flight, *, quiet: bool) -> bool:
    """Fly a scenario until another choice is made; return False if Ctrl-C ends it instead."""
    from kittiwake.analysis.run_folder import default_folder, run_folder, save_picture
    from kittiwake.analysis.run_outcome import STOPPED

    scenario = shown.scenario
    default = default_folder(scenario.name)
    with (
        show_progress(shown=not quiet) as progress,
        live(scenario, shown.speed, site, joystick=shown.joystick, note=shown.note) as (
            session,
            cockpit,
        ),
    ):
        while True:
            with run_folder(None, scenario, default) as folder:
                log = session.fly(folder, progress)
                save_picture(log, folder)
            if session.closed:
                return True
            if not session.restart_requested:
                reason = (log.summary or {}).get("reason") or ""
                if reason.startswith(STOPPED):
                    return False
                message = "The flight has ended" + (f": {reason}" if reason else "")
                if not quiet:
                    typer.echo(f"{message}. Its results are in {folder}.", err=True)
                cockpit.notify(message, f"It is in {folder}. Restart the flight, or press Ctrl-C.")
                if not session.wait():
                    return True
            session.prepare_restart()
            cockpit.on_restart()
