"""``kittiwake check``: validation of a scenario without flying it."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import print as show
from rich.console import Console

from kittiwake.core.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kittiwake.scenario.scenario import Scenario as LoadedScenario

MAX_WARNINGS = 10
MAX_COURSES = 5


def matching_names(incomplete: str) -> list[str]:
    """Return the library scenarios whose names begin so, for the completion of shells."""
    from kittiwake.scenario import library

    return [name for name in library.names() if name.startswith(incomplete)]


Scenario = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="Library name, or path of a YAML file.",
        autocompletion=matching_names,
    ),
]
OptionalScenario = Annotated[
    str | None,
    typer.Argument(
        metavar="SCENARIO",
        help="Library name, or path of a YAML file.",
        autocompletion=matching_names,
        show_default=False,
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a value, such as vehicles.pelican.start.yaw_deg=90. May be repeated.",
    ),
]


AllowCode = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="DIR",
        help="Folder whose Python files the scenario may load, as for a controller of your own. "
        "May be repeated.",
    ),
]


AsJson = Annotated[
    bool, typer.Option("--json", help="Print what was found as an object on standard output.")
]


def check(
    scenario: Scenario,
    overrides: Overrides = None,
    *,
    as_json: AsJson = False,
    allow_code: AllowCode = None,
) -> None:
    """Check a scenario: names, values, rates and command types, each error with its line."""
    from kittiwake.cli.course import courses
    from kittiwake.scenario.load import load_scenario
    from kittiwake.scenario.randomization import check_draws
    from kittiwake.tasks.randomization import Randomization
    from kittiwake.tasks.task_commander import check_task, commander_of

    loaded = load_scenario(scenario, overrides or [], logged=True, allow_code=allow_code)
    loaded.check_flight()
    check_task(loaded)
    check_draws(loaded)
    if loaded.document.data.get("task") is not None:
        Randomization.of(loaded)
    if loaded.policy is not None:
        commander_of(loaded)
    engine, reason = _engine(loaded)
    if as_json:
        _write_json(loaded, engine, reason)
        return
    count = len(loaded.vehicles)
    until = "until all guidance is done, at most " if loaded.until_done else ""
    show(
        f"{loaded.name}: can be flown. {count} vehicle{'s' if count > 1 else ''}, "
        f"{until}{loaded.duration_s:g} s at {loaded.rate_hz:g} Hz, seed {loaded.seed}."
    )
    found = courses(loaded)
    for course in found[:MAX_COURSES]:
        show(f"{course.sentence(loaded.duration_s)}.")
    if len(found) > MAX_COURSES:
        show(f"and {len(found) - MAX_COURSES} more courses")
    because = f", because {reason}" if engine and reason else f", as {reason}" if reason else ""
    show(f"Engine: {engine or 'unknown'}{because}.")
    show_scenario_warnings(loaded)


def _engine(loaded: "LoadedScenario") -> tuple[str | None, str]:
    """Return the engine that flies the scenario, and why it is not the usual one or unknown."""
    from kittiwake.runtime.simulation import Simulation

    try:
        chosen = Simulation(loaded).program.functions.chosen_engine
    except MissingExtraError as error:
        return None, str(error)
    return chosen.engine.name, chosen.reason


def _write_json(loaded: "LoadedScenario", engine: str | None, reason: str) -> None:
    from kittiwake.cli.course import courses

    found = {
        "name": loaded.name,
        "vehicles": [*loaded.vehicles],
        "duration_s": loaded.duration_s,
        "until_done": loaded.until_done,
        "rate_hz": loaded.rate_hz,
        "seed": loaded.seed,
        "engine": engine,
        "engine_reason": reason or None,
        "courses": [asdict(course) for course in courses(loaded)],
        "warnings": loaded.warnings(),
    }
    sys.stdout.write(json.dumps(found) + "\n")


def show_scenario_warnings(loaded: "LoadedScenario") -> None:
    """Print the first few warnings of a scenario on standard error."""
    show_warnings(loaded.warnings())


def show_warnings(warnings: "Sequence[str]") -> None:
    """Print the first few warnings on standard error."""
    console = Console(stderr=True)
    for text in warnings[:MAX_WARNINGS]:
        console.print(f"Warning: {text}.", highlight=False, markup=False, soft_wrap=True)
    if len(warnings) > MAX_WARNINGS:
        console.print(f"and {len(warnings) - MAX_WARNINGS} more warnings", highlight=False)
