"""Flights whose vehicles are members of a hub, for ``kittiwake serve``."""

import socket
import subprocess
import sys
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kittiwake.cli.hub import token_in
from kittiwake.core.errors import HubError

if TYPE_CHECKING:
    from kittiwake.adapters.hub.client import Member
    from kittiwake.analysis.log import Log
    from kittiwake.runtime.loop import Follow
    from kittiwake.scenario.scenario import Scenario

# for a hub of our own to open its ports
OPENS_S = 60.0
ASKS_AGAIN_S = 0.05
ENDS_S = 5.0


class HubPlace(NamedTuple):
    """Where a hub listens, and how it is joined."""

    host: str
    base_port: int
    token_file: Path | None
    lockstep: bool


def fly_by_hub(
    scenario: "Scenario",
    written: Sequence[str],
    hub: HubPlace,
    speed: float,
    folder: Path,
    progress: "AbstractContextManager[Follow]",
) -> "Log":
    """One flight into a folder, guided by the hub there, or by one of its own.

    Args:
        scenario: what is flown.
        written: its name or path, and what is set in it, for a hub of its own.
        hub: where it is.
        speed: how many times real time; infinity for as fast as it goes.
        folder: for the results.
        progress: shows it, from when the flight is compiled.
    """
    from kittiwake.adapters.hub.command_source import HubCommandSource
    from kittiwake.runtime.command_source import Pace
    from kittiwake.runtime.flight_executor import CompiledExecutor
    from kittiwake.runtime.run_folder import fly_into
    from kittiwake.runtime.simulation import Simulation

    token = None if hub.token_file is None else token_in(hub.token_file)
    with ExitStack() as stack:
        if not _listens(hub):
            stack.enter_context(_own_hub(written, hub))
        pilot = HubCommandSource(scenario, _rate_of(scenario, hub, token))
        follow = stack.enter_context(progress)
        simulation = Simulation(scenario)
        # compiled before anybody joins, for the hub does not wait
        clock = None if speed == inf else Pace(speed)
        flight = simulation.flight(executor=CompiledExecutor(simulation.program, pilot, clock))
        members = {
            name: stack.enter_context(_member(scenario, port, name, hub.host, token))
            for port, name in _places(scenario, hub.base_port)
        }
        pilot.take(members, simulation.program.reports(flight.state))
        return fly_into(simulation, flight, folder, follow(flight))


def hub_pace_of(speed: str | None, *, lockstep: bool) -> float:
    """How many times real time a hub's flight goes; infinity for as fast as it can.

    Raises:
        HubError: for what is no speed, or not one of a hub.
    """
    if speed is None:
        return inf if lockstep else 1.0
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


def _listens(hub: HubPlace) -> bool:
    """Whether somebody takes connections there."""
    try:
        socket.create_connection((hub.host, hub.base_port), timeout=1.0).close()
    except (OSError, UnicodeError, OverflowError):
        return False
    return True


@contextmanager
def _own_hub(written: Sequence[str], hub: HubPlace) -> Generator[None]:
    """A hub in a process of its own, for as long as the context lasts."""
    scenario, *items = written
    command = [sys.executable, "-m", "kittiwake", "hub", scenario, "--quiet"]
    command += ["--host", hub.host, "--base-port", str(hub.base_port)]
    command += [part for item in items for part in ("--set", item)]
    command += ["--lockstep"] if hub.lockstep else []
    command += [] if hub.token_file is None else ["--token-file", str(hub.token_file)]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(process, hub)
            yield
        finally:
            process.terminate()
            try:
                process.wait(ENDS_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(process: "subprocess.Popen[bytes]", hub: HubPlace) -> None:
    end_s = time.monotonic() + OPENS_S
    while not _listens(hub):
        if process.poll() is not None:
            message = "the hub ended before it opened its ports"
            raise HubError(message)
        if time.monotonic() > end_s:
            message = f"the hub has not opened {hub.host}:{hub.base_port} within {OPENS_S:g} s"
            raise HubError(message)
        time.sleep(ASKS_AGAIN_S)


def _rate_of(scenario: "Scenario", hub: HubPlace, token: str | None) -> float:
    """How often the hub decides, as it says to the first vehicle."""
    first = next(iter(_places(scenario, hub.base_port)))
    with _member(scenario, *first, hub.host, token) as member:
        hello = member.hello
        assert hello is not None, "it has joined"
    if hello.lockstep != hub.lockstep:
        word = "with" if hello.lockstep else "without"
        message = f"the hub at {hub.host}:{hub.base_port} runs {word} --lockstep; do the same here"
        raise HubError(message)
    return hello.rate_hz


def _places(scenario: "Scenario", base_port: int) -> Iterable[tuple[int, str]]:
    from kittiwake.adapters.hub.flock_server import in_order_of_ports

    return enumerate(in_order_of_ports(scenario), start=base_port)


def _member(scenario: "Scenario", port: int, name: str, host: str, token: str | None) -> "Member":
    from kittiwake.adapters.hub.client import Member

    place = scenario.vehicles[name].start.position_world_m
    place_m = [float(place.x), float(place.y), float(place.z)]
    return Member(port=port, name=name, position_m=place_m, host=host, token=token)
