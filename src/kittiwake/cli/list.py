"""``kittiwake list``: scenarios, and the components that scenarios are built from."""

import json
import sys
from typing import Annotated

import typer

from kittiwake.actuators import BATTERIES, FAULTS
from kittiwake.control import CONTROLLERS
from kittiwake.core.errors import KittiwakeError, did_you_mean
from kittiwake.core.registry import Registry
from kittiwake.environment import (
    ATMOSPHERES,
    CURRENTS,
    FIELDS,
    INTERACTIONS,
    OBSTACLES,
    PLATFORMS,
    PLUMES,
    RANGE_ERRORS,
    REGIONS,
    SATELLITES,
    TERRAINS,
    TURBULENCE,
    WAVES,
    WINDS,
)
from kittiwake.estimation import ESTIMATORS
from kittiwake.forces import FORCES, GROUND_EFFECTS, ROTORS
from kittiwake.guidance import AVOIDANCE, GUIDANCE
from kittiwake.physics import PHYSICS
from kittiwake.scenario.library import groups, summaries
from kittiwake.sensors import SENSOR_ERRORS, SENSORS
from kittiwake.swarm import BEHAVIORS, RADIOS
from kittiwake.tasks import TASKS
from kittiwake.vehicles import VEHICLES

REGISTRIES: tuple[Registry, ...] = (
    TASKS,
    VEHICLES,
    SENSORS,
    SENSOR_ERRORS,
    ESTIMATORS,
    CONTROLLERS,
    GUIDANCE,
    AVOIDANCE,
    BEHAVIORS,
    RADIOS,
    ROTORS,
    FORCES,
    GROUND_EFFECTS,
    BATTERIES,
    FAULTS,
    WINDS,
    TURBULENCE,
    ATMOSPHERES,
    CURRENTS,
    REGIONS,
    PLATFORMS,
    OBSTACLES,
    SATELLITES,
    RANGE_ERRORS,
    PLUMES,
    FIELDS,
    TERRAINS,
    WAVES,
    INTERACTIONS,
    PHYSICS,
)
SCENARIOS = "scenarios"
KINDS = (SCENARIOS, *(registry.family for registry in REGISTRIES))
# alternative spellings
ALIASES = {"behaviours": "behaviors"}


def list_(
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND|NAME",
            help=f"One kind ({', '.join(KINDS)}), or the details of one name, such as pelican.",
        ),
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print an array of names; for one name, its parameters.")
    ] = False,
) -> None:
    """List scenarios and components, or the parameters of one of them."""
    listed, word = _summaries_by_kind(), ALIASES.get(word or "", word)
    kinds = [kind for kind in KINDS if word in (None, kind)]
    if not kinds:
        _describe(str(word), listed, as_json=as_json)
        return
    chosen = {kind: listed[kind] for kind in kinds}
    if as_json:
        names = sorted(name for entries in chosen.values() for name in entries)
        sys.stdout.write(json.dumps(names) + "\n")
        return
    for family, entries in chosen.items():
        if family == SCENARIOS:
            for title, names in groups().items():
                _show(f"{SCENARIOS}: {title}", {name: entries[name] for name in names})
        elif entries or word:
            _show(family, entries)


def _summaries_by_kind() -> dict[str, dict[str, str]]:
    """Return all names with their summaries, by kind."""
    listed: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    listed[SCENARIOS] = summaries()
    for registry in REGISTRIES:
        listed[registry.family] = {n: entry.summary for n, entry in registry.entries.items()}
    return listed


def _show(family: str, entries: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=family, title_justify="left", title_style="bold", show_header=False, box=None
    )
    table.add_column(style="cyan", no_wrap=True, min_width=24)
    table.add_column()
    for name in sorted(entries):
        table.add_row(name, Text(entries[name]))  # as Text, so that brackets are not markup
    if not entries:
        table.add_row("none", "")
    Console().print(table, "", sep="\n")


def _describe(name: str, listed: dict[str, dict[str, str]], *, as_json: bool) -> None:
    """Print the description of a name, once for each kind that has it."""
    found = {family: entries[name] for family, entries in listed.items() if name in entries}
    if not found:
        names = {name for entries in listed.values() for name in entries}
        known = did_you_mean(name, [*KINDS, *names], "kittiwake list")
        message = f"there is no kind and no component called '{name}'. {known}"
        raise KittiwakeError(message)
    # imported here, since it imports JAX, which a list of names does not need
    from kittiwake.cli.description import describe, show_description, to_plain

    registries = {registry.family: registry for registry in REGISTRIES}
    described = [
        describe(registries.get(family), name, summary) for family, summary in found.items()
    ]
    if as_json:
        sys.stdout.write(json.dumps(to_plain(described)) + "\n")
        return
    for description in described:
        show_description(description)
