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

from kittiwake.cli.token_file import read_token
from kittiwake.core.errors import HubError

if TYPE_CHECKING:
    from kittiwake.adapters.hub.client import Member
    from kittiwake.analysis.log import Log
    from kittiwake.runtime.loop import Follow
    from kittiwake.scenario.scenario import Scenario

# longest wait for an own hub to open its ports
MAX_START_S = 60.0
POLL_PERIOD_S = 0.05
MAX_STOP_S = 5.0


class HubAddress(NamedTuple):
    """Address of a hub, and how members join it."""

    host: str
    base_port: int
    token_file: Path | None
    lockstep: bool
    control_port: int | None = None


def fly_by_hub(
    scenario: "Scenario",
    written: Sequence[str],
    hub: HubAddress,
    speed: float,
    folder: Path,
    progress: "AbstractContextManager[Follow]",
) -> "Log":
    """Fly a scenario into a folder, guided by a running hub, or by one started for the flight.

    Args:
        scenario: scenario of the flight.
        written: its name or path, and its overrides, as arguments of an own hub.
        hub: address of the hub.
        speed: ratio of simulated to real time; infinity for unlimited.
        folder: folder of the results.
        progress: display of the progress, from when the flight is compiled.
    """
    from kittiwake.adapters.hub.command_source import HubCommandSource
    from kittiwake.adapters.hub.hub_executor import HubExecutor
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.command_source import reports_of
    from kittiwake.runtime.recorded_flight import fly_into
    from kittiwake.runtime.simulation import Simulation
    from kittiwake.scenario.randomization import drawn

    token = None if hub.token_file is None else read_token(hub.token_file)
    scenario = drawn(scenario, scenario.seed)
    with ExitStack() as stack:
        if not _listens(hub):
            stack.enter_context(_start_hub(written, hub))
        source = HubCommandSource(scenario, _hub_rate_hz(scenario, hub, token))
        follow = stack.enter_context(progress)
        simulation = Simulation(scenario)
        # the hub does not wait, so a late flight catches up
        clock = RealTimeClock(speed, late_s=inf)

        # compiled before the members join
        def join(later: "Scenario", name: str, port: int) -> "Member":
            return _member(later, port, name, hub.host, token, follows=True)

        executor = stack.enter_context(
            HubExecutor(simulation, source, clock, join, lockstep=hub.lockstep)
        )
        flight = simulation.flight(executor=executor)
        stack.callback(source.leave)
        members = {
            name: join(scenario, name, port)
            for port, name in _ports_and_names(scenario, hub.base_port)
        }
        source.attach(members, reports_of(simulation.fleet, flight.state))
        return fly_into(simulation, flight, folder, follow(flight), changed=lambda: executor.flown)


def hub_speed(speed: str | None, *, lockstep: bool) -> float:
    """Return the ratio of simulated to real time of a hub's flight; infinity for unlimited.

    Raises:
        HubError: if it is not a positive number, or requires lockstep.
    """
    if speed is None:
        return inf if lockstep else 1.0
    try:
        pace = float(speed)
    except ValueError:
        pace = -inf
    if not 0.0 < pace < inf:
        message = f"`--speed`: got {speed}; must be a number above 0"
        raise HubError(message)
    if pace != 1.0 and not lockstep:
        message = f"`--speed`: got {speed}; a hub in real time requires 1, or add --lockstep"
        raise HubError(message)
    return pace


def _listens(hub: HubAddress) -> bool:
    """Return True if connections are accepted at this address."""
    try:
        socket.create_connection((hub.host, hub.base_port), timeout=1.0).close()
    except (OSError, UnicodeError, OverflowError):
        return False
    return True


@contextmanager
def _start_hub(written: Sequence[str], hub: HubAddress) -> Generator[None]:
    """Run a hub in another process for as long as the context lasts."""
    scenario, *items = written
    command = [sys.executable, "-m", "kittiwake", "hub", scenario, "--quiet"]
    command += ["--host", hub.host, "--base-port", str(hub.base_port)]
    command += [part for item in items for part in ("--set", item)]
    command += ["--lockstep"] if hub.lockstep else []
    command += [] if hub.control_port is None else ["--control-port", str(hub.control_port)]
    command += [] if hub.token_file is None else ["--token-file", str(hub.token_file)]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(process, hub)
            yield
        finally:
            process.terminate()
            try:
                process.wait(MAX_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(process: "subprocess.Popen[bytes]", hub: HubAddress) -> None:
    end_s = time.monotonic() + MAX_START_S
    while not _listens(hub):
        if process.poll() is not None:
            message = "the hub ended before it opened its ports"
            raise HubError(message)
        if time.monotonic() > end_s:
            message = f"the hub has not opened {hub.host}:{hub.base_port} within {MAX_START_S:g} s"
            raise HubError(message)
        time.sleep(POLL_PERIOD_S)


def _hub_rate_hz(scenario: "Scenario", hub: HubAddress, token: str | None) -> float:
    """Return the rate of the hub's set points, as in its hello to the first vehicle."""
    first = next(iter(_ports_and_names(scenario, hub.base_port)))
    with _member(scenario, *first, hub.host, token) as member:
        hello = member.hello
        assert hello is not None, "it has joined"
    if hello.lockstep != hub.lockstep:
        word = "with" if hello.lockstep else "without"
        message = f"the hub at {hub.host}:{hub.base_port} runs {word} --lockstep; use the same here"
        raise HubError(message)
    return hello.rate_hz


def _ports_and_names(scenario: "Scenario", base_port: int) -> Iterable[tuple[int, str]]:
    from kittiwake.adapters.hub.flock_server import names_in_port_order

    return enumerate(names_in_port_order(scenario), start=base_port)


def _member(
    scenario: "Scenario",
    port: int,
    name: str,
    host: str,
    token: str | None,
    *,
    follows: bool = False,
) -> "Member":
    from kittiwake.adapters.hub.client import Member

    position = scenario.vehicles[name].start.position_world_m
    position_m = [float(position.x), float(position.y), float(position.z)]
    return Member(
        port=port, name=name, position_m=position_m, host=host, token=token, follows=follows
    )
