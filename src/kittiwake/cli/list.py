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

SCENARIOS = "scenarios"
# families of components by subject
SUBJECTS: dict[str, tuple[Registry, ...]] = {
    "Vehicles": (VEHICLES, ROTORS, FORCES, GROUND_EFFECTS, BATTERIES, FAULTS),
    "Autonomy": (CONTROLLERS, GUIDANCE, AVOIDANCE, ESTIMATORS, SENSORS, SENSOR_ERRORS),
    "Many vehicles and learning": (BEHAVIORS, RADIOS, TASKS),
    "World": (
        *(WINDS, TURBULENCE, ATMOSPHERES, CURRENTS, WAVES, REGIONS, OBSTACLES, PLATFORMS),
        *(TERRAINS, FIELDS, PLUMES, SATELLITES, RANGE_ERRORS, INTERACTIONS, PHYSICS),
    ),
}
REGISTRIES = tuple(registry for registries in SUBJECTS.values() for registry in registries)
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
    if word is None:
        _show_all(listed)
        return
    for family, entries in chosen.items():
        if family == SCENARIOS:
            _show_scenarios(entries)
        else:
            _show(family, entries)


def _summaries_by_kind() -> dict[str, dict[str, str]]:
    """Return all names with their summaries, by kind."""
    listed: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    listed[SCENARIOS] = summaries()
    for registry in REGISTRIES:
        listed[registry.family] = {
            name: entry.summary for name, entry in sorted(registry.entries.items())
        }
    return listed


def _show_all(listed: dict[str, dict[str, str]]) -> None:
    _show_scenarios(listed[SCENARIOS])
    for subject, registries in SUBJECTS.items():
        _show_heading(subject)
        for registry in registries:
            if listed[registry.family]:
                _show(registry.family, listed[registry.family])


def _show_scenarios(entries: dict[str, str]) -> None:
    for title, names in groups().items():
        _show(f"{SCENARIOS}: {title}", {name: entries[name] for name in names})


def _show(family: str, entries: dict[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=family, title_justify="left", title_style="bold", show_header=False, box=None
    )
    table.add_column(style="cyan", no_wrap=True, min_width=24)
    table.add_column()
    for name in entries:
        table.add_row(name, Text(entries[name]))  # as Text, so that brackets are not markup
    if not entries:
        table.add_row("none", "")
    Console().print(table, "", sep="\n")


def _show_heading(subject: str) -> None:
    from rich.console import Console

    Console().rule(f"[bold]{subject}", align="left")


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
