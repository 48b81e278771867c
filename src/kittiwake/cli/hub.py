"""``kittiwake hub``: guide the flocks of a scenario over sockets."""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from kittiwake.cli.check import Overrides
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.options import Quiet, positive_number
from kittiwake.cli.token_file import read_token

if TYPE_CHECKING:
    from kittiwake.adapters.hub.counters import Counters
    from kittiwake.adapters.hub.flock_server import FlockServer, MemberSlot
    from kittiwake.adapters.hub.server import Hub

MAX_SHOWN_PORTS = 20


class HubPorts(NamedTuple):
    """Address of a hub, the port of its first vehicle, and its control port if it has one."""

    host: str
    base_port: int
    control_port: int | None


def hub(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="Library name, or path of a YAML file.")
    ] = "flock-hub-8",
    overrides: Overrides = None,
    *,
    base_port: Annotated[
        int, typer.Option(metavar="P", help="Port of the first vehicle; 0 takes any free ones.")
    ] = 47100,
    host: Annotated[
        str, typer.Option(metavar="H", help="Address to listen on; needs a token beyond loopback.")
    ] = "127.0.0.1",
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with a secret that members have to know."),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="HZ", help="Rate of the set points; that of the flocks unless given."),
    ] = None,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="Wait for every member instead of the clock.")
    ] = False,
    control_port: Annotated[
        int | None,
        typer.Option(metavar="P", help="Port at which vehicles are added and removed."),
    ] = None,
    silence: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Seconds without an accepted packet until a member is lost: 2, in lockstep 30.",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="S", help="Seconds to run; until Ctrl-C unless given.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the counters alone on standard output.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Guide the members of a scenario's flocks over TCP, one vehicle a port."""
    from kittiwake.adapters.hub.flock_server import FlockServer
    from kittiwake.adapters.hub.limits import Limits
    from kittiwake.adapters.hub.server import Hub
    from kittiwake.scenario.load import load_scenario

    keep_compiled()
    rate_hz = positive_number("--rate", rate)
    duration_s = positive_number("--duration", duration)
    silence_s = positive_number("--silence", silence)
    token = None if token_file is None else read_token(token_file)
    flock_server = FlockServer(load_scenario(scenario, overrides or []), rate_hz)
    limits = Limits.usual(flock_server.rate_hz, silence_s, lockstep=lockstep)
    process = Hub(flock_server, limits, token, lockstep=lockstep)
    ports = HubPorts(host, base_port, control_port)
    asyncio.run(_serve(process, ports, duration_s, quiet=quiet or as_json))
    if as_json:
        sys.stdout.write(json.dumps(process.counters.as_dict()) + "\n")
    elif not quiet:
        _show_counters(process.counters)


async def _serve(process: "Hub", at: HubPorts, duration_s: float | None, *, quiet: bool) -> None:
    """Serve until interrupted, or until the duration is over."""
    loop, until = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, until.set)  # possible in the main thread only
    if duration_s is not None:
        loop.call_later(duration_s, until.set)

    def opened(ports: Mapping[str, int]) -> None:
        if not quiet:
            _show_ports(process.flock_server, at.host, ports)

    await process.serve(at.host, at.base_port, until, opened, at.control_port)


def _show_ports(flock_server: "FlockServer", host: str, ports: Mapping[str, int]) -> None:
    from rich.console import Console

    from kittiwake.adapters.hub.control_connection import CONTROL

    console = Console(stderr=True)
    teams: dict[str, list[MemberSlot]] = {}
    for slot in flock_server.slots.values():
        teams.setdefault(slot.team, []).append(slot)
    for team, slots in teams.items():
        console.print(f"team {team}, {len(slots)} at {flock_server.rate_hz:g} Hz:", highlight=False)
        for slot in slots[:MAX_SHOWN_PORTS]:
            note = "" if slot.guided else "  (reports only)"
            line = f"  {host}:{ports[slot.name]}  {slot.name}{note}"
            console.print(line, highlight=False, markup=False)
        if len(slots) > MAX_SHOWN_PORTS:
            last = slots[-1]
            console.print(f"  ... {host}:{ports[last.name]}  {last.name}", highlight=False)
    if CONTROL in ports:
        console.print(f"vehicles are added and removed at {host}:{ports[CONTROL]}", highlight=False)
    console.print("Ctrl-C ends the hub.", highlight=False)


def _show_counters(counters: "Counters") -> None:
    lines = [
        f"{counters.frames} frames, {counters.refused_frames} of them refused",
        f"{counters.set_points} set points sent, {counters.idle} updates without one",
        f"{counters.joined} joined, {counters.left} left, {counters.lost} lost",
    ]
    if (jitter_s := counters.deadlines.percentile_s(0.99)) is not None:
        lines.append(
            f"{counters.deadlines.missed} of {counters.deadlines.count} deadlines missed; jitter "
            f"{1e3 * jitter_s:.3g} ms (99th percentile)"
        )
    refused = [f"  {reason}: {n}" for reason, n in counters.as_dict()["refused"].items()]
    sys.stdout.write("\n".join([*lines, *(["refused:", *refused] if refused else [])]) + "\n")
