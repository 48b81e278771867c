"""``kittiwake serve``: fly a scenario in real time for others to take part in."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.check import Overrides, Scenario, show_remarks
from kittiwake.cli.hub import token_in
from kittiwake.cli.live import Gamepad, fly_by_gamepad, pace_of
from kittiwake.cli.options import Duration, OutFolder, Quiet, Seed, SummaryJson, refuse
from kittiwake.cli.ros import fly_by_ros
from kittiwake.cli.run import (
    RUN_FAILED,
    as_overrides,
    keep_compiled,
    show_progress,
    show_summary,
)
from kittiwake.core.errors import HubError

if TYPE_CHECKING:
    from kittiwake.adapters.hub.client import Member
    from kittiwake.analysis.log import Log
    from kittiwake.scenario.scenario import Scenario as LoadedScenario

# for a hub of our own to open its ports
OPENS_S = 60.0
ASKS_AGAIN_S = 0.05
ENDS_S = 5.0


def serve(
    scenario: Scenario,
    overrides: Overrides = None,
    *,
    with_hub: Annotated[
        bool, typer.Option("--hub", help="Each vehicle is a member of a hub, which guides flocks.")
    ] = False,
    joystick: Gamepad = False,
    ros1: Annotated[
        bool, typer.Option("--ros1", help="ROS 1 nodes take part, as with uav_gazebo.")
    ] = False,
    ros2: Annotated[bool, typer.Option("--ros2", help="ROS 2 nodes take part.")] = False,
    base_port: Annotated[
        int, typer.Option(metavar="P", help="The hub's port of the first vehicle.")
    ] = 47100,
    host: Annotated[str, typer.Option(metavar="H", help="The hub's address.")] = "127.0.0.1",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the hub's secret.")
    ] = None,
    lockstep: Annotated[
        bool,
        typer.Option("--lockstep", help="The hub waits for every vehicle instead of the clock."),
    ] = False,
    speed: Annotated[
        str | None,
        typer.Option(metavar="X", help="Times real time; 1, in lockstep as fast as it goes."),
    ] = None,
    duration: Duration = None,
    seed: Seed = None,
    out: OutFolder = None,
    as_json: SummaryJson = False,
    quiet: Quiet = False,
) -> None:
    """Fly a scenario by the clock while others take part, and write its results into a folder.

    With --hub a hub guides the flocks: the one that listens at the base port, or one of its own,
    which ends with the flight. With --joystick a gamepad flies the first vehicle. With --ros1 or
    --ros2 every vehicle has the topics and services of uav_gazebo, in a namespace of its own.
    """
    from kittiwake.adapters.hub.pilot import HubPilot
    from kittiwake.analysis.overview import save_overview
    from kittiwake.runtime.course import Compiled
    from kittiwake.runtime.pilot import Pace
    from kittiwake.runtime.run_folder import PICTURE_FILE, fly_into, prepare_folder
    from kittiwake.runtime.simulation import Simulation
    from kittiwake.scenario.load import load_scenario

    ways = {"--hub": with_hub, "--joystick": joystick, "--ros1": ros1, "--ros2": ros2}
    way = _way_of(ways)
    if way != "--hub":
        refuse({"--lockstep": lockstep}, way)
    pace = _pace_of(speed, lockstep=lockstep) if way == "--hub" else pace_of(speed)
    keep_compiled()
    items = [*(overrides or []), *as_overrides(duration, seed)]
    loaded = load_scenario(scenario, items)
    loaded.check_flight()
    if not quiet:
        show_remarks(loaded)
    folder = out or Path("runs") / f"{loaded.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    prepare_folder(folder)
    token = None if token_file is None else token_in(token_file)
    if way != "--hub":
        with show_progress(shown=not (as_json or quiet)) as progress:
            if way == "--joystick":
                log = fly_by_gamepad(loaded, pace or 1.0, folder, progress)
            else:
                log = fly_by_ros(loaded, "ros1" if ros1 else "ros2", pace or 1.0, folder, progress)
            save_overview(log, folder / PICTURE_FILE)
        _end(log, folder, as_json=as_json, quiet=quiet)
        return
    with ExitStack() as stack:
        if not _listens(host, base_port):
            own = _own_hub(scenario, items, host, base_port, token_file, lockstep=lockstep)
            stack.enter_context(own)
        rate_hz = _rate_of(loaded, host, base_port, token, lockstep=lockstep)
        pilot = HubPilot(loaded, rate_hz)
        progress = stack.enter_context(show_progress(shown=not (as_json or quiet)))
        simulation = Simulation(loaded)
        # compiled before anybody joins, for the hub does not wait
        clock = None if pace is None else Pace(pace)
        flight = simulation.flight(course=Compiled(simulation.program, pilot, clock))
        pilot.take(
            _members(loaded, host, base_port, token, stack),
            simulation.program.reports(flight.state),
        )
        log = fly_into(simulation, flight, folder, progress(flight))
        save_overview(log, folder / PICTURE_FILE)
    _end(log, folder, as_json=as_json, quiet=quiet)


def _end(log: "Log", folder: Path, *, as_json: bool, quiet: bool) -> None:
    summary = log.summary or {}
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    elif not quiet:
        show_summary(summary, folder)
    if summary["status"] != "completed":
        raise typer.Exit(RUN_FAILED)


def _way_of(ways: Mapping[str, bool]) -> str:
    """By which way others take part."""
    asked = [way for way, given in ways.items() if given]
    if not asked:
        message = f"nobody would take part; write {', '.join([*ways][:-1])} or {[*ways][-1]}"
        raise HubError(message)
    if len(asked) > 1:
        message = f"{asked[0]} does not go with {asked[1]}; write one of them"
        raise HubError(message)
    return asked[0]


def _pace_of(speed: str | None, *, lockstep: bool) -> float | None:
    """How many times real time; None for as fast as it goes."""
    if speed is None:
        return None if lockstep else 1.0
    try:
        pace = float(speed)
    except ValueError:
        pace = -inf
    if not 0.0 < pace < inf:
        message = f"--speed {speed} is not allowed; must be a number above 0"
        raise HubError(message)
    if pace != 1.0 and not lockstep:
        message = f"a hub goes by the clock, so --speed {speed} needs --lockstep as well"
        raise HubError(message)
    return pace


def _listens(host: str, port: int) -> bool:
    """Whether somebody takes connections there."""
    try:
        socket.create_connection((host, port), timeout=1.0).close()
    except (OSError, UnicodeError, OverflowError):
        return False
    return True


@contextmanager
def _own_hub(
    scenario: str,
    items: list[str],
    host: str,
    base_port: int,
    token_file: Path | None,
    *,
    lockstep: bool,
) -> Generator[None]:
    """A hub in a process of its own, for as long as the context lasts."""
    command = [sys.executable, "-m", "kittiwake", "hub", scenario, "--quiet"]
    command += ["--host", host, "--base-port", str(base_port)]
    command += [part for item in items for part in ("--set", item)]
    command += ["--lockstep"] if lockstep else []
    command += [] if token_file is None else ["--token-file", str(token_file)]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(process, host, base_port)
            yield
        finally:
            process.terminate()
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(process: "subprocess.Popen[bytes]", host: str, port: int) -> None:
    end_s = time.monotonic() + OPENS_S
    while not _listens(host, port):
        if process.poll() is not None:
            message = "the hub ended before it opened its ports"
            raise HubError(message)
        if time.monotonic() > end_s:
            message = f"the hub has not opened {host}:{port} within {OPENS_S:g} s"
            raise HubError(message)
        time.sleep(ASKS_AGAIN_S)


def _rate_of(
    scenario: "LoadedScenario", host: str, base_port: int, token: str | None, *, lockstep: bool
) -> float:
    """How often the hub decides, as it says to the first vehicle."""
    first = next(iter(_places(scenario, base_port)))
    with _member(scenario, *first, host, token) as member:
        hello = member.hello
        assert hello is not None, "it has joined"
    if hello.lockstep != lockstep:
        word = "with" if hello.lockstep else "without"
        message = f"the hub at {host}:{base_port} runs {word} --lockstep; do the same here"
        raise HubError(message)
    return hello.rate_hz


def _members(
    scenario: "LoadedScenario", host: str, base_port: int, token: str | None, stack: ExitStack
) -> dict[str, "Member"]:
    """All vehicles as members."""
    return {
        name: stack.enter_context(_member(scenario, port, name, host, token))
        for port, name in _places(scenario, base_port)
    }


def _places(scenario: "LoadedScenario", base_port: int) -> Iterable[tuple[int, str]]:
    from kittiwake.adapters.hub.hive import in_order_of_ports

    return enumerate(in_order_of_ports(scenario), start=base_port)


def _member(
    scenario: "LoadedScenario", port: int, name: str, host: str, token: str | None
) -> "Member":
    from kittiwake.adapters.hub.client import Member

    place = scenario.vehicles[name].start.position_world_m
    place_m = [float(place.x), float(place.y), float(place.z)]
    return Member(port=port, name=name, position_m=place_m, host=host, token=token)
