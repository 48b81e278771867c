"""``kittiwake check``: validation of a scenario without flying it."""

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


def check(scenario: Scenario, overrides: Overrides = None, *, allow_code: AllowCode = None) -> None:
    """Check a scenario: names, values, rates and command types, each error with its line."""
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
    count = len(loaded.vehicles)
    show(
        f"{loaded.name}: can be flown. {count} vehicle{'s' if count > 1 else ''}, "
        f"{loaded.duration_s:g} s at {loaded.rate_hz:g} Hz, seed {loaded.seed}."
    )
    _show_engine(loaded)
    show_scenario_warnings(loaded)


def _show_engine(loaded: "LoadedScenario") -> None:
    """Print the engine that flies the scenario, and why it is not the usual one."""
    from kittiwake.runtime.simulation import Simulation

    try:
        chosen = Simulation(loaded).program.functions.chosen_engine
    except MissingExtraError as error:
        show(f"Engine: unknown, as {error}.")
        return
    because = f", because {chosen.reason}" if chosen.reason else ""
    show(f"Engine: {chosen.engine.name}{because}.")


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
