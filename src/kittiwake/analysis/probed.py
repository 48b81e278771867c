"""Lookup of a vehicle and of its probe's field in the scenario of a log."""

from collections.abc import Mapping
from typing import Any

from kittiwake.analysis.log import Log


def field_of(log: Log, vehicle: str, sensor: str) -> tuple[str, str]:
    """Return name and unit of a probe's field; by default the first field of the world."""
    fields = mapping_in(log.scenario, "world", "fields")
    given = mapping_in(entry_of(log, vehicle), "sensors", sensor).get("field")
    name = given if isinstance(given, str) else next(iter(fields), sensor)
    return str(name), str(mapping_in(fields, name).get("unit", ""))


def entry_of(log: Log, vehicle: str) -> Mapping[str, Any]:
    """Return a vehicle's entry in the scenario of a log; empty if it is unknown."""
    entries = mapping_in(log.scenario, "vehicles")
    # vehicles of a counted entry have a number in their names
    return mapping_in(entries, vehicle) or mapping_in(entries, vehicle.rpartition("-")[0])


def mapping_in(data: Any, *keys: str) -> Mapping[str, Any]:
    """Return the mapping under nested keys; empty if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, Mapping) else None
    return data if isinstance(data, Mapping) else {}
