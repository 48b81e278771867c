"""Flights with MAVLink clients, for ``kittiwake serve``."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from kittiwake.analysis.log import Log
    from kittiwake.runtime.loop import Follow
    from kittiwake.scenario.scenario import Scenario

# where ground stations, and programs, listen by convention, and what vehicles send from
GROUND_STATION_PORT, PROGRAM_PORT, VEHICLE_PORT = 14550, 14540, 14580


def fly_by_mavlink(
    scenario: "Scenario",
    speed: float,
    folder: "Path",
    progress: "AbstractContextManager[Follow]",
    *,
    quiet: bool,
) -> "Log":
    """Fly into a folder; each vehicle is a system of MAVLink.

    Raises:
        MissingExtraError: without the extra ``mavlink``.
    """
    from kittiwake.adapters.mavlink.link import MavlinkLink
    from kittiwake.adapters.mavlink.server import MavlinkServer
    from kittiwake.runtime.clock import RealTimeClock
    from kittiwake.runtime.session import Session

    server = MavlinkServer(MavlinkLink([GROUND_STATION_PORT, PROGRAM_PORT], VEHICLE_PORT))
    try:
        session = Session(scenario, RealTimeClock(speed), server.publish_block)
        server.open(session.executor)
        if not quiet:
            names = ", ".join(f"{n} {name}" for n, name in enumerate(scenario.vehicles, 1))
            ports = f"ports {GROUND_STATION_PORT} and {PROGRAM_PORT} of this machine"
            typer.echo(f"MAVLink to {ports}; systems: {names}", err=True)
        with progress as follow:
            return session.fly(folder, follow)
    finally:
        server.close()
