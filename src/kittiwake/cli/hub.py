"""``kittiwake hub``: guide the flocks of a scenario over sockets."""

import asyncio
import contextlib
import json
import os
import signal
import stat
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli.check import Overrides
from kittiwake.cli.options import Quiet
from kittiwake.core.errors import HubError

if TYPE_CHECKING:
    from kittiwake.adapters.hub.counters import Counters
    from kittiwake.adapters.hub.flock_server import FlockServer, Place
    from kittiwake.adapters.hub.server import Hub

MOST_SHOWN = 20


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
        typer.Option(metavar="HZ", help="Of the set points, the flocks' own unless given."),
    ] = None,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="Wait for every member instead of the clock.")
    ] = False,
    silence: Annotated[
        str | None,
        typer.Option(
            metavar="S",
            help="Seconds without a packet in order until a member is lost: 2, in lockstep 30.",
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
    from kittiwake.cli.run import keep_compiled
    from kittiwake.scenario.load import load_scenario

    keep_compiled()
    rate_hz = None if rate is None else _above_zero("--rate", rate)
    duration_s = None if duration is None else _above_zero("--duration", duration)
    silence_s = None if silence is None else _above_zero("--silence", silence)
    token = None if token_file is None else token_in(token_file)
    flock_server = FlockServer(load_scenario(scenario, overrides or []), rate_hz)
    limits = Limits.usual(flock_server.rate_hz, silence_s, lockstep=lockstep)
    process = Hub(flock_server, limits, token, lockstep=lockstep)
    asyncio.run(_serve(process, host, base_port, duration_s, quiet=quiet or as_json))
    if as_json:
        sys.stdout.write(json.dumps(process.counters.as_dict()) + "\n")
    elif not quiet:
        _show_counters(process.counters)


def token_in(file: Path) -> str:
    """The secret that a file holds; it is told if others can read it.

    Raises:
        HubError: if it is no text.
    """
    try:
        if os.name == "posix" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            typer.echo(f"{file}: others of this machine may read it; chmod 600 {file}", err=True)
        return file.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        message = f"{file} is no text in UTF-8; write a secret of letters and digits into it"
        raise HubError(message) from None


def _above_zero(option: str, written: str) -> float:
    with contextlib.suppress(ValueError):
        if 0.0 < float(written) < inf:
            return float(written)
    message = f"{option} {written} is not allowed; must be a number above 0"
    raise HubError(message)


async def _serve(
    process: "Hub", host: str, base_port: int, duration_s: float | None, *, quiet: bool
) -> None:
    """Guides until it is interrupted, or the time is over."""
    loop, until = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, until.set)  # in the main thread alone
    if duration_s is not None:
        loop.call_later(duration_s, until.set)

    def opened(ports: Mapping[str, int]) -> None:
        if not quiet:
            _show_ports(process.flock_server, host, ports)

    await process.serve(host, base_port, until, opened)


def _show_ports(flock_server: "FlockServer", host: str, ports: Mapping[str, int]) -> None:
    from rich.console import Console

    console = Console(stderr=True)
    teams: dict[str, list[Place]] = {}
    for place in flock_server.places.values():
        teams.setdefault(place.team, []).append(place)
    for team, places in teams.items():
        console.print(
            f"team {team}, {len(places)} at {flock_server.rate_hz:g} Hz:", highlight=False
        )
        for place in places[:MOST_SHOWN]:
            idle = "" if place.guided else "  (reports only)"
            line = f"  {host}:{ports[place.name]}  {place.name}{idle}"
            console.print(line, highlight=False, markup=False)
        if len(places) > MOST_SHOWN:
            last = places[-1]
            console.print(f"  ... {host}:{ports[last.name]}  {last.name}", highlight=False)
    console.print("Ctrl-C ends the hub.", highlight=False)


def _show_counters(counters: "Counters") -> None:
    lines = [
        f"{counters.frames} frames, {counters.refused_frames} of them refused",
        f"{counters.set_points} set points sent, {counters.idle} times none",
        f"{counters.joined} joined, {counters.left} left, {counters.lost} lost",
    ]
    refused = [f"  {reason}: {n}" for reason, n in counters.as_dict()["refused"].items()]
    sys.stdout.write("\n".join([*lines, *(["refused:", *refused] if refused else [])]) + "\n")
