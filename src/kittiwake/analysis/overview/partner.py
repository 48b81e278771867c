"""Partner vessels, whose decks vehicles follow, from the scenario of a log."""

import re
from collections.abc import Mapping
from typing import Any

from kittiwake.analysis.log import Log

COUNTED = re.compile(r"(?P<entry>.+)-(?P<number>\d+)")


def partner_of(name: str, log: Log) -> str | None:
    """Return the vehicle whose deck a vehicle follows; None without one or for a platform."""
    entry, number = _entry(name, log.scenario)
    given = entry.get("partner")
    if not isinstance(given, str):
        return None
    return next((other for other in (given, f"{given}-{number}") if other in log.tables), None)


def _entry(name: str, scenario: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return a vehicle's entry in the scenario, and its number in a counted entry."""
    vehicles = scenario.get("vehicles")
    counted = COUNTED.fullmatch(name)
    key, number = name, ""
    if isinstance(vehicles, Mapping) and name not in vehicles and counted is not None:
        key, number = counted["entry"], counted["number"]
    entry = vehicles.get(key) if isinstance(vehicles, Mapping) else None
    return (entry if isinstance(entry, Mapping) else {}), number
