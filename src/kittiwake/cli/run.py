"""``kittiwake run``: flight of a scenario with log, summary and picture."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kittiwake.cli import RUN_FAILED
from kittiwake.cli.check import (
    AllowCode,
    OptionalScenario,
    Overrides,
    show_scenario_warnings,
)
from kittiwake.cli.compiled_programs import keep_compiled
from kittiwake.cli.flight_report import report_if_stopped, show_progress, show_summary
from kittiwake.cli.live import Gamepad, Speed, fly_live, parse_speed
from kittiwake.cli.options import (
    Duration,
    OutFolder,
    Quiet,
    Seed,
    SummaryJson,
    as_overrides,
    positive_number,
    refuse,
)
from kittiwake.cli.page import (
    LOOPBACK,
    Host,
    NoBrowser,
    PageOptions,
    Port,
    TokenFile,
)
from kittiwake.core.errors import ScenarioError
from kittiwake.core.extras import require_cockpit

if TYPE_CHECKING:
    from kittiwake.analysis.log import Log
    from kittiwake.core.precision import Precision
    from kittiwake.runtime.loop import Follow
    from kittiwake.runtime.simulation import Simulation
    from kittiwake.scenario.scenario import Scenario as LoadedScenario


CheckpointEvery = Annotated[
    str | None,
    typer.Option(
        metavar="S",
        help="Write a checkpoint every so many simulated seconds, for --resume.",
    ),
]
EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="simd|xla",
        help="Compiler of the steps; by default the one that suits the scenario.",
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Continue the run in this folder from its last checkpoint, to the same bits.",
    ),
]
RunNumber = Annotated[
    int | None,
    typer.Option(
        "--run",
        metavar="N",
        min=0,
        help="Fly a run of the sweep in the folder SCENARIO again, with log and picture.",
    ),
]


def run(
    scenario: OptionalScenario = None,
    overrides: Overrides = None,
    *,
    duration: Duration = None,
    seed: Seed = None,
    out: OutFolder = None,
    is_live: Annotated[
        bool, typer.Option("--live", help="Fly in real time, with a cockpit in the browser.")
    ] = False,
    speed: Speed = None,
    port: Port = None,
    host: Host = LOOPBACK,
    token_file: TokenFile = None,
    no_browser: NoBrowser = False,
    joystick: Gamepad = False,
    as_json: SummaryJson = False,
    quiet: Quiet = False,
    allow_code: AllowCode = None,
    checkpoint_every: CheckpointEvery = None,
    resume: Resume = None,
    engine: EngineOption = None,
    number: RunNumber = None,
) -> None:
    """Fly a scenario and write its log, summary and picture into a folder.

    An earlier run in the folder is replaced: its log, pictures and exports are removed. With --live
    the flight runs in real time, and a page shows it and accepts commands. With --resume DIR, and
    without SCENARIO, the run in DIR is continued from its last checkpoint. With --run N, SCENARIO
    is the folder of a sweep, of which that run is flown again to the same bits.
    """
    from kittiwake.analysis.run_folder import holds_run, run_folder, save_picture
    from kittiwake.runtime.engine import require_engine
    from kittiwake.runtime.simulation import Simulation
    from kittiwake.tasks.task_commander import check_task

    keep_compiled()
    seconds = "a number of seconds above 0"
    every_s = positive_number("--checkpoint-every", checkpoint_every, seconds)
    if resume is not None:
        changed = {"SCENARIO": scenario, "--set": overrides, "--duration": duration, "--seed": seed}
        live = {"--live": is_live, "--speed": speed, "--port": port, "--token-file": token_file}
        live |= {"--host": host != LOOPBACK, "--no-browser": no_browser}
        changed |= {"--out": out, "--engine": engine, "--run": number}
        refuse({**changed, **live, "--joystick": joystick}, "--resume")
        _resume(resume, every_s, allow_code, as_json=as_json, quiet=quiet)
        return
    if scenario is None:
        message = "missing; give a library name, or the path of a YAML file"
        raise typer.BadParameter(message, param_hint="'SCENARIO'")
    if number is None:
        items = [*(overrides or []), *as_overrides(duration, seed)]
        loaded, precision = _loaded(scenario, items, allow_code), "float64"
    else:
        changed = {"--set": overrides, "--duration": duration, "--seed": seed, "--live": is_live}
        refuse(changed, "--run")
        loaded, precision = _of_sweep(Path(scenario), number, allow_code)
    loaded.check_flight()
    check_task(loaded)
    chosen = require_engine(engine)
    if not quiet:
        show_scenario_warnings(loaded)
    ratio = parse_speed(speed)
    if is_live:
        refuse({"--checkpoint-every": checkpoint_every, "--engine": engine}, "--live")
        require_cockpit()
    else:
        live_only = {"--speed": speed, "--port": port, "--token-file": token_file}
        live_only |= {"--host": host != LOOPBACK, "--no-browser": no_browser}
        refuse({**live_only, "--joystick": joystick}, "a run without --live; add it")
    with (
        run_folder(out, loaded) as folder,
        report_if_stopped(folder),
        show_progress(shown=not (as_json or quiet)) as progress,
    ):
        if holds_run(folder) and not quiet:
            message = (
                f"Warning: {folder} holds a run; its log, pictures and exports are replaced.\n"
            )
            sys.stderr.write(message)
        if is_live:
            page = PageOptions(port, host, token_file, browser=not no_browser, quiet=quiet)
            log = fly_live(loaded, ratio, page, folder, progress, joystick=joystick)
        else:
            simulation = Simulation(loaded, precision, chosen).drawn(loaded.seed)
            log = _flown(simulation, folder, every_s, progress)
        save_picture(log, folder)
    _show_result(log, folder, as_json=as_json, quiet=quiet)


def _resume(
    folder: Path,
    every_s: float | None,
    allow_code: list[Path] | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Continue the run in a folder to its end, and show its result."""
    with show_progress(shown=not (as_json or quiet)) as progress, report_if_stopped(folder):
        log = _resumed(folder, every_s, allow_code, progress)
    _show_result(log, folder, as_json=as_json, quiet=quiet)


def _loaded(scenario: str, items: list[str], allow_code: list[Path] | None) -> "LoadedScenario":
    """Return a scenario with overrides.

    Raises:
        ScenarioError: if it cannot be flown, or is the folder of a sweep.
    """
    from kittiwake.runtime.sweeps.plan import is_sweep
    from kittiwake.scenario.load import load_scenario

    if is_sweep(Path(scenario)):
        message = f"'{scenario}' is the folder of a sweep. Fly one of its runs with --run N"
        raise ScenarioError(message)
    return load_scenario(scenario, items, logged=True, allow_code=allow_code)


def _of_sweep(
    folder: Path, number: int, allow_code: list[Path] | None
) -> "tuple[LoadedScenario, Precision]":
    """Return the scenario of a run of a sweep, with its seed, and the precision of its flight."""
    from kittiwake.runtime.sweeps.plan import SweepPlan, code_folders, simulation_of

    plan = SweepPlan.read(folder)
    planned = plan.run(number)
    simulation = simulation_of(folder, plan, planned, code_folders(allow_code))
    return simulation.scenario.with_parts(seed=planned.seed), plan.precision


def _flown(
    simulation: "Simulation", folder: Path, every_s: float | None, follow: "Follow"
) -> "Log":
    """Fly a scenario into a folder, with checkpoints where these are requested."""
    from kittiwake.runtime.checkpoint import CheckpointWriter
    from kittiwake.runtime.recorded_flight import fly_into

    flight = simulation.flight(checkpoint_every_s=every_s)
    if every_s is not None:
        flight.after_block = CheckpointWriter(folder, simulation.program.fleet, every_s)
    return fly_into(simulation, flight, folder, follow(flight))


def _resumed(
    folder: Path, every_s: float | None, allow_code: list[Path] | None, follow: "Follow"
) -> "Log":
    """Continue the run in a folder to its end.

    Raises:
        LogError, StateError: if there is no unfinished run with a checkpoint.
        ScenarioError: if its scenario cannot be read.
    """
    from kittiwake.analysis.log import SCENARIO_FILE
    from kittiwake.runtime.checkpoint import require_unfinished
    from kittiwake.runtime.loading import unfinished_simulation
    from kittiwake.scenario.load import load_scenario

    require_unfinished(folder)
    loaded = load_scenario(str(folder / SCENARIO_FILE), logged=True, allow_code=allow_code)
    return unfinished_simulation(folder, loaded).resume(folder, follow, every_s)


def _show_result(log: "Log", folder: Path, *, as_json: bool, quiet: bool) -> None:
    """Print the summary of a run, and exit with its status."""
    summary = log.summary or {}
    if as_json:
        sys.stdout.write(json.dumps(summary) + "\n")
    elif not quiet:
        show_summary(summary, folder)
    if summary["status"] != "completed":
        raise typer.Exit(RUN_FAILED)
