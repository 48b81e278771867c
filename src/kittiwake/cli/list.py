"""``kittiwake list``: what there is to fly, and what to build a scenario from."""

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer

from kittiwake.control import CONTROLLERS
from kittiwake.core.registry import Registry
from kittiwake.environment import ATMOSPHERES, TURBULENCE, WINDS
from kittiwake.estimation import ESTIMATORS
from kittiwake.guidance import GUIDANCE
from kittiwake.scenario.library import summaries
from kittiwake.sensors import SENSORS
from kittiwake.vehicles import VEHICLES

REGISTRIES: tuple[Registry, ...] = (
    VEHICLES,
    SENSORS,
    ESTIMATORS,
    CONTROLLERS,
    GUIDANCE,
    WINDS,
    TURBULENCE,
    ATMOSPHERES,
)


class Kind(StrEnum):
    """What can be listed."""

    scenarios = "scenarios"
    vehicles = "vehicles"
    sensors = "sensors"
    estimators = "estimators"
    controllers = "controllers"
    guidance = "guidance"
    behaviours = "behaviours"
    tasks = "tasks"
    winds = "winds"
    turbulence = "turbulence"
    atmospheres = "atmospheres"


def list_(
    kind: Annotated[Kind | None, typer.Argument(help="Only this kind of thing.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="An array of names.")] = False,
) -> None:
    """List scenarios, vehicles and the components that scenarios are built from."""
    # no behaviours and no tasks are there yet, but scripts may ask for them
    listed: dict[str, dict[str, str]] = {"behaviours": {}, "tasks": {}, "scenarios": summaries()}
    listed |= {
        registry.family: {name: entry.summary for name, entry in registry.entries.items()}
        for registry in REGISTRIES
    }
    kinds = [kind] if kind else list(Kind)
    chosen = {kind.value: listed[kind.value] for kind in kinds}
    if as_json:
        names = sorted(name for entries in chosen.values() for name in entries)
        sys.stdout.write(json.dumps(names) + "\n")
        return
    for family, entries in chosen.items():
        if entries or kind:
            _show(family, entries)


def _show(family: str, entries: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=family, title_justify="left", title_style="bold", show_header=False, box=None
    )
    table.add_column(style="cyan", no_wrap=True, min_width=24)
    table.add_column()
    for name in sorted(entries):
        table.add_row(name, entries[name])
    if not entries:
        table.add_row("none yet", "")
    Console().print(table, "", sep="\n")
