"""``kittiwake serve``: fly a scenario in real time for others to take part in."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import Overrides, Scenario, show_remarks
from kittiwake.cli.live import Gamepad, fly_by_gamepad, pace_of
from kittiwake.cli.members import HubPlace, fly_by_hub, hub_pace_of
from kittiwake.cli.options import Duration, OutFolder, Quiet, Seed, SummaryJson, refuse
from kittiwake.cli.ros import fly_by_ros
from kittiwake.cli.run import (
    as_overrides,
    keep_compiled,
    report_if_stopped,
    show_progress,
    show_summary,
)
from kittiwake.core.errors import HubError

if TYPE_CHECKING:
    from kittiwake.analysis.log import Log


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
    from kittiwake.analysis.overview import save_overview
    from kittiwake.runtime.run_folder import PICTURE_FILE, run_folder
    from kittiwake.scenario.load import load_scenario
    from kittiwake.tasks.task_commander import check_task

    way = _way_of({"--hub": with_hub, "--joystick": joystick, "--ros1": ros1, "--ros2": ros2})
    if way != "--hub":
        refuse({"--lockstep": lockstep, "--token-file": token_file}, way)
    pace = hub_pace_of(speed, lockstep=lockstep) if way == "--hub" else pace_of(speed)
    keep_compiled()
    items = [*(overrides or []), *as_overrides(duration, seed)]
    loaded = load_scenario(scenario, items, logged=True)
    loaded.check_flight()
    check_task(loaded)
    if not quiet:
        show_remarks(loaded)
    progress = show_progress(shown=not (as_json or quiet))
    with run_folder(out, loaded) as folder, report_if_stopped(folder):
        match way:
            case "--hub":
                hub = HubPlace(host, base_port, token_file, lockstep)
                log = fly_by_hub(loaded, [scenario, *items], hub, pace, folder, progress)
            case "--joystick":
                log = fly_by_gamepad(loaded, pace, folder, progress)
            case _:
                log = fly_by_ros(loaded, "ros1" if ros1 else "ros2", pace, folder, progress)
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
