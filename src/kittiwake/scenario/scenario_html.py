"""Description of a scenario for notebooks."""

from collections.abc import Mapping
from typing import Any

from kittiwake.core.html import Cell, column_table, fact_table, heading
from kittiwake.scenario.own_components.entries import CLASS, OwnComponent
from kittiwake.scenario.scenario import Scenario

TITLES = ("vehicle", "count", "model", "controllers", "guidance", "estimator", "sensors")
DEFAULT = "default"


def scenario_html(scenario: Scenario, kind: str, further: Mapping[str, Cell] | None = None) -> str:
    """Return the times, the world and the vehicles of a scenario.

    Args:
        scenario: the scenario.
        kind: the kind of the object that flies it.
        further: further facts about that object.
    """
    facts = {
        "duration": f"{scenario.duration_s:g} s",
        "physics rate": f"{scenario.rate_hz:g} Hz",
        "log rate": f"{scenario.rate_hz / scenario.log_every:g} Hz",
        "seed": scenario.seed,
        "world": ", ".join(scenario.document.data.get("world") or {}),
        **(further or {}),
    }
    entries = scenario.document.data["vehicles"]
    rows = [_row(name, entry) for name, entry in entries.items()]
    return (
        heading(kind, scenario.name, scenario.description)
        + fact_table(facts)
        + column_table(TITLES, rows, side="left")
    )


def _row(name: str, entry: Mapping[str, Any]) -> tuple[str, ...]:
    parts = (entry.get(key) for key in ("controller", "guidance", "estimator"))
    sensors = ", ".join(entry.get("sensors") or {})
    return (name, str(entry.get("count", 1)), entry["model"], *map(_named, parts), sensors)


def _named(entry: Any) -> str:
    """Return the names of the components of an entry."""
    if entry is None:
        return DEFAULT
    if isinstance(entry, list):
        return ", ".join(map(_named, entry))
    if isinstance(entry, OwnComponent):
        return entry.title
    return str(entry.get("type", entry.get(CLASS, ""))) if isinstance(entry, dict) else str(entry)
