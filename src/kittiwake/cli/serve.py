"""``kittiwake serve``: real-time flight with a hub, a gamepad, ROS nodes or MAVLink clients."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import AllowCode, Overrides, Scenario, show_scenario_warnings
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.flight_report import report_if_stopped, show_progress, show_summary
from kittiwake.cli.hub_flight import HubAddress, fly_by_hub, hub_speed
from kittiwake.cli.live import Gamepad, fly_by_gamepad, parse_speed
from kittiwake.cli.mavlink import fly_by_mavlink
from kittiwake.cli.options import (
    Duration,
    OutFolder,
    Quiet,
    Seed,
    SummaryJson,
    as_overrides,
    refuse,
)
from kittiwake.cli.ros import fly_by_ros
from kittiwake.core.errors import HubError

if TYPE_CHECKING:
    from kittiwake.analysis.log import Log

HUB_HOST, HUB_PORT = "127.0.0.1", 47100


def serve(
    scenario: Scenario,
    overrides: Overrides = None,
    *,
    with_hub: Annotated[
        bool, typer.Option("--hub", help="Each vehicle is a member of a hub, which guides flocks.")
    ] = False,
    joystick: Gamepad = False,
    ros1: Annotated[
        bool, typer.Option("--ros1", help="Serve ROS 1 nodes, as uav_gazebo does.")
    ] = False,
    ros2: Annotated[bool, typer.Option("--ros2", help="Serve ROS 2 nodes.")] = False,
    mavlink: Annotated[
        bool,
        typer.Option(
            "--mavlink", help="Each vehicle is a MAVLink system, for ports 14550 and 14540."
        ),
    ] = False,
    base_port: Annotated[
        int | None,
        typer.Option(metavar="P", help=f"The hub's first port; default {HUB_PORT}."),
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="H", help=f"Address of the hub; default {HUB_HOST}.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the secret of the hub.")
    ] = None,
    control_port: Annotated[
        int | None,
        typer.Option(metavar="P", help="Port of a started hub at which vehicles are added."),
    ] = None,
    lockstep: Annotated[
        bool,
        typer.Option("--lockstep", help="The hub waits for every vehicle instead of the clock."),
    ] = False,
    speed: Annotated[
        str | None,
        typer.Option(metavar="X", help="Ratio to real time; default 1, in lockstep unlimited."),
    ] = None,
    duration: Duration = None,
    seed: Seed = None,
    out: OutFolder = None,
    as_json: SummaryJson = False,
    quiet: Quiet = False,
    allow_code: AllowCode = None,
) -> None:
    """Fly a scenario in real time with other programs, and write its results into a folder.

    With --hub a hub guides the flocks: the one that listens at the base port, or else one that is
    started for the flight. With --joystick a gamepad flies the first vehicle. With --ros1 or --ros2
    every vehicle has the topics and services of uav_gazebo, in its own namespace. With --mavlink
    ground stations and programs command the vehicles as they do drones with PX4.
    """
    from kittiwake.analysis.run_folder import run_folder, save_picture
    from kittiwake.scenario.load import load_scenario
    from kittiwake.tasks.task_commander import check_task

    modes = {"--hub": with_hub, "--joystick": joystick, "--ros1": ros1, "--ros2": ros2}
    mode = _mode(modes | {"--mavlink": mavlink})
    if mode != "--hub":
        refuse(
            {
                "--base-port": base_port,
                "--host": host,
                "--lockstep": lockstep,
                "--token-file": token_file,
                "--control-port": control_port,
            },
            mode,
        )
    ratio = hub_speed(speed, lockstep=lockstep) if mode == "--hub" else parse_speed(speed)
    keep_compiled()
    items = [*(overrides or []), *as_overrides(duration, seed)]
    loaded = load_scenario(scenario, items, logged=True, allow_code=allow_code)
    loaded.check_flight()
    check_task(loaded)
    if not quiet:
        show_scenario_warnings(loaded)
    progress = show_progress(shown=not (as_json or quiet))
    with run_folder(out, loaded) as folder, report_if_stopped(folder):
        match mode:
            case "--hub":
                hub = HubAddress(
                    host=host or HUB_HOST,
                    base_port=HUB_PORT if base_port is None else base_port,
                    token_file=token_file,
                    lockstep=lockstep,
                    control_port=control_port,
                )
                log = fly_by_hub(loaded, [scenario, *items], hub, ratio, folder, progress)
            case "--joystick":
                log = fly_by_gamepad(loaded, ratio, folder, progress)
            case "--mavlink":
                log = fly_by_mavlink(loaded, ratio, folder, progress, quiet=quiet)
            case _:
                log = fly_by_ros(loaded, "ros1" if ros1 else "ros2", ratio, folder, progress)
        save_picture(log, folder)
    _end(log, folder, as_json=as_json, quiet=quiet)


def _end(log: "Log", folder: Path, *, as_json: bool, quiet: bool) -> None:
    summary = log.summary or {}
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    elif not quiet:
        show_summary(summary, folder)
    if summary["status"] != "completed":
        raise typer.Exit(RUN_FAILED)


def _mode(modes: Mapping[str, bool]) -> str:
    """Return the option of the only selected mode."""
    selected = [option for option, is_set in modes.items() if is_set]
    if not selected:
        message = f"no mode is given; write {', '.join([*modes][:-1])} or {[*modes][-1]}"
        raise HubError(message)
    if len(selected) > 1:
        message = f"`{selected[0]}`: not allowed with {selected[1]}; write one of them"
        raise HubError(message)
    return selected[0]
